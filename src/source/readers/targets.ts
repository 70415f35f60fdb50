/** Every cell possibly affecting them is understood, or the row is an error naming the cell (SPEC D40.1). */
import { WIDE_MAPPED } from '@weir/network/faults.ts';
import { hasCode } from '../../errors.ts';
import type { Target } from '../../rule.ts';
import type { Column, Role } from './columns.ts';
import * as extent from './extent.ts';
import { undefanged } from './notation.ts';
import { cellFault, isAddress, isGiven, looksLikeAddress, quoted, type Row, readTargets, textOf } from './row.ts';
import { DOMAIN_AND_ADDRESS } from './sorts.ts';

interface Cell {
  readonly column: Column;
  readonly role: Role;
  readonly value: unknown;
  readonly text: string;
}

interface Found extends extent.Span {
  readonly cell: Cell;
  readonly targets: readonly Target[];
  /** Another cell may supply prefix length or end. */
  readonly isBare: boolean;
}

/** The first role present supplies the targets; the others describe them. */
const RANKS: readonly Role[] = ['address', 'network', 'value', 'mentioned', 'route'];
/** Roles extending another column's address. */
const EXTENTS: Readonly<Partial<Record<Role, extent.ReadExtent>>> = {
  mask: extent.readMask,
  wildcard: extent.readWildcard,
  length: extent.readLength,
  size: extent.readSize,
  last: extent.readLast,
  measure: () => 'may be its mask or prefix length: call that column prefix_length',
};
const EMPTY = /^(-*|n\/a|null|nil|nan|none|\(empty\))$/i;

const NOTHING = 'there is no address';
const UNCLEAR = 'it is unclear which one is intended';

export function targetsOf(row: Row): readonly Target[] | string {
  const [column, value] = row.length === 1 ? row[0] : [];
  // Fast path for plain lists.
  if (column?.role === 'value' && typeof value === 'string') return value === '' ? NOTHING : readTargets(value);
  try {
    return combined(row);
  } catch (fault) {
    if (hasCode(fault, 'USAGE')) return fault.message;
    throw fault;
  }
}

function combined(row: Row): readonly Target[] {
  const cells = row.flatMap(([column, value]) => cellOf(column, value) ?? []);
  const [only, ...others] = cells.filter(mayMatter);
  const alone = others.length === 0 && only !== undefined && isPlain(only) ? targetsIn(only, cells) : undefined;
  if (alone?.[0].kind === 'ip') return alone;
  const start = cells.find(({ role }) => role === 'first');
  const best = bestOf(cells, isCandidate) ?? (start === undefined ? bestOf(cells, () => true) : [start]);
  if (best === undefined) return [broadTarget(row, cells)];
  if (best[0].column.role === 'mentioned') requireOneMentioned(row);
  const read = best.map((cell) => ({ cell, targets: targetsIn(cell, cells) }));
  const wide = read.find(({ targets }) => targets[0].kind !== 'ip');
  if (wide !== undefined) {
    requireAlone(wide.cell, cells);
    return wide.targets;
  }
  const found = read.map(({ cell, targets }) => foundIn(cell, targets));
  const chosen = oneEach([...found, ...otherFamily(found, cells)]);
  const result = chosen.map((each) => extended(each, chosen, cells));
  for (const cell of cells) if (!best.includes(cell)) requireDescribing(cell, result);
  return result.flatMap(({ targets }) => targets);
}

const fault = (message: string) => cellFault('value', message);
const at = ({ column, text }: Cell) => `${quoted(text)} in "${column.name}"`;

function cellOf(column: Column, value: unknown): Cell | undefined {
  const text = isGiven(value) ? withoutScope(undefanged(textOf(value)), column.role) : '';
  return EMPTY.test(text) ? undefined : { column, role: roleOf(column, text), value, text };
}

/** `Ip:192.0.2.1` in CrowdSec's decisions. */
const withoutScope = (text: string, role: Role): string =>
  RANKS.includes(role) ? text.replace(/^(ip|range|country):(?=\S)/i, '').replace(/^as:(?=\d)/i, 'AS') : text;

function roleOf({ role, base }: Column, text: string): Role {
  if (role === 'start') return isAddress(text) ? 'first' : 'text';
  if (role === 'end') return isAddress(text) || (/^(end|stop)$/.test(base) && /\d/.test(text)) ? 'last' : 'text';
  if (role === 'measure') return extent.isLengthOrMask(text) ? 'measure' : 'unknown';
  return (role === 'network' || role === 'route') && (extent.isLengthOrMask(text) || text === '0.0.0.0') ? 'mask' : role;
}

const mayMatter = ({ role, text }: Cell): boolean =>
  RANKS.includes(role) || role === 'first' || EXTENTS[role] !== undefined || (!TELLING.includes(role) && /[.:{[]/.test(text));

/** Valid or not, if no other cell matters. */
const isPlain = ({ role, column: { family } }: Cell): boolean =>
  (role === 'address' || role === 'network' || role === 'value') && family === undefined;

function bestOf(cells: readonly Cell[], accepts: (cell: Cell) => boolean): readonly Cell[] | undefined {
  for (const role of RANKS) {
    const of = cells.filter((cell) => cell.column.role === role && accepts(cell));
    if (of.length > 0) return of;
  }
  return undefined;
}

/** Addresses always, others by appearance. */
const isCandidate = (cell: Cell): boolean =>
  cell.column.role === 'address' || (cell.role !== 'mask' && (looksLikeAddress(cell.text) || typeof readTargets(cell.text) !== 'string'));

/** The intended one of `src_ip` and `dst_ip` is unknown. */
function requireOneMentioned(row: Row): void {
  const names = new Map(row.flatMap(([{ role, base, name }]) => (role === 'mentioned' ? [[base, name] as const] : [])));
  if (names.size > 1) throw fault(`${[...names.values()].join(' and ')} are both possible: name the intended column ip`);
}

function targetsIn(cell: Cell, cells: readonly Cell[]): readonly Target[] {
  if (cell.role === 'mask') throw fault(`${at(cell)} has no address in its row`);
  const isOfDomain = cells.some(({ column: { role }, text }) => (role === 'sort' || role === 'type') && DOMAIN_AND_ADDRESS.test(text));
  const targets = readTargets(isOfDomain ? cell.text.replace(/^[^|]*\|/, '') : cell.text);
  if (typeof targets === 'string') throw fault(targets);
  return targets;
}

function foundIn(cell: Cell, targets: readonly Target[]): Found {
  const span = extent.spanOf(targets.flatMap((target) => (target.kind === 'ip' ? [target.network] : [])));
  const { family } = cell.column;
  if (family !== undefined && family !== span.family && !cell.text.includes(':')) throw fault(`${at(cell)} is no address of IPv${family}`);
  return { ...span, cell, targets, isBare: span.first === span.last && !/[/-]/.test(cell.text) };
}

/** In a column named after it. */
const otherFamily = (found: readonly Found[], cells: readonly Cell[]): Found[] =>
  cells
    .filter(({ column: { role, family } }) => (role === 'address' || role === 'network') && family !== undefined)
    .filter((cell) => isCandidate(cell) && !found.some(({ cell: other, family }) => other === cell || family === cell.column.family))
    .map((cell) => foundIn(cell, targetsIn(cell, [])));

function oneEach(found: readonly Found[]): readonly Found[] {
  const chosen: Found[] = [];
  for (const each of found) {
    const same = chosen.findIndex((other) => extent.isSame(each, other));
    if (same < 0) chosen.push(each);
    else if (!each.isBare) chosen[same] = each;
  }
  const isPair = chosen.length === 2 && chosen[0].family !== chosen[1].family && found.some(({ cell }) => cell.column.family !== undefined);
  if (chosen.length > 1 && !isPair) throw fault(`${at(chosen[1].cell)} is next to ${at(chosen[0].cell)}: a row has one target`);
  return chosen;
}

/** IPv4-mapped (D41.1). */
const ADDRESSES_OF_8 = 1n << 24n;

/** Of other columns; they must agree. */
function extended(found: Found, chosen: readonly Found[], cells: readonly Cell[]): Found {
  let result: Found | undefined = found.isBare ? undefined : found;
  let by = found.cell;
  for (const cell of cells) {
    const read = EXTENTS[cell.role];
    if (cell === found.cell || read === undefined) continue;
    const { family, role } = cell.column;
    // With an explicit prefix length, these belong to something else.
    if ((role === 'size' || role === 'measure') && !found.isBare) continue;
    if (family !== undefined && family !== found.family) continue;
    if (chosen.length > 1 && family === undefined) throw fault(`${at(cell)} is next to two targets: ${UNCLEAR}`);
    const isMapped = found.family === 4 && `${found.cell.text} ${cell.text}`.includes(':');
    if (isMapped && read !== extent.readLast) throw fault(`${at(cell)} is next to an IPv4-mapped address: write it as IPv4`);
    const span = read(cell.text, found);
    if (typeof span === 'string') throw fault(`${at(cell)} ${span}`);
    if (isMapped && span.last - span.first >= ADDRESSES_OF_8) throw fault(`${at(found.cell)} to ${at(cell)} ${WIDE_MAPPED}`);
    if (result !== undefined && !extent.isSame(span, result)) throw fault(`${at(cell)} and ${at(by)} do not agree`);
    if (result === undefined) by = cell;
    result ??= { ...found, ...span, targets: extent.networksOf(span).map((network) => ({ kind: 'ip', network })), isBare: false };
  }
  if (result === undefined && found.cell.role === 'first') throw fault(`${at(found.cell)} begins a range that has no end`);
  return result ?? found;
}

/** Throws for an address not equal, inside or around them. */
function requireDescribing(cell: Cell, result: readonly Found[]): void {
  const { role } = cell;
  if (role === 'first' && !result.some(({ first }) => first === firstOf(cell)))
    throw fault(`${at(cell)} is not the first address of ${at(result[0].cell)}`);
  if (role === 'first' || EXTENTS[role] !== undefined || TELLING.includes(role)) return;
  for (const text of !RANKS.includes(role) && Array.isArray(cell.value) ? cell.value.map(textOf) : [cell.text]) {
    if (role !== 'value' && !/[.:{[]|^\d*[-+]\d/.test(text)) continue;
    const targets = readTargets(text);
    const isRead = typeof targets !== 'string' && targets[0].kind === 'ip';
    if (role === 'value' && !isRead && typeof targets !== 'string')
      requireAlone(
        cell,
        result.map((each) => each.cell),
      );
    if (!isRead && isBroken(text, role)) throw fault(`${at(cell)} is no network`);
    if (!isRead) continue;
    const span = foundIn({ ...cell, text }, targets);
    const around = result.find((each) => extent.contains(span, each) || extent.contains(each, span));
    if (around === undefined) throw fault(`${at(cell)} is next to ${at(result[0].cell)}: ${UNCLEAR}`);
    const isItself = role !== 'route' && around.isBare && !extent.isSame(span, around) && span.first === around.first;
    if (isItself) throw fault(`${at(cell)} begins with ${at(around.cell)}: ${UNCLEAR}`);
  }
}

const firstOf = ({ text }: Cell): bigint | undefined => {
  const targets = readTargets(text);
  return typeof targets === 'string' || targets[0].kind !== 'ip' ? undefined : extent.spanOf([targets[0].network]).first;
};

/** In `network` columns, whether it contains one. */
const isBroken = (text: string, role: Role): boolean =>
  role === 'network' || role === 'route'
    ? /^[{[]|^\d{1,3}-\d{1,3}$|^[-+]\d+$|^[\da-f.:/-]*[.:/][\da-f.:/-]*$/i.test(text) || addressAmong(text) !== undefined
    : RANKS.includes(role) && looksLikeAddress(text);

/** They may mention addresses. */
const TELLING: readonly Role[] = ['reason', 'labels', 'config', 'name', 'ref', 'text', 'aside'];

/** Throws if an ASN or country may only describe an address or target of another column. */
function requireAlone(cell: Cell, cells: readonly Cell[]): void {
  const twin = cells.find((each) => RANKS.includes(each.column.role) && isCandidate(each) && each.text !== cell.text);
  const other = otherAddress(cells.filter((each) => each !== cell && !TELLING.includes(each.column.role)));
  if (other !== undefined) throw fault(`${quoted(other.address)} in "${other.name}" is next to ${quoted(cell.text)}: ${UNCLEAR}`);
  if (twin !== undefined) throw fault(`${at(twin)} is next to ${at(cell)}: a row has one target`);
}

/** Requires a row without address columns or anything like an address. */
function broadTarget(row: Row, cells: readonly Cell[]): Target {
  const has = (...names: readonly Role[]) => row.some(([{ role }]) => names.includes(role));
  const role = has('asn') ? 'asn' : 'country';
  const cell = cells.find(({ column }) => column.role === role);
  if (cell === undefined || has('first', ...RANKS) || (has('start') && has('end'))) throw fault(NOTHING);
  const other = otherAddress(cells);
  if (other !== undefined)
    throw fault(
      `${quoted(other.address)} looks like an address, but "${other.name}" is no column of addresses, and ${role} only describes it: call that column ip`,
    );
  const targets = readTargets(role === 'asn' ? cell.text.replace(/^(?=\d+$)/, 'AS') : cell.text.toUpperCase());
  if (typeof targets === 'string') throw fault(targets);
  return targets[0];
}

function otherAddress(cells: readonly Cell[]): { readonly name: string; readonly address: string } | undefined {
  for (const { column, text } of cells) {
    const address = addressAmong(text);
    if (address !== undefined) return { name: column.name, address };
  }
  return undefined;
}

function addressAmong(text: string): string | undefined {
  const plain = undefanged(text);
  return plain.split(/[\s"'|,;()<>{}[\]]+/).find(looksLikeAddress) ?? OCTETS.exec(plain)?.[0];
}
const OCTETS = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])/;
