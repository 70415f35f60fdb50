/** For imports, `weir send` and fetched sources. */

import { WeirError } from '../../errors.ts';
import { isTooDeep, parsedJson, TOO_DEEP } from '../../json/json.ts';
import { KINDS } from '../../rule.ts';
import { type Fields, isObject } from '../../signal/normalize.ts';
import { plural } from '../../text/count.ts';
import { columnMemory, columnOf, columnsWith, KNOWN_COLUMNS, namesTarget } from './columns.ts';
import { csvRows } from './csv.ts';
import { rowsByPath } from './documents.ts';
import { type ListDefaults, type ListEntry, readRow, signalOf } from './entry.ts';
import { type Form, findForm, type Given } from './form.ts';
import { mispRows, stixRows } from './intelligence.ts';
import { type FileSignal, type Item, items, type LineFault, readSignals } from './items.ts';
import type { LineEntry } from './line-forms/line-form.ts';
import { lineFormOf } from './line-forms/table.ts';
import { isComment, readLines, readUtf8 } from './lines.ts';
import type { Condition, Path } from './paths.ts';
import { completeRow, type PlacedRow, quoted, type Row, rowOf, rowOfCells, rowOfText } from './row.ts';
import { lineReader } from './text.ts';

export interface Reading extends Given {
  /** Paths to the entries in JSON; undefined: array elements or lines. */
  readonly paths?: readonly Path[] | undefined;
  /** Filters JSON objects; only with paths. */
  readonly condition?: Condition | undefined;
  readonly mostLines?: number | undefined;
  /** The content's own count, after reading as many. */
  readonly onCount?: ((announced: number) => void) | undefined;
}

/** Signals are sent unchanged; others have their places. */
export type Content =
  | { readonly signals: AsyncIterable<FileSignal | LineFault> }
  | { readonly entries: AsyncIterable<PlacedEntry | LineFault | PassedRow> };

/** An entry and its place, such as `line 7`. */
export interface PlacedEntry {
  readonly entry: ListEntry;
  readonly place: string;
  /** Equal texts for equal causes. */
  readonly warnings?: readonly string[];
}

export interface PassedRow {
  readonly passed: string;
  readonly place: string;
}

export const NO_ENTRIES = 'comments, a header and an empty array are none';

/** Throws USAGE for an unreadable rest of the file, also during iteration. */
export async function readContent(bytes: AsyncIterable<Buffer>, reading: Reading, defaults: ListDefaults): Promise<Content> {
  const { paths = [], condition, column, mostLines, onCount } = reading;
  const { format, chunks, header } = await findForm(bytes, reading);
  const entries = (rows: AsyncIterable<PlacedRow>): Content => ({ entries: entriesOf(rows, defaults) });
  const isJson = format !== 'text' && format !== 'csv';
  if (column !== undefined && (paths.length > 0 || !HAS_COLUMNS.includes(format)))
    throw new WeirError('USAGE', 'a column is for CSV, and for JSON without paths');
  if (paths.length > 0) {
    if (!isJson) throw new WeirError('USAGE', 'paths are for JSON, and this file is none');
    return entries(rowsByPath(chunks, paths, condition));
  }
  if (condition !== undefined) throw new WeirError('USAGE', 'a condition needs a path');
  switch (format) {
    case 'text':
      return entries(textRows(chunks, reading));
    case 'csv':
      return entries(csvRows(chunks, header, reading));
    case 'suricata':
      return entries(alertRows(items(chunks, 'ndjson', mostLines)));
    case 'stix':
      return entries(stixRows(chunks, Date.now()));
    case 'misp':
      return entries(mispRows(chunks));
    case 'json':
    case 'ndjson': {
      const { first, all } = await peek(items(chunks, format, mostLines));
      if (column !== undefined) return entries(jsonRows(all, onCount, column));
      if (first === undefined || isSignal(parsedJson(readUtf8(first.json)) ?? brokenSignal(first))) return { signals: readSignals(all) };
      return entries(jsonRows(format === 'ndjson' ? await severalOf(first, all) : all, onCount));
    }
  }
}

const HAS_COLUMNS: readonly Form[] = ['csv', 'json', 'ndjson'];

export interface Trimmed {
  readonly expired: number;
  readonly passed: ReadonlyMap<string, number>;
}

/** Limited: they quote the file. */
const MOST_REASONS = 20;

/** Signals to send now; the statistics follow at the end. */
export async function* entrySignals(
  entries: AsyncIterable<PlacedEntry | LineFault | PassedRow>,
  onLeftOut: (left: Trimmed) => void,
): AsyncGenerator<FileSignal | LineFault> {
  let expired = 0;
  const passed = new Map<string, number>();
  for await (const each of entries) {
    if ('passed' in each) {
      const reason = passed.has(each.passed) || passed.size < MOST_REASONS ? each.passed : 'other reasons';
      passed.set(reason, (passed.get(reason) ?? 0) + 1);
      continue;
    }
    const found = 'fault' in each ? each : signalOf(each.entry, Date.now());
    if (found === undefined) expired += 1;
    else yield { ...found, place: each.place };
  }
  if (expired > 0 || passed.size > 0) onLeftOut({ expired, passed });
}

async function* entriesOf(rows: AsyncIterable<PlacedRow>, defaults: ListDefaults): AsyncGenerator<PlacedEntry | LineFault | PassedRow> {
  for await (const { row, place } of rows) {
    if (typeof row === 'string') yield { fault: row, place };
    else if ('passed' in row) yield { ...row, place };
    else yield* placed(row, defaults, place);
  }
}

/** Counts rows per warning. */
export async function* countingWarnings<T extends object>(entries: AsyncIterable<T>, counts: Map<string, number>): AsyncGenerator<T> {
  for await (const each of entries) {
    if ('warnings' in each) for (const warning of each.warnings as readonly string[]) counts.set(warning, (counts.get(warning) ?? 0) + 1);
    yield each;
  }
}

export const warningTexts = (counts: ReadonlyMap<string, number>): string[] =>
  [...counts].map(([warning, count]) => `${plural(count, 'row')}: ${warning}`);

/** Its warnings belong to the first entry. */
export function placed(row: Row, defaults: ListDefaults, place: string): readonly (PlacedEntry | LineFault | PassedRow)[] {
  const read = readRow(row, defaults);
  if (!('entries' in read)) return [{ ...read, place }];
  return read.entries.map((entry, i) =>
    i === 0 && read.warnings.length > 0 ? { entry, place, warnings: read.warnings } : { entry, place },
  );
}

const NOT_UTF8 = 'this is not UTF-8';

/** FireHOL's comment with the number of entries. */
const COUNTED = /^#\s*Entries\s*:\s*([\d,]+)/i;

async function* textRows(chunks: AsyncIterable<Buffer>, { file, mostLines: most, onCount }: Reading): AsyncGenerator<PlacedRow> {
  let announced: number | undefined;
  let lines = 0;
  let statement: ReturnType<typeof statementReader> | undefined;
  const readLine = lineReader();
  const saysNothing = (bytes: Uint8Array): boolean => {
    if (!isComment(bytes)) return false;
    if (lines === 0 && announced === undefined) announced = countOf(bytes);
    return true;
  };
  for await (const { number, bytes, isOpen } of readLines(chunks, { most, saysNothing })) {
    const line = readUtf8(bytes)?.trim();
    if (line === '') continue;
    lines += 1;
    const place = `line ${number}`;
    if (line === undefined) yield { row: NOT_UTF8, place };
    else {
      statement ??= statementReader(line, file);
      if (statement === 'none') yield { row: isOpen ? completeRow(readLine(line)) : readLine(line), place };
      else for (const row of statement(line)) yield { row: isOpen ? completeRow(row) : row, place };
    }
  }
  if (announced !== undefined && lines < announced) throw cut(announced, lines);
  if (announced !== undefined) onCount?.(announced);
}

function statementReader(first: string, file: string): 'none' | ((line: string) => PlacedRow['row'][]) {
  const read = lineFormOf(first)?.open(file);
  return read === undefined
    ? 'none'
    : (line) => read(line).map((announced) => (typeof announced === 'object' && 'value' in announced ? rowOfEntry(announced) : announced));
}

/** Countries or AS numbers in such lines name something else. */
const rowOfEntry = (entry: LineEntry) => (/[.:]/.test(entry.value) ? rowOf(entry) : `${quoted(entry.value)} is no address`);

function countOf(bytes: Uint8Array): number | undefined {
  const [, count] = bytes.length > 200 ? [] : (COUNTED.exec(readUtf8(bytes) ?? '') ?? []);
  return count === undefined ? undefined : Number(count.replaceAll(',', ''));
}

const cut = (announced: number, read: number) =>
  new WeirError('USAGE', `the file announces ${announced} entries but has ${read}: it is truncated`);

async function* jsonRows(found: AsyncIterable<Item>, onCount: Reading['onCount'], column?: string): AsyncGenerator<PlacedRow> {
  let read = 0;
  const known = columnMemory();
  for await (const { json, place } of found) {
    const value = parsedJson(readUtf8(json));
    if (isObject(value) && value.type === 'metadata') {
      if (typeof value.records === 'number' && read < value.records) throw cut(value.records, read);
      if (typeof value.records === 'number') onCount?.(value.records);
      continue;
    }
    read += 1;
    yield { row: column === undefined || !isObject(value) ? rowOfValue(value, known) : rowWith(value, column), place };
  }
}

function rowOfValue(value: unknown, column: typeof columnOf): Row | string {
  if (value === undefined) return 'this is not JSON in UTF-8';
  if (typeof value === 'string') return rowOfText(value.trim());
  if (isTooDeep(value)) return TOO_DEEP;
  if (!isObject(value)) return 'this is neither text nor an object';
  if (isSignal(value)) return 'this is a signal among the entries of a list; send it in a file of its own';
  const row = rowOf(value, column);
  return namesTarget(row.map(([column]) => column)) ? row : `no field is called ${KNOWN_COLUMNS}, and it is not a signal (kind or type)`;
}

/** The broken first value, if it names a signal type. */
const brokenSignal = ({ json }: Item): Fields | undefined =>
  /"(access|waf|smart)_/.test(json.toString('latin1')) ? { type: 'access_rules' } : undefined;

function rowWith(object: object, column: string): Row | string {
  const columns = columnsWith(Object.keys(object), column);
  return columns === undefined ? `there is no field ${quoted(column)}` : rowOfCells(columns, Object.values(object));
}

/** List entries may also have `kind` and `type`. */
const isSignal = (value: unknown): boolean =>
  isObject(value) &&
  ('kind' in value ? isKind(value.kind) || 'op' in value || 'rule' in value : /^(access|waf|smart)_/i.test(String(value.type)));
const isKind = (kind: unknown) => KINDS.some((known) => known === kind);

/** Alert events of Suricata's eve.json; some rules define their source. */
async function* alertRows(found: AsyncIterable<Item>): AsyncGenerator<PlacedRow> {
  for await (const { json, place } of found) {
    const event = parsedJson(readUtf8(json));
    if (event === undefined) yield { row: 'this is not JSON in UTF-8', place };
    if (!isObject(event) || event.event_type !== 'alert') continue;
    const alert = isObject(event.alert) ? event.alert : {};
    const source = isObject(alert.source) ? alert.source.ip : event.src_ip;
    const labels = { source: 'suricata', signature_id: alert.signature_id };
    yield {
      row: rowOf({ ip: source, reason: alert.signature, labels }),
      place,
    };
  }
}

/** The objects, one per line. Throws USAGE for a single object over several lines, or without an entry. */
async function severalOf(first: Item, all: AsyncGenerator<Item>): Promise<AsyncGenerator<Item>> {
  const text = readUtf8(first.json);
  const value = parsedJson(text);
  const isOpen = value === undefined && /^\{\s*("([^"\\]|\\.)*"\s*:\s*[[{"\d\w.,\s-]*)?$/.test(text?.trim() ?? '');
  const isEntry = isObject(value) && namesTarget(Object.keys(value).map(columnOf)) && !isError(value);
  if (isEntry || (value !== undefined && !isObject(value)) || (value === undefined && !isOpen)) return all;
  // Wait for more input only if needed: piped entries are sent immediately.
  const [one, other] = [await all.next(), isOpen ? undefined : await all.next()];
  if (!isOpen && !other!.done) return behind(one.value!, behind(other!.value, all));
  const names = isObject(value) ? `, with ${quoted(Object.keys(value).join(', '))}` : '';
  if (isObject(value) && isError(value)) throw new WeirError('USAGE', `the file is not a list but an error message: ${quoted(value)}`);
  if (isObject(value) && !Object.values(value).some((each) => typeof each === 'object'))
    throw new WeirError('USAGE', `the file is one JSON object${names}, and neither an entry of a list nor a signal`);
  throw new WeirError(
    'USAGE',
    `the file is one JSON object${names}: say where its entries stand with a path, such as prefixes[].ip_prefix`,
  );
}

const isError = ({ error, errors, exception, success, status }: Fields): boolean =>
  [error, errors, exception].some(
    (each) => each !== undefined && each !== null && each !== false && !(Array.isArray(each) && each.length === 0),
  ) ||
  success === false ||
  /^(error|fail|failed)$/i.test(String(status));

async function peek<T>(source: AsyncGenerator<T>): Promise<{ first: T | undefined; all: AsyncGenerator<T> }> {
  const next = await source.next();
  return next.done ? { first: undefined, all: source } : { first: next.value, all: behind(next.value, source) };
}

async function* behind<T>(first: T, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  yield first;
  yield* rest;
}
