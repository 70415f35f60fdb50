/** The rows of lists, whatever form they come in, and the targets that stand in a text. */
import { parseNetwork } from '@weir/network/parse.ts';
import { rangeNetworks } from '@weir/network/range.ts';
import { WeirError } from '../../errors.ts';
import type { Target } from '../../rule.ts';
import { readTarget } from '../../signal/target.ts';
import { type Column, columnOf } from './columns.ts';
import { plainly } from './notation.ts';

/** The cells of a row, each with its column. */
export type Row = readonly (readonly [column: Column, value: unknown])[];

/** A row where it stands: its cells, what is wrong with it, or why it asks for nothing. */
export interface PlacedRow {
  readonly row: Row | { readonly passed: string } | string;
  readonly place: string;
}

/** The row of a JSON object. */
export const rowOf = (object: object, column = columnOf): Row => Object.entries(object).map(([name, value]) => [column(name), value]);

/** The row of cells below their columns; cells beyond them are of no known column. */
export const rowOfCells = (columns: readonly Column[], cells: readonly unknown[]): Row =>
  Array.from({ length: Math.max(columns.length, cells.length) }, (_, i) => [columns[i] ?? columnOf(`column ${i + 1}`), cells[i]]);

const VALUE = columnOf('value');

/** The row of a text that is known to be a target. */
export const rowOfText = (text: unknown): Row => [[VALUE, text]];

/** The last row of a content that ends within its line, unless its last cell is what a cut leaves of a network: `20.0.1.0/2` of `20.0.1.0/24`. */
export function wholeRow(row: PlacedRow['row']): PlacedRow['row'] {
  if (typeof row === 'string' || 'passed' in row) return row;
  const [, last] = row.findLast(([, value]) => isGiven(value)) ?? [];
  if (typeof last !== 'string' || !last.includes('/')) return row;
  const [network, host] = [parseNetwork(last), parseNetwork(last.split('/', 1)[0])];
  if (typeof network === 'string' || typeof host === 'string' || String(network.address) === String(host.address)) return row;
  return `${shown(last)} is cut: the content ends within this line, and it is no network`;
}

/** Whether the value is there at all. */
export const isGiven = (value: unknown) => value !== undefined && value !== null && value !== '';

/** A cell's text at the length that a message can show. */
export const shown = (value: unknown) => JSON.stringify(textOf(value).slice(0, 60));

/** A cell as text: JSON where it is an object or a list. */
export const textOf = (value: unknown): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value).trim();

/** What is wrong with a cell, by the name that a request has for it. */
export const cellFault = (field: string, message: string) => new WeirError('USAGE', message, { cause: { field, message } });

/** Whether a text begins as an address does, whatever follows: `192.0.2.1:443` does. */
export const looksLikeAddress = (text: string): boolean =>
  /^\d{1,3}(\.\d{1,3}){3}(?![\d.])/.test(text) ||
  (text.includes(':') && /^[\da-f:]+(\/\d+)?$/i.test(text) && typeof parseNetwork(text) !== 'string');

const RANGE = /^([\da-f.:]+)\s*-\s*([\da-f.:]+)$/i;

/** The targets that a text is by its form: an address, a network, a range of them, an AS number, a country; or what is wrong with it. */
export function readTargets(value: string): Target[] | string {
  // Most of a list: digits, dots and a slash are one network or none.
  const found = PLAIN.test(value) ? readTarget('ip', value) : '';
  return typeof found === 'string' ? readOthers(value) : [found];
}
const PLAIN = /^[\d./]+$/;

/** Whether a text is an address or network in any form, or begins as one does. */
export function isAddress(text: string): boolean {
  const targets = looksLikeAddress(text) || readTargets(text);
  return typeof targets === 'object' ? targets[0].kind === 'ip' : targets === true;
}

function readOthers(value: string): Target[] | string {
  const plain = plainly(value);
  if (typeof plain !== 'string') return `${shown(value)}: ${plain.fault}`;
  const [, first, last] = RANGE.exec(plain) ?? [];
  if (first !== undefined) return readRange(first, last);
  const found = readValue(plain);
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

function readRange(first: string, last: string): Target[] | string {
  const networks = rangeNetworks(first, last);
  return typeof networks === 'string' ? `${shown(`${first}-${last}`)}: ${networks}` : networks.map((network) => ({ kind: 'ip', network }));
}
