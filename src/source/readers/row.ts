import { parseNetwork } from '@weir/network/parse.ts';
import { rangeNetworks } from '@weir/network/range.ts';
import { WeirError } from '../../errors.ts';
import type { Target } from '../../rule.ts';
import { readTarget } from '../../signal/target.ts';
import { type Column, columnOf } from './columns.ts';
import { plainly } from './notation.ts';

export type Row = readonly (readonly [column: Column, value: unknown])[];

export interface PlacedRow {
  readonly row: Row | { readonly passed: string } | string;
  readonly place: string;
}

export const rowOf = (object: object, column = columnOf): Row => Object.entries(object).map(([name, value]) => [column(name), value]);

/** Surplus cells have an unknown column. */
export const rowOfCells = (columns: readonly Column[], cells: readonly unknown[]): Row =>
  Array.from({ length: Math.max(columns.length, cells.length) }, (_, i) => [columns[i] ?? columnOf(`column ${i + 1}`), cells[i]]);

const VALUE = columnOf('value');

export const rowOfText = (text: unknown): Row => [[VALUE, text]];

/** In content without a final LF: `20.0.1.0/2` could be a truncated `20.0.1.0/24`. */
export function completeRow(row: PlacedRow['row']): PlacedRow['row'] {
  if (typeof row === 'string' || 'passed' in row) return row;
  const [, last] = row.findLast(([, value]) => isGiven(value)) ?? [];
  if (typeof last !== 'string' || !last.includes('/')) return row;
  const [network, host] = [parseNetwork(last), parseNetwork(last.split('/', 1)[0])];
  if (typeof network === 'string' || typeof host === 'string' || String(network.address) === String(host.address)) return row;
  return `${quoted(last)} is cut: the content ends within this line, and it is no network`;
}

export const isGiven = (value: unknown) => value !== undefined && value !== null && value !== '';

export const quoted = (value: unknown) => JSON.stringify(textOf(value).slice(0, 60));

export const textOf = (value: unknown): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value).trim();

export const cellFault = (field: string, message: string) => new WeirError('USAGE', message, { cause: { field, message } });

/** Includes texts beginning with an address: `192.0.2.1:443`. */
export const looksLikeAddress = (text: string): boolean =>
  /^\d{1,3}(\.\d{1,3}){3}(?![\d.])/.test(text) ||
  (text.includes(':') && /^[\da-f:]+(\/\d+)?$/i.test(text) && typeof parseNetwork(text) !== 'string');

const RANGE = /^([\da-f.:]+)\s*-\s*([\da-f.:]+)$/i;

/** Addresses, networks, ranges, AS numbers and countries; a text names the fault. */
export function readTargets(value: string): Target[] | string {
  // Fast path: digits, dots and a slash are one network or nothing.
  const found = PLAIN.test(value) ? readTarget('ip', value) : '';
  return typeof found === 'string' ? readOthers(value) : [found];
}
const PLAIN = /^[\d./]+$/;

/** Includes texts beginning with an address. */
export function isAddress(text: string): boolean {
  const targets = looksLikeAddress(text) || readTargets(text);
  return typeof targets === 'object' ? targets[0].kind === 'ip' : targets === true;
}

function readOthers(value: string): Target[] | string {
  const plain = plainly(value);
  if (typeof plain !== 'string') return `${quoted(value)}: ${plain.fault}`;
  const [, first, last] = RANGE.exec(plain) ?? [];
  if (first !== undefined) return readRange(first, last);
  const found = readValue(plain);
  return typeof found === 'string' ? `${quoted(value)}: ${found}` : [found];
}

/** One address or network, AS number or upper-case country (`is` and `no` are words); a text names the fault. */
export function readValue(value: string): Target | string {
  const field = /^as\d+$/i.test(value) ? 'asn' : /^[A-Z]{2}$/.test(value) ? 'country' : /^[\da-f.:/]+$/i.test(value) ? 'ip' : undefined;
  return field === undefined ? 'must be an address, a network, an AS number or a country' : readTarget(field, value);
}

function readRange(first: string, last: string): Target[] | string {
  const networks = rangeNetworks(first, last);
  return typeof networks === 'string' ? `${quoted(`${first}-${last}`)}: ${networks}` : networks.map((network) => ({ kind: 'ip', network }));
}
