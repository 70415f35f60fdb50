import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { systemClock } from '../clock.ts';
import type { LandingBatch } from '../ports/landing.ts';
import type { Stream, StreamReader, StreamRecord } from '../ports/stream.ts';
import { startConsumer } from './consumer.ts';

const T0 = Date.parse('2026-11-20T10:00:00Z');
const VALUE = JSON.stringify({ type: 'access_rules', action: 'block', ip: '192.0.2.1' });

/** A stream of one partition and a store's positions in memory, both with switches for trouble. */
function world(t: TestContext, trouble: { land?: string; join?: string; read?: string; rival?: boolean; poison?: readonly string[] } = {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const log = { id: 'first', start: 0, records: [] as StreamRecord[] };
  const positions = new Map<string, number>();
  const landed: number[] = [];
  const landings: number[] = [];
  const told: string[] = [];
  const counts = { joined: 0, failed: 0 };
  const failing = (reason: string | undefined) => {
    if (reason === undefined) return;
    counts.failed += 1;
    throw new Error(reason);
  };

  const stream: Stream = {
    id: async () => log.id,
    publish: async () => assert.fail(),
    draft: () => assert.fail(),
    bounds: async () => ({ start: log.start, end: log.start + log.records.length }),
    partitions: async () => 1,
    async join(): Promise<StreamReader> {
      failing(trouble.join);
      counts.joined += 1;
      const topic = log.id;
      let closed = false;
      return {
        owned: () => (closed ? [] : [0]),
        async read(_partition, offset, max, waitMs) {
          failing(trouble.read);
          const records = topic === log.id ? log.records.filter((record) => record.offset >= offset).slice(0, max) : [];
          if (records.length === 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
          return records;
        },
        async close() {
          closed = true;
        },
      };
    },
    trim: async () => 0,
    ping: async () => {},
    probe: async () => {},
    close: async () => {},
  };
  const store = {
    position: async (streamId: string) => positions.get(streamId),
    positionStreams: async () => [...positions.keys()],
    async apply({ streamId, from, to, items, poison }: LandingBatch) {
      failing(trouble.land);
      if (trouble.rival) positions.set(streamId, to);
      if ((positions.get(streamId) ?? null) !== from) return 'fenced' as const;
      assert.deepEqual(
        poison.map(({ reason }) => reason),
        trouble.poison ?? [],
      );
      positions.set(streamId, to);
      landed.push(...items.map(({ record }) => record.offset));
      landings.push(items.length);
      return 'landed' as const;
    },
  };
  const consumer = startConsumer({
    stream,
    store,
    clock: { ...systemClock, now: () => T0 },
    log: (level, message) => level !== 'debug' && told.push(message),
  });
  return {
    log,
    positions,
    landed,
    landings,
    told,
    trouble,
    consumer,
    counts,
    append(count: number) {
      for (let i = 0; i < count; i += 1) {
        const offset = log.start + log.records.length;
        log.records.push({ offset, timestamp: T0, key: 'w', headers: { workspace_id: 'w' }, value: VALUE });
      }
    },
    async pass(ms: number) {
      for (let left = ms; left > 0; left -= 50) {
        t.mock.timers.tick(50);
        for (let i = 0; i < 5; i += 1) await turn();
      }
    },
    async close() {
      const closed = consumer.close();
      await this.pass(1100);
      await closed;
    },
  };
}

test('D4 a stream that was made anew halts landing, which says what to do and goes on once the stream is adopted', async (t) => {
  const w = world(t);
  w.append(3);
  await w.pass(100);
  assert.deepEqual(w.landed, [0, 1, 2]);
  Object.assign(w.log, { id: 'second', records: [] });
  w.append(2);
  await w.pass(20_000);
  assert.deepEqual(w.landed, [0, 1, 2]);
  assert.deepEqual([...w.positions], [['first', 3]]);
  const status = w.consumer.status();
  assert.ok(status.state === 'halted');
  assert.match(status.reason, /has landed the stream first, but the stream here is second.*run: weir stream adopt/);
  assert.equal(w.told.length, 1, `told once: ${w.told.join('\n')}`);
  w.positions.clear();
  await w.pass(6000);
  assert.deepEqual(w.landed, [0, 1, 2, 0, 1]);
  assert.deepEqual([...w.positions], [['second', 2]]);
  assert.deepEqual(w.consumer.status(), { state: 'running' });
  await w.close();
});

test('D4 the old stream that is brought back is landed on as if nothing had been', async (t) => {
  const w = world(t);
  w.append(3);
  await w.pass(100);
  const old = { ...w.log };
  Object.assign(w.log, { id: 'second', records: [] });
  await w.pass(2000);
  assert.equal(w.consumer.status().state, 'halted');
  Object.assign(w.log, old);
  w.append(1);
  await w.pass(6000);
  assert.deepEqual(w.landed, [0, 1, 2, 3]);
  assert.deepEqual(w.consumer.status(), { state: 'running' });
  await w.close();
});

for (const [what, start] of [
  ['behind the end of', 0],
  ['before the beginning of', 50],
] as const) {
  test(`D4 a position ${what} the stream halts landing: nothing is skipped`, async (t) => {
    const w = world(t);
    w.positions.set('first', 40);
    w.log.start = start;
    w.append(3);
    await w.pass(7000);
    const status = w.consumer.status();
    assert.ok(status.state === 'halted');
    assert.match(status.reason, new RegExp(`position 40 of partition 0 is outside the stream \\(${start} to ${start + 3}\\)`));
    assert.deepEqual([w.landed, w.positions.get('first')], [[], 40]);
    w.positions.clear();
    await w.pass(6000);
    assert.deepEqual(w.landed, [start, start + 1, start + 2]);
    assert.deepEqual(w.consumer.status(), { state: 'running' });
    await w.close();
  });
}

for (const part of ['join', 'read', 'land'] as const) {
  test(`D4 an engine that is down (${part}) is tried again with longer and longer pauses, told once, and nothing is lost`, async (t) => {
    const w = world(t, { [part]: 'the engine is down' });
    w.append(2);
    await w.pass(30_000);
    assert.deepEqual(w.consumer.status(), { state: 'retrying', reason: 'the engine is down' });
    assert.equal(w.told.length, 1, w.told.join('\n'));
    // After 0.1, 0.2, 0.4 … 3.2 s, then every 5 s.
    assert.ok(w.counts.failed > 8 && w.counts.failed < 13, `${w.counts.failed} times in 30 s`);
    delete w.trouble[part];
    await w.pass(5100);
    assert.deepEqual(w.consumer.status(), { state: 'running' });
    assert.match(w.told[1], /^landing continues/);
    assert.deepEqual([w.landed, w.counts.joined], [[0, 1], 1]);
    await w.close();
  });
}

test('D4 another owner of the partition: the position is read again, nothing lands twice, and the log is not flooded', async (t) => {
  const w = world(t);
  await w.pass(100);
  w.trouble.rival = true;
  for (let n = 0; n < 20; n += 1) {
    w.append(1);
    await w.pass(1100);
  }
  assert.deepEqual(w.landed, []);
  assert.equal(w.told.filter((text) => /landed by another consumer/.test(text)).length, 1);
  delete w.trouble.rival;
  w.append(2);
  await w.pass(1100);
  assert.deepEqual(w.landed, [20, 21]);
  await w.close();
});

test('D4.13 a message that weir fails to decode is a dead letter; the log names the defect once, and what is behind it lands', async (t) => {
  const w = world(t, { poison: ['weir failed to decode it: Error: boom'], land: 'the engine is down' });
  w.append(3);
  const [, odd] = w.log.records;
  Object.defineProperty(odd, 'value', {
    get() {
      throw new Error('boom');
    },
  });
  await w.pass(5000);
  delete w.trouble.land;
  await w.pass(5100);
  assert.deepEqual(w.landed, [0, 2]);
  const told = w.told.filter((text) => /defect/.test(text));
  assert.equal(told.length, 1, told.join('\n'));
  assert.match(
    told[0],
    /^a defect of weir: a message \(partition 0, offset 1\) could not be decoded and is a dead letter now: Error: boom\n/,
  );
  w.trouble.poison = [];
  await w.close();
});

const LENGTHS = [
  { length: 1024, most: 4096 },
  { length: 1025, most: 256 },
  { length: 100_000, most: 3 },
  { length: 300_000, most: 1 },
];
for (const { length, most } of LENGTHS)
  test(`D36.5 messages of ${length} characters land in pieces of ${most}, in their order`, async (t) => {
    const w = world(t);
    w.append(most + 1);
    const value = JSON.stringify({ ...JSON.parse(VALUE), description: '' });
    const long = value.replace('""', `"${'x'.repeat(length - value.length)}"`);
    for (const record of w.log.records) Object.assign(record, { value: long });
    await w.pass(1000);
    assert.deepEqual(w.landings, [most, 1]);
    assert.deepEqual(w.landed, [...w.log.records.keys()]);
    await w.close();
  });
