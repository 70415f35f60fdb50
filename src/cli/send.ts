import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { SingleBar } from 'cli-progress';
import chain from 'stream-chain';
import { parser } from 'stream-json';
import { streamArray } from 'stream-json/streamers/stream-array.js';
import type { Context } from './context.ts';
import type { AddCommand } from './program.ts';
import { UsageError } from './usage.ts';

const BATCH = 1000;
/** Tries of one batch on 429, 5xx and a connection that fails; the pauses double from the first on. */
const TRIES = 8;
const FIRST_PAUSE = 250;
const MOST_PAUSE = 15_000;

type Version = 1 | 2;
interface Signal {
  /** Number of the entry in the file, from 1. */
  readonly number: number;
  readonly value: Record<string, unknown>;
}
interface Answer {
  readonly message?: string;
  readonly errors?: string[];
}

/** What `weir send` did; `failed` holds one line an entry. */
interface Sent {
  sent: number;
  failed: string[];
}

export function sendCommand(add: AddCommand): void {
  add(
    'send <file>',
    'send a file of signals, a JSON array or one JSON object a line; "-" reads standard input',
    (c) =>
      c
        .requiredOption('--url <url>', 'address of the service, such as http://127.0.0.1:8080')
        .option('--key <key>', 'API key; also from WEIR_API_KEY'),
    {
      async run(context, [file], options) {
        if (!URL.canParse(options.url)) throw new UsageError(`--url must be an address, not "${options.url}"`);
        const key = options.key ?? context.environment.WEIR_API_KEY;
        if (!key) throw new UsageError('give an API key with --key or in WEIR_API_KEY');
        const sent = await sendFile(context, file, new URL(options.url), key);
        if (sent.failed.length > 0) context.exitCode = 1;
        return sent;
      },
      show: ({ sent, failed }) => [...failed, `${sent} signals processed, ${failed.length} failed`].join('\n'),
    },
  );
}

async function sendFile(context: Context, file: string, url: URL, key: string): Promise<Sent> {
  const total = file === '-' ? 0 : (await readable(file)).size;
  const first = file === '-' ? undefined : await firstCharacter(file);
  // Nothing is awaited from here to the first read: the listener makes the bytes flow.
  const input = file === '-' ? process.stdin : createReadStream(file);
  let bytes = 0;
  input.on('data', (chunk: Buffer | string) => {
    bytes += chunk.length;
  });
  const bar = new SingleBar({
    stream: context.stderr,
    noTTYOutput: true,
    notTTYSchedule: 5000,
    format: 'sending {bar} {percentage}% | {signals} signals | {failed} failed',
    hideCursor: true,
  });
  const result: Sent = { sent: 0, failed: [] };
  bar.start(Math.max(total, 1), 0, { signals: 0, failed: 0 });
  try {
    let version: Version | undefined;
    for await (const batch of batches(signals(input, first))) {
      for (const signal of batch) version = sameVersion(version, signal, file);
      const from = batch[0].number;
      const answer = await post(
        new URL(`/v${version}/signal`, url),
        key,
        batch.map((signal) => signal.value),
      );
      const errors = answer.errors ?? [];
      result.sent += batch.length - errors.length;
      result.failed.push(...errors.map((error) => inFile(error, from)));
      bar.update(Math.min(bytes, total), { signals: result.sent, failed: result.failed.length });
    }
    bar.update(Math.max(total, 1));
  } finally {
    bar.stop();
  }
  return result;
}

async function readable(file: string): Promise<{ size: number }> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined || !found.isFile()) throw new UsageError(`the file "${file}" cannot be read`);
  return found;
}

/** The first character of a file that is not white space: `[` begins an array. */
async function firstCharacter(file: string): Promise<string> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4096), 0, 4096, 0);
    return buffer
      .toString('utf8', 0, bytesRead)
      .replace(/^\uFEFF/, '')
      .trimStart()
      .charAt(0);
  } finally {
    await handle.close();
  }
}

/** The signals of an input one by one, in constant memory. Standard input must hold one object a line. */
async function* signals(input: NodeJS.ReadableStream, first: string | undefined): AsyncIterable<Signal> {
  let number = 0;
  for await (const value of first === '[' ? arrayItems(input) : lineItems(input)) {
    number += 1;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new UsageError(`entry ${number} is not an object`);
    yield { number, value: value as Record<string, unknown> };
  }
}

async function* arrayItems(input: NodeJS.ReadableStream): AsyncIterable<unknown> {
  try {
    const items = chain([input as Readable, parser(), streamArray()] as never) as unknown as AsyncIterable<{ value: unknown }>;
    for await (const { value } of items) yield value;
  } catch (error) {
    throw new UsageError(`the file is not a JSON array: ${(error as Error).message}`);
  }
}

async function* lineItems(input: NodeJS.ReadableStream): AsyncIterable<unknown> {
  let number = 0;
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    const text = line.replace(/^\uFEFF/, '');
    if (text.trim() === '') continue;
    try {
      yield JSON.parse(text);
    } catch {
      throw new UsageError(`line ${number} is not JSON`);
    }
  }
}

async function* batches(items: AsyncIterable<Signal>): AsyncIterable<Signal[]> {
  let batch: Signal[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length === BATCH) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

/** An object with `kind` goes to v2, with `type` to v1; all of a file go the same way. */
function sameVersion(before: Version | undefined, { number, value }: Signal, file: string): Version {
  const version: Version | undefined = 'kind' in value ? 2 : 'type' in value ? 1 : undefined;
  if (version === undefined) throw new UsageError(`entry ${number} of ${file} has neither "kind" (v2) nor "type" (v1)`);
  if (before !== undefined && before !== version) {
    throw new UsageError(`entry ${number} of ${file} is a v${version} signal in a file of v${before} signals; send them as two files`);
  }
  return version;
}

/** Entry numbers of an answer count from the batch's start; the reader wants the one in the file, from 0 as well. */
function inFile(error: string, first: number): string {
  return error.replace(/^Entry (\d+):/, (_, index: string) => `Entry ${first - 1 + Number(index)}:`);
}

async function post(url: URL, key: string, entries: readonly unknown[]): Promise<Answer> {
  const body = JSON.stringify(entries);
  for (let attempt = 1; ; attempt += 1) {
    const pause = Math.min(FIRST_PAUSE * 2 ** (attempt - 1), MOST_PAUSE);
    let reason: string;
    let wait = pause;
    try {
      const response = await fetch(url, {
        method: 'POST',
        body,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      });
      const text = await response.text();
      if (response.status === 200 || response.status === 206) return JSON.parse(text) as Answer;
      reason = `${url} answered ${response.status}: ${explain(text)}`;
      if (response.status !== 429 && response.status < 500) throw new UsageError(reason);
      wait = Math.max(pause, Number(response.headers.get('retry-after') ?? 0) * 1000);
    } catch (error) {
      if (error instanceof UsageError) throw error;
      reason = `${url} cannot be reached: ${((error as Error).cause as Error | undefined)?.message ?? (error as Error).message}`;
    }
    if (attempt === TRIES) throw new UsageError(`${reason} (given up after ${TRIES} tries)`);
    await sleep(wait);
  }
}

function explain(text: string): string {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? text;
  } catch {
    return text.slice(0, 200);
  }
}
