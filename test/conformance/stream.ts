import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Message, Stream, StreamReader, StreamRecord } from '../../src/ports/stream.ts';
import { eventually } from '../support/weir.ts';

interface StreamDriver {
  readonly name: string;
  /** Opens a stream on a log of its own that is empty; `again` opens a second handle on the same log. */
  open(t: TestContext): Promise<{ stream: Stream; again: () => Promise<Stream> }>;
}

const message = (n: number, key = 'w1'): Message => ({
  key,
  headers: { workspace_id: key, signal_id: String(n) },
  value: JSON.stringify({ n, text: 'ü\u0000" \n𝄞' }),
});

/** Small pages show that reading goes on where it stopped. */
async function readAll(stream: Stream, reader: StreamReader, want: number, page = 7): Promise<StreamRecord[]> {
  const records: StreamRecord[] = [];
  const deadline = Date.now() + 60_000;
  const at = new Map<number, number>();
  while (records.length < want && Date.now() < deadline) {
    for (const partition of reader.owned()) {
      const from = at.get(partition) ?? (await stream.bounds(partition)).start;
      const read = await reader.read(partition, from, page, 200);
      at.set(partition, read.length === 0 ? from : read[read.length - 1].offset + 1);
      records.push(...read);
    }
    if (reader.owned().length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return records;
}

const numbers = (records: readonly StreamRecord[]) => records.map((record) => Number(record.headers.signal_id));

/** What every stream driver must do (spec 6, decisions 4). */
export function streamConformance({ name, open }: StreamDriver): void {
  test(`6 stream ${name}: messages come back as they were, in the order of their key`, async (t) => {
    const { stream } = await open(t);
    await stream.publish([1, 2, 3].map((n) => message(n)));
    await stream.publish([message(4)]);
    const reader = await eventually(() => stream.join());
    t.after(() => reader.close());
    const records = await readAll(stream, reader, 4);
    assert.deepEqual(numbers(records), [1, 2, 3, 4]);
    assert.deepEqual(
      records.map(({ key, headers, value }) => ({ key, headers, value })),
      [1, 2, 3, 4].map((n) => message(n)),
    );
    for (const [i, record] of records.entries()) {
      assert.equal(record.offset, records[0].offset + i);
      assert.ok(Math.abs(Date.now() - record.timestamp) < 60_000);
    }
  });

  test(`6 stream ${name}: batches published at the same time keep their inner order and lose nothing`, async (t) => {
    const { stream, again } = await open(t);
    const other = await again();
    const batches = Array.from({ length: 40 }, (_, b) => Array.from({ length: 25 }, (_, i) => message(b * 25 + i)));
    await Promise.all(batches.map((batch, b) => (b % 2 === 0 ? stream : other).publish(batch)));
    const reader = await eventually(() => stream.join());
    t.after(() => reader.close());
    const seen = numbers(await readAll(stream, reader, 1000));
    assert.deepEqual(
      seen.toSorted((a, b) => a - b),
      Array.from({ length: 1000 }, (_, i) => i),
    );
    for (let b = 0; b < 40; b += 1) {
      const own = seen.filter((n) => Math.floor(n / 25) === b);
      assert.deepEqual(
        own,
        own.toSorted((x, y) => x - y),
      );
    }
  });

  test(`6 stream ${name}: a reader starts at any offset and waits for what is not there yet`, async (t) => {
    const { stream } = await open(t);
    const reader = await eventually(() => stream.join());
    t.after(() => reader.close());
    await stream.publish([message(0), message(1), message(2)]);
    const [first] = await readAll(stream, reader, 3);
    const partition = await partitionOf(stream);
    assert.deepEqual(numbers(await reader.read(partition, first.offset + 2, 10, 1000)), [2]);
    const end = first.offset + 3;
    assert.deepEqual(await reader.read(partition, end, 10, 50), []);
    const waiting = reader.read(partition, end, 10, 10_000);
    await stream.publish([message(3)]);
    assert.deepEqual(numbers(await waiting), [3]);
  });

  test(`6 stream ${name}: bounds tell the oldest kept and the next offset; an empty batch appends nothing`, async (t) => {
    const { stream } = await open(t);
    const partition = 0;
    const before = await stream.bounds(partition);
    assert.equal(before.start, before.end);
    await stream.publish([]);
    assert.deepEqual(await stream.bounds(partition), before);
  });

  test(`6 stream ${name}: its id stays the same for the same log`, async (t) => {
    const { stream, again } = await open(t);
    const other = await again();
    assert.equal(await stream.id(), await other.id());
    assert.match(await stream.id(), /^\S{10,}$/);
  });

  test(`8 stream ${name}: a batch of 1000 entries of the largest size is appended whole and in order`, async (t) => {
    const big = Array.from({ length: 1000 }, (_, n) => ({ ...message(n), value: JSON.stringify({ n, text: 'x'.repeat(16_000) }) }));
    // A machine that is busy with other things may not store so much in the time that an append has. What was refused may be there all the same.
    const stream = await eventually(async () => {
      const opened = await open(t);
      await opened.stream.publish(big);
      return opened.stream;
    });
    const reader = await eventually(() => stream.join());
    t.after(() => reader.close());
    const records = await readAll(stream, reader, 1000, 1000);
    assert.deepEqual(
      numbers(records),
      big.map((_, n) => n),
    );
    assert.equal(records[999].value.length, big[999].value.length);
  });

  test(`D3.1 stream ${name}: a draft is appended whole and in order once it is published, and not at all when it is discarded`, async (t) => {
    const { stream } = await open(t);
    const large = (n: number) => ({ ...message(n), value: JSON.stringify({ n, text: 'x'.repeat(60_000) }) });
    const [kept, dropped, empty] = [stream.draft(), stream.draft(), stream.draft()];
    for (let n = 0; n < 40; n += 1) {
      kept.push(large(n));
      dropped.push(large(1000 + n));
    }
    assert.deepEqual([kept.length, dropped.length, empty.length], [40, 40, 0]);
    dropped.discard();
    await empty.publish();
    await stream.publish([message(100)]);
    await kept.publish();
    kept.discard();
    await stream.publish([message(101)]);
    const reader = await eventually(() => stream.join());
    t.after(() => reader.close());
    const expected = [100, ...Array.from({ length: 40 }, (_, n) => n), 101];
    assert.deepEqual(numbers(await readAll(stream, reader, expected.length)), expected);
  });

  test(`D1.21 stream ${name}: a probe succeeds while messages can be appended, and leaves nothing`, async (t) => {
    const { stream } = await open(t);
    await stream.publish([message(1)]);
    const reader = await eventually(() => stream.join());
    t.after(() => reader.close());
    const [first] = await readAll(stream, reader, 1);
    await stream.probe();
    await stream.publish([message(2, first!.key)]);
    await stream.probe();
    assert.deepEqual(numbers(await readAll(stream, reader, 2)), [1, 2]);
    const bounds = await Promise.all(Array.from({ length: await stream.partitions() }, (_, partition) => stream.bounds(partition)));
    assert.equal(
      bounds.reduce((sum, { start, end }) => sum + end - start, 0),
      2,
    );
  });

  test(`6 stream ${name}: ping succeeds while the engine is there`, async (t) => {
    const { stream } = await open(t);
    await stream.ping();
  });
}

async function partitionOf(stream: Stream): Promise<number> {
  for (let partition = 0; partition < (await stream.partitions()); partition += 1) {
    const { start, end } = await stream.bounds(partition);
    if (end > start) return partition;
  }
  throw new Error('the stream is empty');
}
