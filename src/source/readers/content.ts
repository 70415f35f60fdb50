/** Reads a list, or a file of signals, as it comes in: for imports, `weir send` and whatever is pulled. */

import { WeirError } from '../../errors.ts';
import { parsedJson } from '../../json/json.ts';
import { isObject } from '../../signal/normalize.ts';
import { csvRows } from './csv.ts';
import { type PlacedRow, rowsByPath } from './documents.ts';
import { type ListDefaults, type ListEntry, readRow, signalOf } from './entry.ts';
import { findForm, type Given } from './form.ts';
import { type FileSignal, type Item, items, type LineFault, readSignals } from './items.ts';
import { isComment, readLines, readUtf8 } from './lines.ts';
import type { Condition, Path } from './paths.ts';
import { namesTarget, type Row, rowOf, shown, wholeRow } from './row.ts';
import { rowOfLine } from './text.ts';

/** How a list is read. */
export interface Reading extends Given {
  /** Where in JSON the entries stand; none: they are the elements of an array, or stand one a line. */
  readonly paths?: readonly Path[] | undefined;
  /** What the objects of JSON have to say for their entries to count; only with paths. */
  readonly condition?: Condition | undefined;
  /** Lines at most; undefined: any number. */
  readonly mostLines?: number | undefined;
  /** Is told how many entries the content says that it has, once that many were read. */
  readonly onWhole?: ((said: number) => void) | undefined;
}

/** What a file holds: signals, which are sent as they are, or the entries of a list, each with its place or what is wrong there. */
export type Content =
  | { readonly signals: AsyncIterable<FileSignal | LineFault> }
  | { readonly entries: AsyncIterable<PlacedEntry | LineFault | PassedRow> };

/** An entry and where it stands, such as `line 7`. */
export interface PlacedEntry {
  readonly entry: ListEntry;
  readonly place: string;
}

/** A row that asks for nothing, and why. */
export interface PassedRow {
  readonly passed: string;
  readonly place: string;
}

/** What may stand in a file that has no entries. */
export const NO_ENTRIES = 'comments, a header and an empty array are none';

/** Reads a file. Throws USAGE, also while it is read, at what makes the rest of the file unreadable. */
export async function readContent(bytes: AsyncIterable<Buffer>, reading: Reading, defaults: ListDefaults): Promise<Content> {
  const { paths = [], condition, mostLines, onWhole } = reading;
  const { format, chunks, header } = await findForm(bytes, reading);
  const entries = (rows: AsyncIterable<PlacedRow>): Content => ({ entries: entriesOf(rows, defaults) });
  const isJson = format === 'json' || format === 'ndjson';
  if (paths.length > 0) {
    if (!isJson) throw new WeirError('USAGE', 'paths are for JSON, and this file is none');
    return entries(rowsByPath(chunks, paths, condition));
  }
  if (condition !== undefined) throw new WeirError('USAGE', 'a condition needs a path beside it');
  switch (format) {
    case 'text':
      return entries(textRows(chunks, mostLines, onWhole));
    case 'csv':
      return entries(csvRows(chunks, header, mostLines));
    case 'suricata':
      return entries(alertRows(items(chunks, 'ndjson', mostLines)));
    case 'json':
    case 'ndjson': {
      const { first, all } = await peek(items(chunks, format, mostLines));
      if (first !== undefined && format === 'ndjson') await refuseObject(first);
      if (first === undefined || !isListItem(first)) return { signals: readSignals(all) };
      return entries(jsonRows(all, onWhole));
    }
  }
}

/** What of a list asks for nothing. */
export interface Trimmed {
  /** Entries that have expired. */
  readonly expired: number;
  /** Rows that were passed over, by the reason. */
  readonly passed: ReadonlyMap<string, number>;
}

/** Reasons that are told apart: they name what the file says, so not any number of them is kept. */
const MOST_REASONS = 20;

/** The signals of entries as they are sent now; what asks for nothing is told at the end, where there is any. */
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
    const read = typeof row === 'string' ? { fault: row } : readRow(row, defaults);
    if ('entries' in read) for (const entry of read.entries) yield { entry, place };
    else yield { ...read, place };
  }
}

const NOT_UTF8 = 'this is not UTF-8';

/** How FireHOL's lists say in a comment how many entries they have. */
const COUNTED = /^#\s*Entries\s*:\s*([\d,]+)/i;

async function* textRows(chunks: AsyncIterable<Buffer>, most: number | undefined, onWhole: Reading['onWhole']): AsyncGenerator<PlacedRow> {
  let said: number | undefined;
  let lines = 0;
  const saysNothing = (bytes: Uint8Array): boolean => {
    if (!isComment(bytes)) return false;
    if (lines === 0 && said === undefined) said = countOf(bytes);
    return true;
  };
  for await (const { number, bytes, isOpen } of readLines(chunks, { most, saysNothing })) {
    const line = readUtf8(bytes)?.trim();
    if (line === '') continue;
    lines += 1;
    const row = line === undefined ? NOT_UTF8 : rowOfLine(line);
    yield { row: isOpen ? wholeRow(row) : row, place: `line ${number}` };
  }
  if (said !== undefined && lines < said) throw cut(said, lines);
  if (said !== undefined) onWhole?.(said);
}

function countOf(bytes: Uint8Array): number | undefined {
  const [, count] = bytes.length > 200 ? [] : (COUNTED.exec(readUtf8(bytes) ?? '') ?? []);
  return count === undefined ? undefined : Number(count.replaceAll(',', ''));
}

const cut = (said: number, read: number) =>
  new WeirError('USAGE', `the file says that it has ${said} entries, and ${read} were read: it is cut`);

async function* jsonRows(found: AsyncIterable<Item>, onWhole: Reading['onWhole']): AsyncGenerator<PlacedRow> {
  let read = 0;
  for await (const { json, place } of found) {
    const value = parsedJson(readUtf8(json));
    // The last line of Spamhaus's lists says when they were made, and how many entries they have.
    if (isObject(value) && value.type === 'metadata') {
      if (typeof value.records === 'number' && read < value.records) throw cut(value.records, read);
      if (typeof value.records === 'number') onWhole?.(value.records);
      continue;
    }
    read += 1;
    yield { row: rowOfValue(value), place };
  }
}

function rowOfValue(value: unknown): Row | string {
  if (value === undefined) return 'this is not JSON in UTF-8';
  if (typeof value === 'string') return new Map([['value', value.trim()]]);
  if (!isObject(value)) return 'this is neither text nor an object';
  return isSignal(value) ? 'this is a signal among the entries of a list; send it in a file of its own' : rowOf(value);
}

/** MISP's attributes have a `type` too. */
const isSignal = (value: object) => 'kind' in value || ('type' in value && !('to_ids' in value));

/** The alerts among the events of Suricata's eve.json: their source, which some rules name. */
async function* alertRows(found: AsyncIterable<Item>): AsyncGenerator<PlacedRow> {
  for await (const { json, place } of found) {
    const event = parsedJson(readUtf8(json));
    if (event === undefined) yield { row: 'this is not JSON in UTF-8', place };
    if (!isObject(event) || event.event_type !== 'alert') continue;
    const alert = isObject(event.alert) ? event.alert : {};
    const source = isObject(alert.source) ? alert.source.ip : event.src_ip;
    const labels = { source: 'suricata', signature_id: alert.signature_id };
    yield {
      row: new Map<string, unknown>([
        ['ip', source],
        ['reason', alert.signature],
        ['labels', labels],
      ]),
      place,
    };
  }
}

/** Refuses one object over several lines, or one whose lists stand within it. */
function refuseObject({ json }: Item): void {
  const text = readUtf8(json)?.trim() ?? '';
  const value = parsedJson(readUtf8(json));
  const isOpen = value === undefined && /^\{\s*("([^"\\]|\\.)*"\s*:\s*[[{"\d\w.,\s-]*)?$/.test(text);
  const isHolder = isObject(value) && !isSignal(value) && !namesTarget(rowOf(value)) && Object.values(value).some(Array.isArray);
  if (!isOpen && !isHolder) return;
  const names = isObject(value) ? `, with ${shown(Object.keys(value).join(', '))}` : '';
  throw new WeirError(
    'USAGE',
    `the file is one JSON object${names}: say where its entries stand with a path, such as prefixes[].ip_prefix`,
  );
}

/** Whether the first value of a file makes it a list: a text, or an object that names an address and is no signal. */
function isListItem({ json }: Item): boolean {
  const value = parsedJson(readUtf8(json));
  if (typeof value === 'string') return true;
  return isObject(value) && !isSignal(value) && namesTarget(rowOf(value));
}

async function peek<T>(source: AsyncGenerator<T>): Promise<{ first: T | undefined; all: AsyncGenerator<T> }> {
  const next = await source.next();
  return next.done ? { first: undefined, all: source } : { first: next.value, all: behind(next.value, source) };
}

async function* behind<T>(first: T, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  yield first;
  yield* rest;
}
