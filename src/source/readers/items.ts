/** Signals of a JSON array or NDJSON, in constant memory; their bytes are sent unchanged. Lists use `items` for the same forms. */

import { WeirError } from '../../errors.ts';
import { type Fields, isObject } from '../../signal/normalize.ts';
import { EntryScanner } from '../../signal/scan/scan.ts';
import { eventRefusals } from '../../signal/v1.ts';
import { envelopeRefusals } from '../../signal/v2.ts';
import { columnOf, KNOWN_COLUMNS, namesTarget } from './columns.ts';
import { MAX_LINE_BYTES, readLines, readUtf8 } from './lines.ts';

export type Version = 1 | 2;

export interface FileSignal {
  /** `kind` means v2, `type` v1. */
  readonly version: Version;
  readonly json: Buffer;
  readonly place?: string;
}

/** A faulty line; others remain sendable. */
export interface LineFault {
  readonly fault: string;
  readonly place: string;
}

export async function* readSignals(found: AsyncIterable<Item>): AsyncGenerator<FileSignal | LineFault> {
  for await (const { json, place } of found) {
    const entry = entryOf(json);
    const version = typeof entry === 'string' ? entry : versionOf(entry);
    yield typeof version === 'string' ? { fault: version, place } : { version, json, place };
  }
}

/** Numbers the signals. Throws USAGE at the first fault or change of version. */
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

/** Those refusing their whole batch (spec 4.2, 7.2) become faults, to save the others. */
export async function* acceptableSignals(signals: AsyncIterable<FileSignal | LineFault>): AsyncGenerator<FileSignal | LineFault> {
  for await (const each of signals) {
    const [fault] = 'fault' in each ? [] : (each.version === 1 ? eventRefusals : envelopeRefusals)(entryOf(each.json) as Fields);
    yield fault === undefined ? each : { fault: `${fault.field}: ${fault.message}`, place: each.place! };
  }
}

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

export interface Item {
  readonly json: Buffer;
  readonly place: string;
}

const LF = 0x0a;

/** Or one per line (up to `mostLines`). */
export const items = (chunks: AsyncIterable<Buffer>, form: 'json' | 'ndjson', mostLines?: number): AsyncGenerator<Item> =>
  form === 'json' ? arrayItems(chunks) : lineItems(chunks, mostLines);

async function* arrayItems(chunks: AsyncIterable<Buffer>): AsyncGenerator<Item> {
  const scanner = new EntryScanner();
  let entries = 0;
  let lines = 1;
  /** Bytes still needed, beginning at `from`. */
  let pending = Buffer.alloc(0);
  let from = 0;
  for await (const chunk of chunks) {
    pending = Buffer.concat([pending, chunk]);
    for (const piece of upToEachLf(chunk)) {
      for (const { start, end } of scanner.push(piece)) {
        yield { json: pending.subarray(start - from, end - from), place: `entry ${entries}` };
        entries += 1;
      }
      if (scanner.fault !== undefined) throw noArray(`line ${lines} ${scanner.fault}`);
      if (piece.at(-1) === LF) lines += 1;
    }
    const begin = scanner.open?.start ?? from + pending.length;
    pending = pending.subarray(begin - from);
    from = begin;
    if (pending.length > MAX_LINE_BYTES) throw new WeirError('USAGE', `entry ${entries} is longer than ${MAX_LINE_BYTES / 2 ** 20} MiB`);
  }
  scanner.end();
  if (scanner.fault !== undefined) throw noArray(`line ${lines} ${scanner.fault}`);
}

/** Splits after each LF, to locate faults by line. */
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

export const arrayOf = (signals: readonly FileSignal[]): Buffer<ArrayBuffer> =>
  Buffer.concat([...signals.flatMap(({ json }, i) => [i === 0 ? BEGIN : COMMA, json]), END]);
