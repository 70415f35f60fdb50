/** Names of columns and JSON fields, and the meaning of their cells (SPEC D40.1), for all forms. */

/** Only the last three never affect the blocked addresses. */
export type Role =
  | 'address'
  | 'value'
  /** A network, or mask or prefix length of another column's address. */
  | 'network'
  /** The target only if nothing better and no second one is present. */
  | 'mentioned'
  /** The announced prefix of an address, or its length. */
  | 'route'
  /** First and last address of a range; `start` and `end` may also be instants or words. */
  | 'first'
  | 'last'
  | 'start'
  | 'end'
  | 'mask'
  | 'wildcard'
  | 'length'
  | 'size'
  /** A mask or prefix length by name, without a known address. */
  | 'measure'
  | 'asn'
  | 'country'
  /** A verdict (must be known); `action` is that of weir's own export. */
  | 'action'
  | 'verdict'
  /** A verdict, or anything else. */
  | 'status'
  /** Whether the row is not enforced. */
  | 'simulated'
  | 'detection'
  | 'deleted'
  | 'enforced'
  /** Whether the source allows or blocks the address. */
  | 'allowed'
  | 'blocked'
  | 'type'
  | 'sort'
  /** An instant; a duration; either. */
  | 'instant'
  | 'lifetime'
  | 'expiry'
  /** An expiry by name, in an unknown unit. */
  | 'unit'
  | 'ref'
  | 'reason'
  | 'labels'
  | 'config'
  | 'confidence'
  | 'severity'
  | 'name'
  /** Text; addresses in it are irrelevant. */
  | 'text'
  /** Not the chosen column: only a clear verdict matters. */
  | 'aside'
  | 'unknown';

export interface Column {
  readonly name: string;
  /** Without family, number, punctuation and case. */
  readonly base: string;
  readonly role: Role;
  /** Implied by the name. */
  readonly family: 4 | 6 | undefined;
}

const words = (text: string): readonly string[] => text.split(' ');
const flags = (names: string): string[] => words(names).flatMap((name) => [name, `is${name}`]);
const pairs = (ones: string, others: string): string[] =>
  words(ones).flatMap((one) => words(others).flatMap((other) => [one + other, other + one]));

const ADDRESS = 'ip address addr ipaddress ipaddr';
const FIRST = 'start first from begin low lower min';
const LAST = 'end last to stop high upper max';
const BOUND = `${ADDRESS} range network iprange subnet cidr prefix`;

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

/** Cells can appear in place of names. */
const MOST_NAME = 200;

/** `IP Address`, `ip_address` and `ipAddress` are equal, as are `ip_1` and `ip_2`; `ipv6` is an `ip`. */
export function columnOf(name: string): Column {
  const known = /^[a-z]+$/.test(name) ? name : bareName(name.slice(0, MOST_NAME));
  const [, family] = /(?:ipv?|v)([46])(?!\d)/.exec(known) ?? [];
  const base = known.replace(/(?<=ip)v?[46](?!\d)|v[46]$/, '').replace(/\d+$/, '');
  const role = ROLES.get(base) ?? LIKE.find(([like]) => like.test(base))?.[1] ?? 'unknown';
  return { name, base, role, family: family === undefined ? undefined : family === '4' ? 4 : 6 };
}

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

export const KNOWN_COLUMNS = 'ip, network, address, cidr, value, ioc, src_ip, dst_ip, start and end, asn or country';

const TARGETS: ReadonlySet<Role> = new Set(['address', 'value', 'network', 'mentioned', 'route', 'asn', 'country']);

/** Or two columns the ends of a range. */
export function namesTarget(columns: readonly Column[]): boolean {
  const has = (...roles: readonly Role[]) => columns.some(({ role }) => roles.includes(role));
  return columns.some(({ role }) => TARGETS.has(role)) || (has('first', 'start') && has('last', 'end'));
}

/** By a chosen column: their cells become description. */
const REPLACED: readonly Role[] = ['address', 'value', 'mentioned', 'asn', 'country'];

/** Targets in the one chosen by name or number from 1 (SPEC D41.17); undefined: not found. */
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

export const numberedColumns = (count: number, chosen: number): readonly Column[] =>
  Array.from({ length: Math.max(count, chosen) }, (_, i): Column => {
    const name = `column ${i + 1}`;
    return { name, base: name, role: i === chosen - 1 ? 'address' : 'aside', family: undefined };
  });
