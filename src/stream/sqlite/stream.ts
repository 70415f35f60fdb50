import { Worker } from 'node:worker_threads';
import type { Draft, Message, Stream, StreamReader, StreamRecord } from '../../ports/stream.ts';
import { shrinkSlice } from '../../sqlite-shrink.ts';
import type { AppenderData, AppendReply, AppendRequest, DiscardRequest } from './appender.thread.ts';
import { encodeBatch, logReader, openLog, ROW, streamFile, trimLog } from './log.ts';

/** Checks for appends of other processes, ms. */
const POLL = 100;

/** Readers in other threads of the process wake immediately. */
export const newAppendCount = (): SharedArrayBuffer => new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);

/**
 * One partition in `stream.db`. A thread appends; any process may read. Readers wake immediately for appends of streams with the same
 * `appended`.
 */
export function openSqliteStream(dataDir: string, appended: SharedArrayBuffer = newAppendCount()): Stream {
  const file = streamFile(dataDir);
  const db = openLog(file);
  const reader = logReader(db);
  let appender: Appender | undefined;
  /** Restarted if its thread has ended. */
  const running = () => {
    if (appender === undefined || appender.dead) appender = startAppender(file, appended);
    return appender;
  };

  return {
    id: async () => reader.id(),
    async publish(messages) {
      const draft = running().draft();
      for (const message of messages) draft.push(message);
      await draft.publish();
    },
    draft: () => running().draft(),
    bounds: async () => reader.bounds(),
    partitions: async () => 1,
    join: async () => joinLog(file, appended),
    async trim(_partition, before, landed, limit, most) {
      const removed = trimLog(db, before, landed, limit, most);
      return shrinkSlice(db) ? Math.max(removed, 1) : removed;
    },
    async ping() {
      reader.bounds();
    },
    probe: () => running().probe(),
    async close() {
      await appender?.close();
      db.close();
    },
  };
}

interface Appender {
  draft(): Draft;
  /** Rejects if no message could be appended. */
  probe(): Promise<void>;
  readonly dead: boolean;
  close(): Promise<void>;
}

function startAppender(file: string, appended: SharedArrayBuffer): Appender {
  const worker = new Worker(new URL('./appender.thread.ts', import.meta.url), {
    name: 'appender',
    workerData: { file, appended } satisfies AppenderData,
    // Messages to this thread are outside of its heap, or short-lived (MB).
    resourceLimits: { maxYoungGenerationSizeMb: 12 },
  });
  const waiting = new Map<number, { resolve: () => void; reject: (error: Error) => void }>();
  let next = 0;
  let dead: Error | undefined;
  const die = (error: Error) => {
    dead ??= error;
    for (const call of waiting.values()) call.reject(dead);
    waiting.clear();
  };
  worker.on('message', ({ ids, error }: AppendReply) => {
    for (const id of ids) {
      // A thread that fails right after its reply may report the failure first: the call was rejected then.
      const call = waiting.get(id);
      waiting.delete(id);
      if (error === undefined) call?.resolve();
      else call?.reject(new Error(`the stream's file cannot be written: ${error}`));
    }
  });
  worker.on('error', (error: Error) => die(error));
  const exited = new Promise<void>((resolve) => {
    worker.on('exit', () => {
      die(new Error('the appending thread has ended'));
      resolve();
    });
  });
  /** Of a draft, or a probe. */
  const send = (id: number, batch: AppendRequest['batch']) =>
    new Promise<void>((resolve, reject) => {
      if (dead !== undefined) return reject(dead);
      waiting.set(id, { resolve, reject });
      worker.postMessage({ id, batch, more: false } satisfies AppendRequest);
    });

  function draft(): Draft {
    next += 1;
    const id = next;
    let length = 0;
    let published = false;
    /** The row being filled. */
    let row: Message[] = [];
    let size = 0;
    return {
      get length() {
        return length;
      },
      push(message) {
        // Send a full row only when the next message arrives: the last row ends the draft.
        if (size >= ROW) {
          const { count, text } = encodeBatch(row);
          const bytes = new TextEncoder().encode(text);
          worker.postMessage({ id, batch: { count, text: bytes }, more: true } satisfies AppendRequest, [bytes.buffer]);
          row = [];
          size = 0;
        }
        row.push(message);
        size += message.value.length;
        length += 1;
      },
      async publish() {
        published = true;
        if (length > 0) await send(id, encodeBatch(row));
      },
      discard() {
        if (!published && length > row.length) worker.postMessage({ id, discard: true } satisfies DiscardRequest);
      },
    };
  }

  return {
    draft,
    probe() {
      next += 1;
      return send(next, undefined);
    },
    get dead() {
      return dead !== undefined;
    },
    async close() {
      worker.postMessage('close');
      await exited;
    },
  };
}

/** A reader of the single partition. */
function joinLog(file: string, appended: SharedArrayBuffer): StreamReader {
  const db = openLog(file);
  const log = logReader(db);
  const appends = new Int32Array(appended);
  let stopWaiting: (() => void) | undefined;
  let closed = false;

  /** Resolves once the counter exceeds `seen`, or after `ms`. */
  const nextAppend = (seen: number, ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      stopWaiting = () => {
        clearTimeout(timer);
        resolve();
      };
      const next = Atomics.waitAsync(appends, 0, seen, ms);
      if (next.async) void next.value.then(stopWaiting);
      else stopWaiting();
    });

  /** A read that found nothing is not repeated before the next commit. */
  let nothing: { readonly offset: number; readonly version: number } | undefined;
  const readNew = (offset: number, max: number): StreamRecord[] => {
    const version = log.version();
    if (nothing?.offset === offset && nothing.version === version) return [];
    const records = log.read(offset, max);
    nothing = records.length === 0 ? { offset, version } : undefined;
    return records;
  };

  return {
    owned: () => (closed ? [] : [0]),
    async read(_partition, offset, max, waitMs) {
      const deadline = performance.now() + waitMs;
      while (!closed) {
        const seen = Atomics.load(appends, 0);
        const records = readNew(offset, max);
        const left = deadline - performance.now();
        if (records.length > 0 || left <= 0) return records;
        await nextAppend(seen, Math.min(POLL, left));
      }
      return [];
    },
    async close() {
      closed = true;
      stopWaiting?.();
      db.close();
    },
  };
}
