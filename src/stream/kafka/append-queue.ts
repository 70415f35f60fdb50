/** With their callers, for one partition. */
import type { MessageRecord } from '@platformatic/kafka';
import { sizeOf } from './record.ts';

/** At first, bytes; brokers accept 1 MiB by default. */
const REQUEST_BYTES = 900_000;

/** Records are acknowledged or refused together. */
export interface PendingAppend {
  readonly promise: Promise<void>;
  readonly settled: boolean;
  /** The last one resolves the promise. */
  acknowledge(): void;
  reject(error: Error): void;
}

/** After `patience` ms it rejects with the error that `timeoutError` makes. */
export function pendingAppend(count: number, patience: number, timeoutError: () => Error): PendingAppend {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let left = count;
  let settled = false;
  const settle = (end: () => void) => {
    clearTimeout(timer);
    settled = true;
    end();
  };
  const timer = setTimeout(() => settle(() => reject(timeoutError())), patience);
  return {
    promise,
    get settled() {
      return settled;
    },
    acknowledge() {
      left -= 1;
      if (left === 0) settle(resolve);
    },
    reject: (error) => settle(() => reject(error)),
  };
}

export interface QueuedRecord {
  readonly record: MessageRecord;
  readonly bytes: number;
  readonly append: PendingAppend;
}

/** In order of arrival, drained one request at a time. */
export function appendQueue() {
  let queue: QueuedRecord[] = [];
  let largest = REQUEST_BYTES;
  return {
    get isEmpty() {
      return queue.length === 0;
    },
    push(records: readonly MessageRecord[], append: PendingAppend): void {
      for (const record of records) queue.push({ record, bytes: sizeOf(record), append });
    },
    /** As many records as fit, at least one. Skips those whose callers have given up. */
    take(): QueuedRecord[] {
      const request: QueuedRecord[] = [];
      let bytes = 0;
      let at = 0;
      for (; at < queue.length; at += 1) {
        const queued = queue[at];
        if (queued.append.settled) continue;
        bytes += queued.bytes;
        if (request.length > 0 && bytes > largest) break;
        request.push(queued);
      }
      queue = queue.slice(at);
      return request;
    },
    /** Back to the front: it was too large; later requests have half the size. */
    split(request: readonly QueuedRecord[]): void {
      largest = bytesOf(request) / 2;
      queue = [...request, ...queue];
    },
  };
}

export const bytesOf = (request: readonly QueuedRecord[]): number => request.reduce((sum, { bytes }) => sum + bytes, 0);
