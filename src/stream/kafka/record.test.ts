import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KafkaRecord, RecordsBatch } from '@platformatic/kafka';
import { decodeSignalRecord } from '../../signal/message/decode.ts';
import { decodeBatches, partitionOf, sizeOf, toKafkaRecord } from './record.ts';

const record = (offsetDelta: number, rest: Partial<KafkaRecord> = {}): KafkaRecord => ({
  length: 0,
  attributes: 0,
  timestampDelta: BigInt(offsetDelta),
  offsetDelta,
  key: Buffer.from('w1'),
  value: Buffer.from(`{"n":${offsetDelta}}`),
  headers: [],
  ...rest,
});
const batch = (firstOffset: number, records: KafkaRecord[], rest: Partial<RecordsBatch> = {}): RecordsBatch => ({
  firstOffset: BigInt(firstOffset),
  length: 0,
  partitionLeaderEpoch: 0,
  magic: 2,
  crc: 0,
  attributes: 0,
  lastOffsetDelta: Math.max(0, ...records.map((one) => one.offsetDelta)),
  firstTimestamp: 1000n,
  maxTimestamp: 5000n,
  producerId: -1n,
  producerEpoch: -1,
  firstSequence: -1,
  records,
  ...rest,
});

test('6 a key has the partition that every other Kafka client picks for it', () => {
  // Hashes that Kafka's own tests expect of murmur2, without their sign.
  const hashes = {
    '21': -973_932_308,
    foobar: -790_332_482,
    'a-little-bit-long-string': -985_981_536,
    'a-little-bit-longer-string': -1_486_304_829,
    lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8: -58_897_971,
    abc: 479_470_107,
  };
  for (const [key, hash] of Object.entries(hashes)) {
    for (const partitions of [1, 3, 12, 1000]) assert.equal(partitionOf(key, partitions), (hash & 0x7fffffff) % partitions);
  }
});

test('6 a message is encoded as UTF-8 and its size is never guessed too small', () => {
  const message = { key: 'w1', headers: { workspace_id: 'w1', signal_id: 'ü' }, value: '{"text":"𝄞"}' };
  const encoded = toKafkaRecord(message, 'signals', 3);
  assert.deepEqual([encoded.topic, encoded.partition, encoded.value.toString()], ['signals', 3, message.value]);
  const bytes = [message.key, message.value, ...Object.entries(message.headers).flat()].reduce(
    (sum, text) => sum + Buffer.byteLength(text),
    0,
  );
  assert.ok(sizeOf(encoded) >= bytes && sizeOf(encoded) < bytes + 60);
});

test('6 records before the offset are left out, control records are skipped and counted', () => {
  const control = batch(13, [record(0)], { attributes: 0x20 });
  const found = decodeBatches([batch(10, [record(0), record(1), record(2)]), control, batch(14, [record(0)])], 11);
  assert.deepEqual(
    found.records.map(({ offset, timestamp, value }) => [offset, timestamp, value]),
    [
      [11, 1001, '{"n":1}'],
      [12, 1002, '{"n":2}'],
      [14, 1000, '{"n":0}'],
    ],
  );
  assert.equal(found.next, 15);
  assert.deepEqual(decodeBatches([control], 13), { records: [], next: 14 });
  assert.deepEqual(decodeBatches([], 13), { records: [], next: 13 });
});

test('6 a topic that stamps records as they are appended gives all of a batch its time', () => {
  const { records } = decodeBatches([batch(0, [record(0), record(1)], { attributes: 0x08 })], 0);
  assert.deepEqual(
    records.map(({ timestamp }) => timestamp),
    [5000, 5000],
  );
});

test('D4 D46.7 what is no UTF-8, and what is not there at all, is never another text; a header without a value is absent', () => {
  const headers: KafkaRecord['headers'] = [
    [Buffer.from('workspace_id'), Buffer.from([0xc3, 0x28])],
    [Buffer.from('__proto__'), Buffer.from('x')],
    [Buffer.from('list_id'), Buffer.from('edge')],
    [Buffer.from('list_id'), null],
    [Buffer.from('schema_version'), null],
  ];
  const [found] = decodeBatches([batch(0, [record(0, { key: null, value: Buffer.from([0xff, 0x00]), headers })])], 0).records;
  assert.equal(found.value, 'base64:/wA=');
  assert.equal(found.key, '');
  assert.deepEqual(Object.entries(found.headers), [
    ['workspace_id', 'base64:wyg='],
    ['__proto__', 'x'],
  ]);
  const event = Buffer.from('{"type":"access_rules","action":"block","ip":"192.0.2.1"}');
  const names = ['schema_version', 'list_id', 'received_at', 'signal_id', 'key_id', 'source_id', 'actor', 'person'];
  const sparse = record(0, {
    value: event,
    headers: [[Buffer.from('workspace_id'), Buffer.from('w')], ...names.map((name) => [Buffer.from(name), null] as [Buffer, null])],
  });
  const [message] = decodeBatches([batch(0, [sparse], { firstTimestamp: BigInt(Date.UTC(2026, 1)) })], 0).records;
  assert.ok('change' in decodeSignalRecord(message));
  const [bom] = decodeBatches([batch(0, [record(0, { value: Buffer.from('\uFEFF{}') })])], 0).records;
  assert.equal(bom.value, '\uFEFF{}');
});
