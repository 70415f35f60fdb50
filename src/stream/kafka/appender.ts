import type { MessageRecord } from '@platformatic/kafka';
import { appendQueue, bytesOf, type PendingAppend, pendingAppend, type QueuedRecord } from './append-queue.ts';
import { isAnswer, reasonOf } from './fault.ts';
import { type ProducerIdentity, producerSession } from './producer-session.ts';

/** Wait for the acknowledgement, ms: the HTTP response must be sent within 5 s. */
const PATIENCE = 4500;
/** Pause before a failed request is retried, ms. */
const PAUSE = 200;

/** Errors above the topic's limit. */
const TOO_LARGE = ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE'];
const EPOCH_OVER = ['OUT_OF_ORDER_SEQUENCE_NUMBER', 'UNKNOWN_PRODUCER_ID', 'INVALID_PRODUCER_EPOCH'];

export interface PartitionLog {
  /** Asks the brokers. */
  newProducer(): Promise<ProducerIdentity>;
  /** Sends one request; resolves when all in-sync replicas have it. `sequence` counts the producer's records in its epoch. */
  produce(records: MessageRecord[], producer: ProducerIdentity, sequence: number): Promise<void>;
}

export interface Appender {
  /** Appends in order. Resolves when everything is acknowledged; rejects after 4.5 s. */
  append(records: readonly MessageRecord[]): Promise<void>;
  /** Rejects waiting and later calls. */
  close(): void;
}

/**
 * One request in flight; records that arrive meanwhile share the next one. A failed request is retried unchanged (producer, epoch,
 * sequence), so the broker appends it once. When no caller waits any more, the epoch ends: the broker then refuses a request still in
 * flight, so it cannot land behind a later one.
 */
export function openAppender(log: PartitionLog): Appender {
  const queue = appendQueue();
  const session = producerSession(() => log.newProducer());
  const waiting = new Set<PendingAppend>();
  let sending = false;
  let closed = false;
  let trouble = 'no answer';

  const timeoutError = () => new Error(`Kafka has not acknowledged the messages within ${PATIENCE / 1000} s: ${trouble}`);

  async function sendAll(): Promise<void> {
    if (sending) return;
    sending = true;
    while (!queue.isEmpty) {
      const request = queue.take();
      if (request.length > 0) await send(request);
    }
    sending = false;
  }

  async function send(request: readonly QueuedRecord[]): Promise<void> {
    const records = request.map(({ record }) => record);
    while (request.some(({ append }) => !append.settled)) {
      try {
        await log.produce(records, await session.identity(), session.sequence);
        session.advance(records.length);
        for (const { append } of request) append.acknowledge();
        trouble = 'no answer';
        return;
      } catch (error) {
        if (isAnswer(error, ...TOO_LARGE)) return makeSmaller(request);
        trouble = reasonOf(error);
        if (isAnswer(error, ...EPOCH_OVER)) session.endEpoch();
        await new Promise((resolve) => setTimeout(resolve, PAUSE));
      }
    }
    session.endEpoch();
  }

  /** A single message is refused. */
  function makeSmaller(request: readonly QueuedRecord[]): void {
    if (request.length > 1) queue.split(request);
    else request[0].append.reject(new Error(`a message of ${bytesOf(request)} bytes is larger than the topic allows (max.message.bytes)`));
  }

  return {
    append(records) {
      if (closed) return Promise.reject(new Error('the stream is closed'));
      const append = pendingAppend(records.length, PATIENCE, timeoutError);
      waiting.add(append);
      queue.push(records, append);
      void sendAll();
      return append.promise.finally(() => waiting.delete(append));
    },
    close() {
      closed = true;
      for (const append of waiting) append.reject(new Error('the stream is closed'));
    },
  };
}
