/** One thread reads, others evaluate (SPEC D19.14). */
import { availableParallelism } from 'node:os';
import { type Count, emptyCount, mergeCounts } from '../../backtest/rule.ts';
import { decompressed, pieces, TOO_LONG } from '../../recording/bytes.ts';
import { remoteCalls } from '../threads/rpc.ts';
import { startJob } from './job.ts';
import type { JobMethods } from './table.ts';
import type { BacktestData } from './work/backtest-part.ts';

/** And queued parts per thread. */
const PART = 1024 * 1024;
const WAITING = 2;
const MOST_THREADS = 8;

/** `progress`: bytes read, requests evaluated. */
export async function backtest(
  data: BacktestData,
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
        // The least busy thread.
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

/** Similar parts; entries of a HAR have no line breaks. */
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
      // A placeholder that fails as a request.
      const line = piece === TOO_LONG ? 'a line that is too long' : piece.includes('\n') ? piece.replaceAll('\n', ' ') : piece;
      lines.push(line);
      length += line.length + 1;
      if (length >= PART) yield part();
    }
  }
  if (lines.length > 0) yield part();
}

function startThread(data: BacktestData) {
  const worker = startJob('backtestPart', data);
  const calls = remoteCalls<JobMethods<'backtestPart'>>(worker);
  const open = new Set<Promise<void>>();
  let failure: unknown;
  return {
    /** Parts not evaluated yet. */
    get waiting(): number {
      return open.size;
    },
    /** Resolves when the queue has space. */
    async take(bytes: Uint8Array, at: number): Promise<void> {
      const done = calls
        .take(bytes, at)
        .catch((error: unknown) => {
          failure ??= error;
        })
        .finally(() => open.delete(done));
      open.add(done);
      // The thread works in order: the first one ends first.
      while (open.size >= WAITING) await open.values().next().value;
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
