/** Reads a file of signals for `weir send`: a JSON array, or NDJSON (one object a line), in constant memory. */

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import chain from 'stream-chain';
import { parser } from 'stream-json';
import { streamArray } from 'stream-json/streamers/stream-array.js';
import { WeirError } from '../errors.ts';

export type Version = 1 | 2;

export interface FileSignal {
  /** An object with `kind` goes to v2, with `type` to v1. */
  readonly version: Version;
  readonly value: object;
}

export interface Input {
  readonly chunks: AsyncIterable<Buffer>;
  /** Bytes in all; undefined when that is not known beforehand. */
  readonly size: number | undefined;
}

/** Opens a file, a pipe, or standard input for "-". */
export async function openInput(file: string): Promise<Input> {
  if (file === '-') return { chunks: process.stdin, size: undefined };
  const found = await stat(file).catch(() => undefined);
  if (found === undefined || found.isDirectory()) throw new WeirError('USAGE', `the file "${file}" cannot be read`);
  return { chunks: createReadStream(file), size: found.isFile() ? found.size : undefined };
}

/** The signals one by one. Throws a UsageError at the first that is none, or is of another version than those before it. */
export async function* readSignals(chunks: AsyncIterable<Buffer>): AsyncGenerator<FileSignal> {
  let before: Version | undefined;
  for await (const { value, place } of items(chunks)) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new WeirError('USAGE', `${place} is not an object`);
    const version: Version | undefined = 'kind' in value ? 2 : 'type' in value ? 1 : undefined;
    if (version === undefined) throw new WeirError('USAGE', `${place} has neither "kind" (v2) nor "type" (v1)`);
    if (before !== undefined && before !== version) {
      throw new WeirError('USAGE', `${place} is a v${version} signal among v${before} signals; send them as two files`);
    }
    before = version;
    yield { version, value };
  }
}

/** A value of the file and where it stands, for messages. */
interface Item {
  readonly value: unknown;
  readonly place: string;
}

const BYTE_ORDER_MARK = Buffer.from('\uFEFF');
const BLANK = new Set(Buffer.from(' \t\r\n'));

/** Looks at the first character that is not white space: `[` begins an array, anything else is one object a line. */
async function* items(chunks: AsyncIterable<Buffer>): AsyncGenerator<Item> {
  const source = chunks[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  let first: number | undefined;
  while (first === undefined) {
    const { done, value } = await source.next();
    if (done) return;
    head = Buffer.concat([head, value]);
    if (head.subarray(0, 3).equals(BYTE_ORDER_MARK)) head = head.subarray(3);
    first = head.find((byte) => !BLANK.has(byte));
  }
  const input = Readable.from(joined(head, source), { objectMode: false });
  yield* first === '['.charCodeAt(0) ? arrayItems(input) : lineItems(input);
}

async function* joined(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield head;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

async function* arrayItems(input: Readable): AsyncGenerator<Item> {
  const values = chain([input, parser(), streamArray()] as never) as unknown as AsyncIterable<{ key: number; value: unknown }>;
  try {
    for await (const { key, value } of values) yield { value, place: `entry ${key}` };
  } catch (error) {
    throw new WeirError('USAGE', `the file is not a JSON array: ${(error as Error).message}`);
  }
}

async function* lineItems(input: Readable): AsyncGenerator<Item> {
  let number = 0;
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    if (line.trim() !== '') yield { value: parseLine(line, number), place: `line ${number}` };
  }
}

function parseLine(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new WeirError('USAGE', `line ${number} is not JSON`);
  }
}
