/** Which targets a row of a list names: what its columns are called, and what stands in them. What cannot be told is a fault, never a guess. */
import { parseNetwork } from '@weir/network/parse.ts';
import { rangeNetworks } from '@weir/network/range.ts';
import type { Target } from '../../rule.ts';
import { readTarget } from '../../signal/target.ts';

/** The cells of a row by the letters of their columns' names. */
export type Row = ReadonlyMap<string, unknown>;

/** How the name of a column is compared: `IP Address`, `ip_address` and `ipAddress` are one. */
export const columnName = (name: string): string => (/^[a-z]+$/.test(name) ? name : name.toLowerCase().replace(/[^a-z]/g, ''));

/** The row of a JSON object. */
export const rowOf = (object: object): Row => rowOfCells(Object.keys(object).map(columnName), Object.values(object));

/**
 * The row of cells below the names of their columns. Where several have one name, such as `ip_1` and `ip_2`, the given one counts; of
 * several a target is at fault, else the last counts. The others stay in the row, so that an address among them is seen.
 */
export function rowOfCells(names: readonly string[], cells: readonly unknown[]): Row {
  const row = new Map<string, unknown>();
  for (const [i, name] of names.entries()) {
    const [before, cell] = [row.get(name), cells[i]];
    if (!isGiven(before)) row.set(name, cell);
    else if (isGiven(cell) && cell !== before)
      row.set(name, namesTarget(new Set([name])) ? [before, cell].flat() : cell).set(`${name} ${i}`, before);
  }
  return row;
}

/** The last row of a content that ends within its line, unless its last cell is what a cut leaves of a network: `20.0.1.0/2` of `20.0.1.0/24`. */
export function wholeRow(row: Row | string): Row | string {
  const last = typeof row === 'string' ? undefined : [...row.values()].filter(isGiven).at(-1);
  if (typeof last !== 'string' || !last.includes('/') || asNetwork(...(last.split('/', 2) as [string, string])) !== undefined) return row;
  return typeof parseNetwork(last) === 'string' ? row : `${shown(last)} is cut: the content ends within this line, and it is no network`;
}

/** Columns that hold addresses by their name, compared as `columnName` does; the first that is given counts. */
const ADDRESSES = ['value', 'ip', 'network', 'address', 'cidr', 'ipaddress', 'ipprefix', 'subnet', 'netblock', 'iprange', 'range'];
/** Pairs such as `ipv4Prefix` and `ipv6Prefix`, of which each row has one. */
const FAMILIES = ['ipvprefix', 'ipv', 'ipvaddress'];
const TARGETS = [...ADDRESSES, ...FAMILIES];
/** Columns that hold the address only where no other could: of two of them nobody can tell which one is meant. */
const MENTIONED = [
  'ioc',
  'iocvalue',
  'indicator',
  'indicatorvalue',
  'srcip',
  'sourceip',
  'sourceaddress',
  'ipsrc',
  'dstip',
  'destip',
  'destinationip',
  'destinationaddress',
  'ipdst',
  'remoteip',
  'clientip',
  'attackerip',
];
/** Columns with the first and the last address of a range. */
const BOUNDS: readonly (readonly [first: string, last: string])[] = [
  ['start', 'end'],
  ['startip', 'endip'],
  ['ipstart', 'ipend'],
  ['startaddress', 'endaddress'],
  ['rangestart', 'rangeend'],
  ['firstip', 'lastip'],
];
/** Columns with the prefix length of the address beside them. */
const PREFIXES = ['netmask', 'mask', 'prefixlength', 'prefixlen', 'masklen', 'prefix', 'bits'];
/** Columns that describe an address, and are the target of a row without any. */
const WIDE = ['asn', 'country'] as const;

/** What columns may be called, for messages. */
export const KNOWN_COLUMNS = 'ip, network, address, cidr, value, ioc, src_ip, dst_ip, start and end, asn or country';

/** Whether a row, or a header, has a column that names targets. */
export const namesTarget = (row: { has(name: string): boolean }): boolean =>
  [...TARGETS, ...MENTIONED, ...WIDE].some((name) => row.has(name)) || boundsOf(row) !== undefined;

/** Whether the value is there at all. */
export const isGiven = (value: unknown) => value !== undefined && value !== null && value !== '';

/** A cell's text at the length that a message can show. */
export const shown = (value: unknown) => JSON.stringify(String(value).slice(0, 60));

const NOTHING = 'there is no address';

/** What stands in the first of these columns that says something. */
export function firstGiven(row: Row, names: readonly string[]): unknown {
  for (const name of names) {
    const value = row.get(name);
    if (isGiven(value)) return value;
  }
  return undefined;
}

/** The targets of a row, or why it has none. */
export function targetsOf(row: Row): Target[] | string {
  const known = TARGETS.find((name) => isGiven(row.get(name))) ?? TARGETS.find((name) => row.has(name));
  if (known !== undefined) return alone(row, known);
  const mentioned = MENTIONED.filter((name) => row.has(name));
  if (mentioned.length > 1) return `${mentioned.join(' and ')} may both be meant: call the column that counts ip`;
  if (mentioned.length === 1) return alone(row, mentioned[0]);
  const bounds = boundsOf(row);
  return bounds === undefined ? broadTarget(row) : betweenBounds(row, bounds);
}

const boundsOf = (row: { has(name: string): boolean }) => BOUNDS.find((pair) => pair.every((name) => row.has(name)));

/** What stands in the column of an address, with the prefix length of a column beside it. */
function addressesIn(row: Row, column: string): Target[] | string {
  const value = row.get(column);
  if (!isGiven(value)) return NOTHING;
  if (Array.isArray(value)) return `${column} holds several values, and a row names one target`;
  if (typeof value === 'object') return `${column} must be text`;
  const text = row.get('type') === DOMAIN_AND_ADDRESS ? String(value).replace(/^[^|]*\|/, '') : String(value).trim();
  const prefix = prefixOf(row);
  if (prefix === undefined || text.includes('/')) return readTargets(text);
  const found = asNetwork(text, prefix);
  return found === undefined ? `${shown(text)} with the prefix length ${shown(prefix)} is no network: write it as ADDRESS/LENGTH` : [found];
}

const prefixOf = (row: Row): string | undefined => {
  const value = firstGiven(row, PREFIXES);
  return value === undefined ? undefined : String(value).trim();
};

/** The network that begins at an address; undefined where the two make none. */
function asNetwork(address: string, prefix: string): Target | undefined {
  if (!/^\d{1,3}$/.test(prefix)) return undefined;
  const [network, host] = [parseNetwork(`${address}/${prefix}`), parseNetwork(address)];
  if (typeof network === 'string' || typeof host === 'string') return undefined;
  return String(network.address) === String(host.address) ? { kind: 'ip', network } : undefined;
}

/** The range of two columns; a prefix length beside them has to say the same. */
function betweenBounds(row: Row, [first, last]: readonly [string, string]): Target[] | string {
  const [start, end] = [row.get(first), row.get(last)].map((value) => (isGiven(value) ? String(value).trim() : ''));
  if (start === '' || end === '') return NOTHING;
  const targets = readRange(start, end);
  const prefix = prefixOf(row);
  if (typeof targets === 'string' || prefix === undefined) return targets;
  const said = asNetwork(start, prefix);
  const [only, ...others] = targets;
  if (said?.kind === 'ip' && only.kind === 'ip' && others.length === 0 && said.network.prefix === only.network.prefix) return targets;
  return `${start} to ${end} is no network of the prefix length ${shown(prefix)}`;
}

function readRange(first: string, last: string): Target[] | string {
  const networks = rangeNetworks(first, last);
  return typeof networks === 'string' ? `${shown(`${first}-${last}`)}: ${networks}` : networks.map((network) => ({ kind: 'ip', network }));
}

/** Fields of an entry, which may tell of addresses without being one. */
const TELLING = ['reason', 'description', 'comment', 'labels', 'config', 'name', 'ruleref'];

/** The targets in the column of an address, unless they are an ASN or a country that only describes an address in another column. */
function alone(row: Row, column: string): Target[] | string {
  const targets = addressesIn(row, column);
  if (typeof targets === 'string' || targets[0].kind === 'ip') return targets;
  const other = addressBeside(row, [column, ...TELLING]);
  return other === undefined ? targets : `${shown(other.address)} in "${other.name}" stands beside ${shown(row.get(column))}: ${UNCLEAR}`;
}
const UNCLEAR = 'which of them is meant cannot be told';

/** The ASN or country of a row in which nothing looks like an address. */
function broadTarget(row: Row): Target[] | string {
  const column = WIDE.find((name) => row.has(name));
  const value = column === undefined ? undefined : row.get(column);
  if (column === undefined || !isGiven(value)) return NOTHING;
  const other = addressBeside(row, []);
  if (other === undefined) return readTargets(inFull(column, String(value)));
  return `${shown(other.address)} looks like an address, but "${other.name}" is no column of addresses, and ${column} only describes it: call that column ip`;
}

/** The first of the other columns in which something looks like an address. */
function addressBeside(row: Row, but: readonly string[]): { readonly name: string; readonly address: string } | undefined {
  for (const [name, cell] of row) {
    const address = but.includes(name) || !isGiven(cell) ? undefined : addressAmong(cell);
    if (address !== undefined) return { name, address };
  }
  return undefined;
}

/** The value of a column that says what it holds, as it is written where nothing says so. */
function inFull(column: string, value: string): string {
  if (column === 'asn' && /^\d+$/.test(value)) return `AS${value}`;
  return column === 'country' ? value.toUpperCase() : value;
}

/** Something in a cell that looks like an address. */
function addressAmong(cell: unknown): string | undefined {
  const text = (typeof cell === 'object' ? JSON.stringify(cell) : String(cell)).replace(DEFANGED, (mark) =>
    mark.includes(':') ? ':' : '.',
  );
  return text.split(/[\s"'|,;()<>{}[\]]+/).find(looksLikeAddress) ?? OCTETS.exec(text)?.[0];
}
/** Marks as reports write them so that nothing is a link: `192[.]0[.]2[.]1`. */
const DEFANGED = /[[({](?:\.|:|dot)[\])}]/gi;
/** Within a URL, say. */
const OCTETS = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])/;

/** Whether a text begins as an address does, whatever follows: `192.0.2.1:443` does. */
export const looksLikeAddress = (text: string): boolean =>
  /^\d{1,3}(\.\d{1,3}){3}(?![\d.])/.test(text) ||
  (text.includes(':') && /^[\da-f:]+(\/\d+)?$/i.test(text) && typeof parseNetwork(text) !== 'string');

const RANGE = /^([\da-f.:]+)\s*-\s*([\da-f.:]+)$/i;
/** An address with a port, as MISP writes it. */
const WITH_PORT = /^([\da-f.:]+)\|\d{1,5}$/i;

/** The targets that a text is by its form: an address, a network, a range of them, an AS number, a country; or what is wrong with it. */
export function readTargets(value: string): Target[] | string {
  // Most of a list: digits, dots and a slash are one network or none.
  if (!PLAIN.test(value)) return readOthers(value);
  const found = readTarget('ip', value);
  return typeof found === 'string' ? `${shown(value)}: ${found}` : [found];
}
const PLAIN = /^[\d./]+$/;

function readOthers(value: string): Target[] | string {
  const [, first, last] = RANGE.exec(value) ?? [];
  if (first !== undefined) return readRange(first, last);
  const found = readValue(WITH_PORT.exec(value)?.[1] ?? value);
  return typeof found === 'string' ? `${shown(value)}: ${found}` : [found];
}

/**
 * The target that a text is by its form: an address or a network, an AS number, a country in capitals (`is` and `no` are words first);
 * or what is wrong with it.
 */
export function readValue(value: string): Target | string {
  const field = /^as\d+$/i.test(value) ? 'asn' : /^[A-Z]{2}$/.test(value) ? 'country' : /^[\da-f.:/]+$/i.test(value) ? 'ip' : undefined;
  return field === undefined ? 'must be an address, a network, an AS number or a country' : readTarget(field, value);
}

const DOMAIN_AND_ADDRESS = 'domain|ip';
/** Types of MISP's attributes that name an address. */
const MISP_ADDRESSES = ['ip-src', 'ip-dst', 'ip-src|port', 'ip-dst|port', DOMAIN_AND_ADDRESS];

/**
 * Why a row of MISP's attributes asks for nothing, or is at fault; undefined where it is none of those (they have a column `to_ids`) or
 * names an address to detect.
 */
export function passedOver(row: Row): { readonly passed: string } | { readonly fault: string } | undefined {
  const given = row.get('toids');
  if (!isGiven(given)) return undefined;
  const isDetection = BOOLEANS[String(given).toLowerCase()];
  if (isDetection === undefined) return { fault: `to_ids ${shown(given)} is neither 1 nor 0` };
  if (!isDetection) return { passed: 'to_ids is 0: no detection' };
  if (BOOLEANS[String(row.get('deleted')).toLowerCase()] === true) return { passed: 'deleted' };
  const type = row.get('type');
  if (typeof type !== 'string' || MISP_ADDRESSES.includes(type)) return undefined;
  return { passed: `the type ${type.slice(0, 40)} is no address` };
}

const BOOLEANS: Readonly<Record<string, boolean | undefined>> = { '1': true, true: true, yes: true, '0': false, false: false, no: false };
