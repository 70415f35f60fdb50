/** Reads the file of `weir send`, plain lists in their forms and files of signals, as the signals to send. */
import { Readable } from 'node:stream';
import { parse } from 'csv-parse';
import { WeirError } from '../../errors.ts';
import { isObject } from '../../signal/normalize.ts';
import { columnName, type ListDefaults, type ListEntry, namesTarget, type Row, readEntry, rowOf, signalOf } from './entry.ts';
import { COMMENT, delimiterOf, type FormedInput, firstColumn, requireTargets } from './form.ts';
import { type FileSignal, type Item, items, type LineFault, readSignals } from './items.ts';
import { readLines, readUtf8 } from './lines.ts';

/** What a file holds: signals, which are sent as they are, or the entries of a list, each with its place or what is wrong there. */
export type Content =
  | { readonly signals: AsyncIterable<FileSignal | LineFault> }
  | { readonly entries: AsyncIterable<PlacedEntry | LineFault> };

/** An entry and where it stands, such as `line 7`. */
export interface PlacedEntry {
  readonly entry: ListEntry;
  readonly place: string;
}

/** Reads a file of a known form. Throws USAGE, also while it is read, at what makes the rest of the file unreadable. */
export async function readContent({ format, chunks }: FormedInput, defaults: ListDefaults): Promise<Content> {
  switch (format) {
    case 'text':
      return { entries: entriesOf(textRows(chunks), defaults) };
    case 'csv':
      return { entries: entriesOf(csvRows(chunks), defaults) };
    case 'suricata':
      return { entries: entriesOf(alertRows(items(chunks, 'ndjson')), defaults) };
    case 'json':
    case 'ndjson': {
      const { first, all } = await peek(items(chunks, format));
      if (first === undefined || !isListItem(first)) return { signals: readSignals(all) };
      return { entries: entriesOf(jsonRows(all), defaults) };
    }
  }
}

/** The signals of entries as they are sent now; `onExpired` is told how many had expired, where some had. */
export async function* entrySignals(
  entries: AsyncIterable<PlacedEntry | LineFault>,
  onExpired: (count: number) => void,
): AsyncGenerator<FileSignal | LineFault> {
  let expired = 0;
  for await (const each of entries) {
    const found = 'fault' in each ? each : signalOf(each.entry, Date.now());
    if (found === undefined) expired += 1;
    else yield { ...found, place: each.place };
  }
  if (expired > 0) onExpired(expired);
}

/** A row and where it stands, or why there is none. */
type PlacedRow = { readonly row: Row | string; readonly place: string };

async function* entriesOf(rows: AsyncIterable<PlacedRow>, defaults: ListDefaults): AsyncGenerator<PlacedEntry | LineFault> {
  for await (const { row, place } of rows) {
    const entry = typeof row === 'string' ? row : readEntry(row, defaults);
    yield typeof entry === 'string' ? { fault: entry, place } : { entry, place };
  }
}

const NOT_UTF8 = 'this is not UTF-8';
/** Only LF ends a line: what stands behind a CR would be lost. */
const LONE_CR = 'a CR stands within this line: end lines with LF or CR LF';

async function* textRows(chunks: AsyncIterable<Buffer>): AsyncGenerator<PlacedRow> {
  let number = 0;
  for await (const bytes of readLines(chunks)) {
    number += 1;
    const line = readUtf8(bytes)?.trim();
    if (line === '' || (line !== undefined && COMMENT.test(line))) continue;
    const row = line === undefined ? NOT_UTF8 : line.includes('\r') ? LONE_CR : new Map([['value', firstColumn(line)]]);
    yield { row, place: `line ${number}` };
  }
}

/** Bytes of a row of CSV: a quote that is never closed must not swallow a file. */
const MOST_ROW = 1 << 20;

interface CsvRecord {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

/** The line of a row is the one that it ends on: quoted cells may hold line breaks. */
async function* csvRows(chunks: AsyncIterable<Buffer>): AsyncGenerator<PlacedRow> {
  const { header, texts } = await readHeader(utf8(chunks));
  const parser = parse({
    delimiter: delimiterOf(header),
    trim: true,
    comment: '#',
    comment_no_infix: true,
    info: true,
    max_record_size: MOST_ROW,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
  });
  const source = Readable.from(texts).on('error', (error) => parser.destroy(error));
  let columns: readonly string[] | undefined;
  try {
    for await (const { record, info } of source.pipe(parser) as AsyncIterable<CsvRecord>) {
      if (columns === undefined) {
        requireTargets(record);
        columns = record.map(columnName);
      } else yield { row: new Map(columns.map((name, i) => [name, record[i]])), place: `line ${info.lines}` };
    }
  } catch (error) {
    if (!/^CSV_/.test((error as NodeJS.ErrnoException).code ?? '')) throw error;
    throw new WeirError('USAGE', `the file is not CSV: ${(error as Error).message}`);
  }
}

/** The first line that is no comment, and all of the text. */
async function readHeader(source: AsyncGenerator<string>): Promise<{ header: string; texts: AsyncGenerator<string> }> {
  let head = '';
  for (let next = await source.next(); ; next = await source.next()) {
    head += next.value ?? '';
    const lines = head.split('\n').slice(0, next.done ? undefined : -1);
    const header = lines.find((line) => line.trim() !== '' && !line.startsWith('#'));
    if (header !== undefined || next.done || head.length > MOST_ROW) return { header: header ?? '', texts: behind(head, source) };
  }
}

async function* behind<T>(first: T, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  yield first;
  yield* rest;
}

/** The text of bytes. Throws USAGE where they are not UTF-8. */
async function* utf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let lines = 1;
  for await (const chunk of chunks) {
    let text: string;
    try {
      text = decoder.decode(chunk, { stream: true });
    } catch {
      throw new WeirError('USAGE', `the file is not UTF-8, behind line ${lines}`);
    }
    lines += text.split('\n').length - 1;
    yield text;
  }
}

async function* jsonRows(found: AsyncIterable<Item>): AsyncGenerator<PlacedRow> {
  for await (const { json, place } of found) {
    const value = parseJson(json);
    // The last line of Spamhaus's lists says when they were made.
    if (isObject(value) && value.type === 'metadata') continue;
    yield { row: rowOfValue(value), place };
  }
}

function rowOfValue(value: unknown): Row | string {
  if (value === undefined) return 'this is not JSON in UTF-8';
  if (typeof value === 'string') return new Map([['value', value]]);
  if (!isObject(value)) return 'this is neither text nor an object';
  return 'kind' in value || 'type' in value ? 'this is a signal among the entries of a list; send it in a file of its own' : rowOf(value);
}

/** The alerts among the events of Suricata's eve.json: their source, which some rules name. */
async function* alertRows(found: AsyncIterable<Item>): AsyncGenerator<PlacedRow> {
  for await (const { json, place } of found) {
    const event = parseJson(json);
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

function parseJson(json: Buffer): unknown {
  const text = readUtf8(json);
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether the first value of a file makes it a list: a text, or an object that names an address and is no signal. */
function isListItem({ json }: Item): boolean {
  const value = parseJson(json);
  if (typeof value === 'string') return true;
  return isObject(value) && !('kind' in value) && !('type' in value) && namesTarget(rowOf(value));
}

async function peek<T>(source: AsyncGenerator<T>): Promise<{ first: T | undefined; all: AsyncGenerator<T> }> {
  const next = await source.next();
  return next.done ? { first: undefined, all: source } : { first: next.value, all: behind(next.value, source) };
}
