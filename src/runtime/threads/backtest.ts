/** Runs a backtest on threads: one reads, the others judge (SPEC D19.14). */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { type Count, emptyCount, mergeCounts, type TestedRule } from '../../backtest/rule.ts';
import { decompressed, pieces, TOO_LONG } from '../../recording/bytes.ts';
import type { View } from '../../recording/view.ts';
import type { ExpressionKind } from '../../rule.ts';
import type { GeoTables } from './backtest-geo.ts';
import { remoteCalls } from './rpc.ts';

/** What a thread works with. */
export interface BacktestThreadData {
  readonly rules: readonly TestedRule[];
  readonly kind: ExpressionKind;
  readonly view: View;
  readonly schemesFile: string | undefined;
  /** To tell country and ASN of clients; undefined where no rule reads them. */
  readonly geo: GeoTables | undefined;
}

export interface BacktestThreadMethods {
  /** Judges lines; the first has the place `at` in the recording. */
  take(bytes: Uint8Array, at: number): Promise<void>;
  count(): Promise<Count>;
}

/** Bytes that are handed over at a time, and how many such parts wait at a thread. */
const PART = 1024 * 1024;
const WAITING = 2;
const MOST_THREADS = 8;

/** Judges recordings; `progress` is told how many bytes of them have been read, and how many requests were judged so far. */
export async function backtest(
  data: BacktestThreadData,
  recordings: AsyncIterable<AsyncIterable<Buffer>>,
  progress: (bytes: number) => void = () => {},
): Promise<Count> {
  const threads = Array.from({ length: Math.min(MOST_THREADS, availableParallelism()) }, () => startThread(data));
  try {
    let at = 0;
    let bytes = 0;
    for await (const recording of recordings) {
      const counted = countBytes(recording, (read) => {
        bytes += read;
        progress(bytes);
      });
      for await (const part of partsOf(counted)) {
        // The thread that has least to do takes it.
        const thread = threads.reduce((least, other) => (other.waiting < least.waiting ? other : least));
        await thread.take(part.bytes, at);
        at += part.lines;
      }
    }
    const total = emptyCount(data.rules.length);
    for (const thread of threads) mergeCounts(total, await thread.count());
    return total;
  } finally {
    await Promise.all(threads.map((thread) => thread.end()));
  }
}

async function* countBytes(chunks: AsyncIterable<Buffer>, read: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    read(chunk.length);
    yield chunk;
  }
}

/** Lines joined to parts of about the same size; those of a HAR's entries have no line breaks of their own. */
async function* partsOf(recording: AsyncIterable<Buffer>): AsyncGenerator<{ bytes: Uint8Array; lines: number }> {
  let lines: string[] = [];
  let length = 0;
  const part = () => {
    const bytes = Buffer.from(lines.join('\n'), 'latin1');
    const made = { bytes: new Uint8Array(bytes), lines: lines.length };
    [lines, length] = [[], 0];
    return made;
  };
  for await (const found of pieces(decompressed(recording))) {
    for (const piece of found) {
      // A line that is too long is no request: what stands for it says so when it is read.
      const line = piece === TOO_LONG ? 'a line that is too long' : piece.includes('\n') ? piece.replaceAll('\n', ' ') : piece;
      lines.push(line);
      length += line.length + 1;
      if (length >= PART) yield part();
    }
  }
  if (lines.length > 0) yield part();
}

function startThread(data: BacktestThreadData) {
  const worker = new Worker(new URL('./backtest.thread.ts', import.meta.url), {
    workerData: data,
    resourceLimits: { maxYoungGenerationSizeMb: 24 },
  });
  const calls = remoteCalls<BacktestThreadMethods>(worker);
  const open = new Set<Promise<void>>();
  let failure: unknown;
  return {
    /** Parts that it has not judged yet. */
    get waiting(): number {
      return open.size;
    },
    /** Hands over a part; resolves when there is room for another. */
    async take(bytes: Uint8Array, at: number): Promise<void> {
      const done = calls
        .take(bytes, at)
        .catch((error: unknown) => {
          failure ??= error;
        })
        .finally(() => open.delete(done));
      open.add(done);
      while (open.size >= WAITING) await Promise.race(open);
      if (failure !== undefined) throw failure;
    },
    async count() {
      await Promise.all(open);
      if (failure !== undefined) throw failure;
      return calls.count();
    },
    end: () => worker.terminate(),
  };
}
