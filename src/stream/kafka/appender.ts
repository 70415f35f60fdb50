import type { MessageRecord } from '@platformatic/kafka';
import { appendQueue, bytesOf, type PendingAppend, pendingAppend, type QueuedRecord } from './append-queue.ts';
import { isAnswer, reasonOf } from './fault.ts';
import { type ProducerIdentity, producerSession } from './producer-session.ts';

/** How long a batch waits for its acknowledgement, ms: the HTTP answer must come within 5 s. */
const PATIENCE = 4500;
/** How long after a failure a request is tried again, ms. */
const PAUSE = 200;

/** Answers to a request that holds more than the topic takes. */
const TOO_LARGE = ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE'];
/** Answers to a producer whose epoch is over or forgotten. */
const EPOCH_OVER = ['OUT_OF_ORDER_SEQUENCE_NUMBER', 'UNKNOWN_PRODUCER_ID', 'INVALID_PRODUCER_EPOCH'];

/** The requests that an appender sends to one partition. */
export interface PartitionLog {
  /** Asks the brokers for an identity. */
  newProducer(): Promise<ProducerIdentity>;
  /** Appends in one request; resolves when all in-sync replicas have it. `sequence` counts the producer's records in its epoch. */
  produce(records: MessageRecord[], producer: ProducerIdentity, sequence: number): Promise<void>;
}

/** Appends to one partition. */
export interface Appender {
  /** Appends in order; resolves when everything is acknowledged, rejects when it is not within 4.5 s. */
  append(records: readonly MessageRecord[]): Promise<void>;
  /** Rejects what waits and what comes later. */
  close(): void;
}

/**
 * An appender that has one request on its way at a time; records that arrive meanwhile share the next. A failed request is sent
 * again unchanged (producer, epoch, sequence), so that the broker appends it once. When no caller waits for it any more, the epoch
 * ends: a request that is still on its way then is refused, and cannot land behind a later one.
 */
export function openAppender(log: PartitionLog): Appender {
  const queue = appendQueue();
  const session = producerSession(() => log.newProducer());
  const waiting = new Set<PendingAppend>();
  let sending = false;
  let closed = false;
  /** Why the last request failed. */
  let trouble = 'no answer';

  const late = () => new Error(`Kafka has not acknowledged the messages within ${PATIENCE / 1000} s: ${trouble}`);

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

  /** A request that is too large is sent in parts; a single message is refused. */
  function makeSmaller(request: readonly QueuedRecord[]): void {
    if (request.length > 1) queue.split(request);
    else request[0].append.reject(new Error(`a message of ${bytesOf(request)} bytes is larger than the topic takes (max.message.bytes)`));
  }

  return {
    append(records) {
      if (closed) return Promise.reject(new Error('the stream is closed'));
      const append = pendingAppend(records.length, PATIENCE, late);
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
