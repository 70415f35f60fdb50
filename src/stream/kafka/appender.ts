import type { MessageRecord } from '@platformatic/kafka';
import { isAnswer, reasonOf } from './fault.ts';
import { sizeOf } from './record.ts';

/** How long a batch waits for its acknowledgement, ms: the answer over HTTP must come within 5 s. */
const PATIENCE = 4500;
const PAUSE = 200;
/** What a request holds at first, bytes; brokers take 1 MiB unless they are told otherwise. */
const REQUEST_BYTES = 900_000;
const LAST_EPOCH = 32_767;
const SEQUENCES = 2 ** 31;

/** Who appends: brokers refuse what comes out of turn, and everything of an epoch that is over. */
export interface ProducerIdentity {
  readonly id: bigint;
  readonly epoch: number;
}

/** One partition of the topic. */
export interface PartitionLog {
  newProducer(): Promise<ProducerIdentity>;
  /** Appends in one request; resolves when all in-sync replicas have it. `sequence` counts the producer's records in its epoch. */
  produce(records: MessageRecord[], producer: ProducerIdentity, sequence: number): Promise<void>;
}

export interface Appender {
  /** Appends in order; resolves when everything is acknowledged, rejects when it is not within 4.5 s. */
  append(records: readonly MessageRecord[]): Promise<void>;
  close(): void;
}

/** The records of one call of `append`: how many are not acknowledged yet, and whether its caller has had its answer. */
interface Share {
  left: number;
  settled: boolean;
  readonly settle: (error?: Error) => void;
}
interface Entry {
  readonly record: MessageRecord;
  readonly bytes: number;
  readonly share: Share;
}

/**
 * Appends to one partition, one request at a time; what arrives meanwhile shares the next. A request is tried again as the
 * same one (producer, epoch, sequence), so that the broker appends it once, until nobody waits for it. Then the epoch ends:
 * should the request still be on its way, it cannot land behind a later one.
 */
export function openAppender(log: PartitionLog): Appender {
  const waiting = new Set<Share>();
  let queue: Entry[] = [];
  let running = false;
  let closed = false;
  let most = REQUEST_BYTES;
  let producer: ProducerIdentity | undefined;
  let sequence = 0;
  let trouble = 'no answer';

  function open(count: number): { share: Share; done: Promise<void> } {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const share: Share = {
      left: count,
      settled: false,
      settle(error) {
        clearTimeout(timer);
        waiting.delete(share);
        share.settled = true;
        if (error === undefined) resolve();
        else reject(error);
      },
    };
    const late = () => share.settle(new Error(`Kafka has not acknowledged the messages within ${PATIENCE / 1000} s: ${trouble}`));
    const timer = setTimeout(late, PATIENCE);
    waiting.add(share);
    return { share, done: promise };
  }

  /** The next request: as many records as fit, without those whose caller has had its answer. */
  function take(): Entry[] {
    const entries: Entry[] = [];
    let bytes = 0;
    let at = 0;
    for (; at < queue.length; at += 1) {
      const entry = queue[at];
      if (entry.share.settled) continue;
      bytes += entry.bytes;
      if (entries.length > 0 && bytes > most) break;
      entries.push(entry);
    }
    queue = queue.slice(at);
    return entries;
  }

  async function drain(): Promise<void> {
    if (running) return;
    running = true;
    while (queue.length > 0) {
      const entries = take();
      if (entries.length > 0) await send(entries);
    }
    running = false;
  }

  async function send(entries: readonly Entry[]): Promise<void> {
    const records = entries.map((entry) => entry.record);
    while (entries.some((entry) => !entry.share.settled)) {
      try {
        producer ??= await log.newProducer();
        await log.produce(records, producer, sequence);
        sequence = (sequence + records.length) % SEQUENCES;
        for (const { share } of entries) {
          share.left -= 1;
          if (share.left === 0) share.settle();
        }
        trouble = 'no answer';
        return;
      } catch (error) {
        if (isAnswer(error, 'MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE')) return refuse(entries);
        trouble = reasonOf(error);
        if (isAnswer(error, 'OUT_OF_ORDER_SEQUENCE_NUMBER', 'UNKNOWN_PRODUCER_ID', 'INVALID_PRODUCER_EPOCH')) endEpoch();
        await new Promise((resolve) => setTimeout(resolve, PAUSE));
      }
    }
    endEpoch();
  }

  function refuse(entries: readonly Entry[]): void {
    const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
    if (entries.length > 1) {
      most = bytes / 2;
      queue = [...entries, ...queue];
    } else {
      entries[0].share.settle(new Error(`a message of ${bytes} bytes is larger than the topic takes (max.message.bytes)`));
    }
  }

  function endEpoch(): void {
    producer = producer === undefined || producer.epoch === LAST_EPOCH ? undefined : { id: producer.id, epoch: producer.epoch + 1 };
    sequence = 0;
  }

  return {
    append(records) {
      if (closed) return Promise.reject(new Error('the stream is closed'));
      const { share, done } = open(records.length);
      for (const record of records) queue.push({ record, bytes: sizeOf(record), share });
      void drain();
      return done;
    },
    close() {
      closed = true;
      for (const share of waiting) share.settle(new Error('the stream is closed'));
    },
  };
}
