/** What the columns of lists and the fields of JSON objects are called, and what their cells mean (SPEC D40.1): one table for all forms. */

/** What a cell means for its row. Only the last three never change which addresses a row blocks. */
export type Role =
  /** An address, or a network of any form. */
  | 'address'
  /** The same where no column of addresses is given. */
  | 'value'
  /** A network, or the mask or prefix length of the address beside it. */
  | 'network'
  /** An address that is the target only where the row has no better one, and no second one of these. */
  | 'mentioned'
  /** The prefix that is announced around an address, or its prefix length. */
  | 'route'
  /** The first and last address of a range; `start` and `end` are names that may also hold instants or words. */
  | 'first'
  | 'last'
  | 'start'
  | 'end'
  | 'mask'
  | 'wildcard'
  | 'length'
  | 'size'
  /** By its name a mask or a prefix length, of which it is not known what it belongs to. */
  | 'measure'
  | 'asn'
  | 'country'
  /** A verdict, which has to be known; `action` is that of weir's own export. */
  | 'action'
  | 'verdict'
  /** A verdict, or anything else. */
  | 'status'
  /** Whether the row is none that is enforced. */
  | 'simulated'
  | 'detection'
  | 'deleted'
  /** Whether its source enforces it. */
  | 'enforced'
  /** Whether its source lets the address through, or blocks it. */
  | 'allowed'
  | 'blocked'
  /** The sort of the target, which has to be known; `sort` may also hold anything else. */
  | 'type'
  | 'sort'
  /** An instant; a duration; either. */
  | 'instant'
  | 'lifetime'
  | 'expiry'
  /** By its name an expiry, of which it is not known in what unit it is. */
  | 'unit'
  | 'ref'
  | 'reason'
  | 'labels'
  | 'config'
  | 'confidence'
  | 'severity'
  | 'name'
  /** Text in which addresses mean nothing. */
  | 'text'
  /** A column beside the one that was chosen by its name or number: only a clear verdict means something there. */
  | 'aside'
  /** Any other column: an address there that has nothing to do with the target is an error. */
  | 'unknown';

/** A column, or a field of an object. */
export interface Column {
  /** As the file has it. */
  readonly name: string;
  /** As names are compared: without family, number, marks and letter case. */
  readonly base: string;
  readonly role: Role;
  /** What the name says of the family of its addresses. */
  readonly family: 4 | 6 | undefined;
}

const words = (text: string): readonly string[] => text.split(' ');
/** Names of yes and no. */
const flags = (names: string): string[] => words(names).flatMap((name) => [name, `is${name}`]);
/** Names made of two parts in either order. */
const pairs = (ones: string, others: string): string[] =>
  words(ones).flatMap((one) => words(others).flatMap((other) => [one + other, other + one]));

const ADDRESS = 'ip address addr ipaddress ipaddr';
const FIRST = 'start first from begin low lower min';
const LAST = 'end last to stop high upper max';
const BOUND = `${ADDRESS} range network iprange subnet cidr prefix`;

/** The names of each role, as `base` has them. */
const NAMES: Readonly<Partial<Record<Role, readonly string[]>>> = {
  address: words(`${ADDRESS} ipstr badip maliciousip hostip`),
  value: words('value'),
  network: words('network cidr ipprefix subnet netblock iprange range netrange inetnum ipnetwork ipsubnet ipcidr networkaddress net block'),
  mentioned: [
    ...words('ioc iocvalue indicator indicatorvalue observable observablevalue'),
    ...pairs('src source dst dest destination remote client attacker peer server local', ADDRESS),
  ],
  route: words('prefix bgpprefix route asnprefix asprefix announcedprefix asncidr ascidr bgproute'),
  first: pairs(FIRST, BOUND),
  last: pairs(LAST, BOUND),
  start: words('start first from begin low lower'),
  end: words('end last to stop high upper'),
  mask: words('mask netmask subnetmask ipmask networkmask ipnetmask addressmask maskaddress cidrmask'),
  wildcard: words('wildcard wildcardmask hostmask inversemask wildcardbits ipwildcard'),
  length: words(
    'length prefixlength prefixlen masklength masklen cidrlength cidrlen bits maskbits prefixbits netmasklength netmasklen subnetlength prefixsize plen cidrprefix subnetprefix networkprefix networkprefixlength networklength ipprefixlength ipprefixlen slash',
  ),
  size: words('size addresses addresscount numaddresses ipcount numips rangesize networksize netsize blocksize subnetsize'),
  asn: words('asn'),
  country: words('country'),
  action: words('action'),
  verdict: words('verdict decision disposition remediation firewallaction fwaction ruleaction eventaction actiontaken'),
  status: words('status policy state result outcome rule mode listtype op operation event eventtype changetype classification reputation'),
  simulated: words('simulated simulation simulate dryrun logonly'),
  detection: words('toids'),
  deleted: flags(
    'deleted revoked expired disabled removed inactive archived withdrawn retired unblocked unbanned excluded exclude exception negated negate inverted inverse',
  ),
  enforced: flags('enabled active enforced enforce'),
  allowed: flags('whitelisted allowlisted whitelist allowlist allow allowed trusted benign good safe riot exempt falsepositive'),
  blocked: flags('blocked banned ban deny denied malicious blacklisted blocklisted threat'),
  type: words('indicatortype ioctype itype observabletype entitytype attributetype'),
  sort: words('type scope kind datatype sort'),
  instant: words(
    'expiresat expireat validuntil validto enddate expirydate expirationdate expiredate expirytime expirationtime expiresdate expireson expdate until banneduntil blockeduntil banuntil blockuntil',
  ),
  lifetime: words(
    'expiresin expirein ttl duration lifetime timeout validfor banduration blockduration bantime timetolive ttlseconds durationseconds expiresinseconds',
  ),
  expiry: words('expires expire expiry expiration'),
  ref: words('ruleref'),
  reason: words('reason description comment'),
  labels: words('labels'),
  config: words('config'),
  confidence: words('confidence'),
  severity: words('severity'),
  name: words('name'),
  text: words('place version comments note notes title message text tags label details info remarks'),
};
const ROLES: ReadonlyMap<string, Role> = new Map(
  Object.entries(NAMES).flatMap(([role, names]) => names.map((name) => [name, role as Role] as const)),
);

/** What unknown names mean by what they end with, or have in them. */
const LIKE: readonly (readonly [RegExp, Role])[] = [
  [/(mas(k|ke|que|cara|chera)|cidr|pr[ae]fi(x|xe|jo|sso)|pfx|subnet)(bits|len|length|size|lange)?$/, 'measure'],
  [/^cidrblock$|suffix$|^(n|net|network|ip|significant)bits$/, 'measure'],
  [/(until|till|notafter|(ban|block)(ned|ed)?end)$/, 'instant'],
  [
    /^(expir\w*|unban(ned)?|unblock(ed)?|remov(al|e|ed)|deleted|revoked|disabled|archived|lifted)(at|on|to|date|time|ts|timestamp|after|utc)$/,
    'instant',
  ],
  [/expir|(ttl|duration|lifetime)(in)?(seconds|secs|minutes|mins|hours|days)$/, 'unit'],
  [/(action|verdict|decision|disposition)$/, 'status'],
];

/** Characters of a name that are looked at: a cell may stand where a name should. */
const MOST_NAME = 200;

/** What the name of a column means: `IP Address`, `ip_address` and `ipAddress` are one, as are `ip_1` and `ip_2`; `ipv6` is an `ip`. */
export function columnOf(name: string): Column {
  const known = /^[a-z]+$/.test(name) ? name : bareName(name.slice(0, MOST_NAME));
  const [, family] = /(?:ipv?|v)([46])(?!\d)/.exec(known) ?? [];
  const base = known.replace(/(?<=ip)v?[46](?!\d)|v[46]$/, '').replace(/\d+$/, '');
  const role = ROLES.get(base) ?? LIKE.find(([like]) => like.test(base))?.[1] ?? 'unknown';
  return { name, base, role, family: family === undefined ? undefined : family === '4' ? 4 : 6 };
}

/** The same, for many objects with the same names. */
export function columnMemory(): (name: string) => Column {
  const known = new Map<string, Column>();
  return (name) => {
    const column = known.get(name) ?? columnOf(name);
    if (known.size < MOST_KNOWN && name.length <= MOST_NAME) known.set(name, column);
    return column;
  };
}
const MOST_KNOWN = 1000;

const bareName = (name: string) =>
  name
    .trim()
    .replace(/[ _.-]\d+$/, '')
    .normalize('NFD')
    .toLowerCase()
    .replace(/[^a-z\d]/g, '');

/** What columns may be called, for messages. */
export const KNOWN_COLUMNS = 'ip, network, address, cidr, value, ioc, src_ip, dst_ip, start and end, asn or country';

const TARGETS: ReadonlySet<Role> = new Set(['address', 'value', 'network', 'mentioned', 'route', 'asn', 'country']);

/** Whether one of the columns names targets, or two of them the ends of a range. */
export function namesTarget(columns: readonly Column[]): boolean {
  const has = (...roles: readonly Role[]) => columns.some(({ role }) => roles.includes(role));
  return columns.some(({ role }) => TARGETS.has(role)) || (has('first', 'start') && has('last', 'end'));
}

/** Roles of which a chosen column takes the place: what else they hold is description. */
const REPLACED: readonly Role[] = ['address', 'value', 'mentioned', 'asn', 'country'];

/** The columns of which one, by its name or its number from 1, has the targets (SPEC D41.17); undefined where there is none. */
export function columnsWith(names: readonly string[], chosen: string): readonly Column[] | undefined {
  const named = names.findIndex((name) => name.trim().toLowerCase() === chosen.trim().toLowerCase());
  const at = named >= 0 ? named : Number(chosen) - 1;
  if (names[at] === undefined) return undefined;
  return names.map((name, i): Column => {
    const column = columnOf(name);
    if (i === at) return { ...column, role: 'address', family: undefined };
    return REPLACED.includes(column.role) ? { ...column, role: 'aside' } : column;
  });
}

/** The columns of rows without a header, by the number of the one that has the targets. Of the others only verdicts are understood. */
export const numberedColumns = (count: number, chosen: number): readonly Column[] =>
  Array.from({ length: Math.max(count, chosen) }, (_, i): Column => {
    const name = `column ${i + 1}`;
    return { name, base: name, role: i === chosen - 1 ? 'address' : 'aside', family: undefined };
  });
