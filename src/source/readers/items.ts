/**
 * Reads a file of signals: a JSON array, or NDJSON (one object a line), in constant memory. What is sent are the bytes of the file:
 * nothing is read as a number or a text and written again. `items` reads the same two forms for lists.
 */

import { WeirError } from '../../errors.ts';
import { type Fields, isObject } from '../../signal/normalize.ts';
import { EntryScanner } from '../../signal/scan/scan.ts';
import { eventRefusals } from '../../signal/v1.ts';
import { envelopeRefusals } from '../../signal/v2.ts';
import { columnOf, KNOWN_COLUMNS, namesTarget } from './columns.ts';
import { MAX_LINE_BYTES, readLines, readUtf8 } from './lines.ts';

export type Version = 1 | 2;

export interface FileSignal {
  /** An object with `kind` goes to v2, with `type` to v1. */
  readonly version: Version;
  /** Its JSON, as the file has it. */
  readonly json: Buffer;
  /** Where it stands in the file, such as `line 7`; absent where signals are known by their number. */
  readonly place?: string;
}

/** A line that is no entry; the lines around it can be sent. */
export interface LineFault {
  readonly fault: string;
  readonly place: string;
}

/** The signals with their places one by one, or what is wrong there. */
export async function* readSignals(found: AsyncIterable<Item>): AsyncGenerator<FileSignal | LineFault> {
  for await (const { json, place } of found) {
    const entry = entryOf(json);
    const version = typeof entry === 'string' ? entry : versionOf(entry);
    yield typeof version === 'string' ? { fault: version, place } : { version, json, place };
  }
}

/** The same signals, known by their number. Throws USAGE at the first fault, and at a signal of another version than those before it. */
export async function* faultlessSignals(signals: AsyncIterable<FileSignal | LineFault>): AsyncGenerator<FileSignal> {
  let before: Version | undefined;
  for await (const each of signals) {
    if ('fault' in each) throw new WeirError('USAGE', `${each.place} ${each.fault}`);
    const { version, json, place } = each;
    if (before !== undefined && before !== version)
      throw new WeirError('USAGE', `${place} is a v${version} signal among v${before} signals; send them as two files`);
    before = version;
    yield { version, json };
  }
}

/** The same; signals for which their whole batch would be refused (spec 4.2, 7.2) are faults, so that the others of it are taken. */
export async function* takenSignals(signals: AsyncIterable<FileSignal | LineFault>): AsyncGenerator<FileSignal | LineFault> {
  for await (const each of signals) {
    const [fault] = 'fault' in each ? [] : (each.version === 1 ? eventRefusals : envelopeRefusals)(entryOf(each.json) as Fields);
    yield fault === undefined ? each : { fault: `${fault.field}: ${fault.message}`, place: each.place! };
  }
}

/** The object that the JSON of a signal is, or what is wrong with it. */
function entryOf(json: Buffer): Fields | string {
  const text = readUtf8(json);
  if (text === undefined) return 'is not UTF-8';
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : 'is not an object';
  } catch {
    return 'is not JSON';
  }
}

function versionOf(entry: Fields): Version | string {
  if ('kind' in entry) return 2;
  if ('type' in entry) return 1;
  const why = 'has neither "kind" (v2) nor "type" (v1), so it is no signal';
  return namesTarget(Object.keys(entry).map(columnOf))
    ? `${why}; entries of a list go into a file of their own`
    : `${why}; an entry of a list has a field that is called ${KNOWN_COLUMNS}`;
}

/** The bytes of a value and where it stands, for messages. */
export interface Item {
  readonly json: Buffer;
  readonly place: string;
}

const LF = 0x0a;

/** The values of a JSON array, or of lines with one each (of `mostLines` at most), one by one. */
export const items = (chunks: AsyncIterable<Buffer>, form: 'json' | 'ndjson', mostLines?: number): AsyncGenerator<Item> =>
  form === 'json' ? arrayItems(chunks) : lineItems(chunks, mostLines);

async function* arrayItems(chunks: AsyncIterable<Buffer>): AsyncGenerator<Item> {
  const scanner = new EntryScanner();
  let entries = 0;
  let lines = 1;
  /** The bytes from `from` on that are still needed. */
  let held = Buffer.alloc(0);
  let from = 0;
  for await (const chunk of chunks) {
    held = Buffer.concat([held, chunk]);
    for (const piece of upToEachLf(chunk)) {
      for (const { start, end } of scanner.push(piece)) {
        yield { json: held.subarray(start - from, end - from), place: `entry ${entries}` };
        entries += 1;
      }
      if (scanner.fault !== undefined) throw noArray(`line ${lines} ${scanner.fault}`);
      if (piece.at(-1) === LF) lines += 1;
    }
    const begin = scanner.open?.start ?? from + held.length;
    held = held.subarray(begin - from);
    from = begin;
    if (held.length > MAX_LINE_BYTES) throw new WeirError('USAGE', `entry ${entries} is longer than ${MAX_LINE_BYTES / 2 ** 20} MiB`);
  }
  scanner.end();
  if (scanner.fault !== undefined) throw noArray(`line ${lines} ${scanner.fault}`);
}

/** The same bytes in pieces that end behind each LF, so that a fault is known by its line. */
function* upToEachLf(chunk: Buffer): Generator<Buffer> {
  for (let from = 0; from < chunk.length; ) {
    const at = chunk.indexOf(LF, from);
    const end = at < 0 ? chunk.length : at + 1;
    yield chunk.subarray(from, end);
    from = end;
  }
}

const noArray = (why: string) => new WeirError('USAGE', `the file is not a JSON array: ${why}`);

async function* lineItems(chunks: AsyncIterable<Buffer>, most: number | undefined): AsyncGenerator<Item> {
  for await (const { number, bytes } of readLines(chunks, { most })) yield { json: bytes, place: `line ${number}` };
}

const [BEGIN, COMMA, END] = ['[', ',', ']'].map((mark) => Buffer.from(mark)) as [Buffer, Buffer, Buffer];

/** A JSON array of the signals' own bytes. */
export const arrayOf = (signals: readonly FileSignal[]): Buffer<ArrayBuffer> =>
  Buffer.concat([...signals.flatMap(({ json }, i) => [i === 0 ? BEGIN : COMMA, json]), END]);
