import { isUtf8 } from 'node:buffer';
import { type KafkaRecord, type MessageRecord, murmur2, type RecordsBatch } from '@platformatic/kafka';
import type { Message, StreamRecord } from '../../ports/stream.ts';

/** LogAppendTime; control records, such as the end of a transaction. */
const LOG_APPEND_TIME = 8;
const CONTROL = 32;

/** As Kafka's default partitioner: murmur2 without its sign. */
export const partitionOf = (key: string, partitions: number): number => (murmur2(key, true) & 0x7fffffff) % partitions;

export function toKafkaRecord(message: Message, topic: string, partition: number): MessageRecord {
  const headers = new Map(Object.entries(message.headers).map(([name, text]) => [Buffer.from(name), Buffer.from(text)]));
  return { topic, partition, key: Buffer.from(message.key), value: Buffer.from(message.value), headers };
}

/** Upper bound in a request, bytes: the parts, 5 for each length and 20 for the rest. */
export function sizeOf({ key, value, headers }: MessageRecord): number {
  let size = 30 + (key?.length ?? 0) + value.length;
  for (const [name, text] of headers ?? []) size += 10 + name.length + text.length;
  return size;
}

/** From `offset` on; `next` is the offset after all of them, including control records. */
export function decodeBatches(batches: readonly RecordsBatch[], offset: number): { records: StreamRecord[]; next: number } {
  const records: StreamRecord[] = [];
  let next = offset;
  for (const batch of batches) {
    const first = Number(batch.firstOffset);
    next = Math.max(next, first + batch.lastOffsetDelta + 1);
    if ((batch.attributes & CONTROL) !== 0) continue;
    for (const record of batch.records) {
      if (first + record.offsetDelta >= offset) records.push(toStreamRecord(record, first, timestampOf(batch, record)));
    }
  }
  return { records, next };
}

const toStreamRecord = ({ key, value, headers, offsetDelta }: KafkaRecord, first: number, timestamp: number): StreamRecord => ({
  offset: first + offsetDelta,
  timestamp,
  key: textOf(key),
  headers: headersOf(headers),
  value: textOf(value),
});

/** Of headers with one name the last counts; one without a value is absent (SPEC D46.7). */
function headersOf(headers: KafkaRecord['headers']): StreamRecord['headers'] {
  const last = new Map(headers.map(([name, value]) => [textOf(name), value]));
  return Object.fromEntries([...last].flatMap(([name, value]) => (value === null ? [] : [[name, textOf(value)]])));
}

const timestampOf = (batch: RecordsBatch, record: KafkaRecord): number =>
  Number((batch.attributes & LOG_APPEND_TIME) !== 0 ? batch.maxTimestamp : batch.firstTimestamp + record.timestampDelta);

/**
 * The bytes as text, '' for null. Invalid UTF-8 becomes `base64:…`, which no reader mistakes for JSON, an id or a version, and which can be
 * decoded.
 */
function textOf(bytes: Buffer | null): string {
  if (bytes === null) return '';
  return isUtf8(bytes) ? bytes.toString() : `base64:${bytes.toString('base64')}`;
}
