import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DecisionMark } from '../decisions.ts';
import { DecisionLog } from './decision-log.ts';
import { keyAt, networksOf } from './network-key.ts';

const START = 1_800_000_000_000;
const keyOf = (n: number) => keyAt(networksOf([String.fromCharCode(10, (n >> 16) & 0xff, (n >> 8) & 0xff, n & 0xff, 32)]), 0);

/** Single addresses by number, that expire at a second. */
function content(hosts: Iterable<number>, expires = Number.POSITIVE_INFINITY) {
  const { v4, v6 } = networksOf([...hosts].map(keyOf));
  return { v4, v6, coverage: { expires: new Float64Array(v4.length).fill(expires), lists: new Int32Array(v4.length).fill(1) } };
}
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);
const keysOf = (log: DecisionLog) => new Map([...log.networks.until].map((until, i) => [keyAt(log.networks, i), until]));

test('D14.6 what was written is what a restart knows, also when the whole was written anew', () => {
  const log = new DecisionLog('a');
  let written: Uint8Array[] = [];
  let wholes = 0;
  for (let step = 0; step < 18; step++) {
    const now = START + step * 60_000;
    log.take(content(range(step * 3000, step * 3000 + 20_000)), now);
    const record = log.takeRecord();
    if (record === undefined) continue;
    if (record.isComplete) wholes += 1;
    written = record.isComplete ? [record.bytes] : [...written, record.bytes];
    if (!record.isComplete && step % 10 > 0) continue;
    const again = new DecisionLog('b');
    again.restore(written, now);
    // As one text: the difference of maps takes long to find.
    assert.ok([...keysOf(again)].join() === [...keysOf(log)].join(), `step ${step}`);
    assert.ok([...again.since(null).deleted].sort().join() === [...log.since(null).deleted].sort().join(), `step ${step}`);
  }
  assert.ok(wholes > 0 && wholes < 10, String(wholes));
  assert.ok(written.reduce((sum, { length }) => sum + length, 0) < 6 << 20);
});

test('D14.6 what could not be written is written with the next change', () => {
  const log = new DecisionLog('a');
  log.take(content([1, 2]), START);
  log.notWritten(log.takeRecord()!, START);
  const record = log.takeRecord()!;
  assert.ok(record.isComplete);
  assert.equal(log.takeRecord(), undefined);
  const again = new DecisionLog('b');
  again.restore([record.bytes], START);
  assert.deepEqual(keysOf(again), keysOf(log));
});

test('D14.5 a block that was shortened and then renewed is told again before the new end, and at both, also after a restart', () => {
  const log = new DecisionLog('a');
  const second = START / 1000;
  const records: Uint8Array[] = [];
  const take = (of: DecisionLog, expires: number, at: number) => {
    of.take(content([1], expires), at * 1000);
    const record = of.takeRecord();
    if (record !== undefined) records.push(record.bytes);
  };
  take(log, second + 1000, second);
  take(log, second + 100, second + 10);
  take(log, second + 5000, second + 20);
  const again = new DecisionLog('b');
  again.restore(records, (second + 30) * 1000);
  for (const [each, reannounce] of [
    [log, [55, 100, 1000]],
    // When it was told is not known then: at once.
    [again, [30, 100, 1000]],
  ] as const) {
    if (each === log) take(each, second + 5000, second + 30);
    for (const due of reannounce) {
      if (due !== 30) assert.equal(each.nextDue, second + due);
      const { mark } = each;
      assert.deepEqual([...each.since(mark).changed], []);
      take(each, second + 5000, second + due);
      assert.deepEqual([...each.since(mark).changed], [0]);
      assert.equal(each.networks.until[0], second + 5000);
    }
  }
});

test('D14.5 what expires within 14 days is told until then; what stays longer until between 7 and 14 days ahead, and again before that', () => {
  const second = START / 1000;
  const DAY = 86_400;
  for (const days of [1 / 1440, 1, 6.9, 7, 13.9, 14]) {
    const log = new DecisionLog('a');
    log.take(content(range(0, 500), second + days * DAY), START);
    assert.deepEqual(new Set(log.networks.until), new Set([second + days * DAY]), `${days}`);
    assert.equal(log.nextDue, second + days * DAY);
  }
  for (const expires of [second + 14 * DAY + 1, second + 400 * DAY, Number.POSITIVE_INFINITY]) {
    const log = new DecisionLog('a');
    log.take(content(range(0, 500), expires), START);
    const { mark } = log;
    assert.ok([...log.networks.until].every((until) => until > second + 7 * DAY && until <= second + 14 * DAY));
    assert.ok(new Set(log.networks.until).size > 250, 'not all at once');
    // Whenever it is looked at as it asks for, nothing that a client holds ends before it was told again.
    const held = [...log.networks.until];
    let now = second;
    while (log.nextDue < Math.min(expires, second + 30 * DAY)) {
      now = log.nextDue;
      const before = log.mark;
      log.take(content(range(0, 500), expires), now * 1000);
      for (const index of log.since(before).changed) {
        assert.ok(held[index] > now, `${held[index] - now} s`);
        held[index] = log.networks.until[index];
      }
    }
    assert.notDeepEqual(log.mark, mark);
    assert.ok(held.every((until) => until > now));
  }
});

test('D14.5 a block that is renewed now and then is told again before its end, and seldom', () => {
  const log = new DecisionLog('a');
  const second = START / 1000;
  let held = 0;
  let times = 0;
  for (let now = second; now < second + 3600; now += 10) {
    const { mark } = log;
    log.take(content([1], now + 300), now * 1000);
    for (const index of log.since(mark).changed) {
      assert.ok(held === 0 || held - now >= 140, `${held - now} s`);
      held = log.networks.until[index];
      times += 1;
    }
  }
  assert.ok(times <= 2 * (3600 / 150) + 1, String(times));
});

test('D14.3 who is too far behind, or knows another process, is told everything', () => {
  const log = new DecisionLog('a');
  log.take(content(range(0, 10)), START);
  const { mark } = log;
  assert.deepEqual([...log.since({ builder: 'b', version: mark.version }).changed].length, 10);
  assert.deepEqual([...log.since({ ...mark, version: mark.version + 1 }).changed].length, 10);
  for (let step = 1; step < 4; step++) log.take(content(range(step * 100_000, step * 100_000 + 70_000)), START + step * 1000);
  assert.deepEqual([...log.since(mark).changed].length, 70_000);
  assert.deepEqual([...log.since(null).deleted].length, 131_072, 'the newest');
  assert.deepEqual([...log.since(log.mark).changed], []);
});

test('D14.16 changes are held of twice as much as everything is: a small list that changes all the time takes no more with time', () => {
  const log = new DecisionLog('a');
  const sizes: number[] = [];
  const marks: DecisionMark[] = [];
  for (let step = 0; step < 2000; step++) {
    // Ten addresses go and ten come each hour, and what went is forgotten after a week.
    log.take(content(range(step * 10, step * 10 + 100)), START + step * 3_600_000);
    log.takeRecord();
    sizes.push(log.size);
    marks.push(log.mark);
  }
  assert.ok(Math.max(...sizes) < 8000, String(Math.max(...sizes)));
  assert.ok(sizes.at(-1)! <= sizes[1000]! + 20);
  // Who pulls now and then is told what he has missed, who is further behind everything.
  const missed = (behind: number) => [...log.since(marks.at(-1 - behind)!).changed].length;
  assert.deepEqual([missed(0), missed(3), missed(150), missed(1500)], [0, 30, 100, 100]);
  assert.equal([...log.since(marks.at(-101)!).deleted].length, 910 + 90);
});

test('D14.4 a network that comes back is not gone; one that went and came is told once', () => {
  const log = new DecisionLog('a');
  log.take(content([1, 2]), START);
  const { mark } = log;
  log.take(content([1]), START + 1000);
  assert.deepEqual([...log.since(mark).deleted], [keyOf(2)]);
  log.take(content([1, 2]), START + 2000);
  const { changed, deleted } = log.since(mark);
  assert.deepEqual([[...changed], [...deleted], [...log.since(null).deleted]], [[1], [], []]);
});

test('D50.8 complete records of two processes do not grow with each exchange', () => {
  const logs = [new DecisionLog('a'), new DecisionLog('b')] as const;
  const sizes: number[] = [];
  for (let n = 0; n < 12; n += 1) {
    const [log, other] = n % 2 === 0 ? logs : [logs[1], logs[0]];
    const now = START + n * 1000;
    log.take(content(range(0, 10), START / 1000 + 36_000 - n), now);
    log.notWritten({ change: new Uint8Array() }, now);
    const { bytes } = log.takeRecord()!;
    sizes.push(bytes.length);
    other.join([bytes], now);
  }
  // Per network and earlier lease an entry for its end and one for its renewal.
  assert.ok(sizes.at(-1)! <= 10 * 10 * 2 * 12, String(sizes));
});

test('D37.1 a network that another process has told to be gone, and that is here, is told again', () => {
  const log = new DecisionLog('a');
  log.take(content([1, 2]), START);
  const { mark } = log;
  const other = new DecisionLog('b');
  other.take(content([1, 2]), START);
  other.takeRecord();
  other.take(content([2]), START);
  log.join([other.takeRecord()!.bytes], START + 1000);
  log.take(content([1, 2]), START + 1000);
  assert.deepEqual([...log.since(mark).changed], [0]);
  assert.deepEqual([...log.since(mark).deleted], []);
});

/** A client, by the seconds of a clock that is right. */
function client(takesAgain: boolean) {
  const until = new Map<number, number>();
  return {
    log(index: number, seconds: number, now: number): void {
      if (takesAgain || !((until.get(index) ?? 0) > now)) until.set(index, now + seconds);
    },
    lacks: (index: number, now: number) => !((until.get(index) ?? 0) > now),
  };
}

for (const [expiresWithin, every, most] of [
  [3_000, 10, 3_000],
  [40 * 86_400, 140, 16 * 86_400],
] as const)
  for (const [aheadBy, from, to] of [
    [200, 300, 301],
    [200, 0, 30],
    [2_500, 0, 200],
    [86_400, 20, 290],
  ] as const)
    test(`D37.1 the clock is ${aheadBy} s ahead for ${to - from} s: no client lacks a network that expires in ${expiresWithin} s`, () => {
      const log = new DecisionLog('a');
      const first = START / 1000;
      const networks = range(0, 20);
      const clients = [client(true), client(false)];
      const lacking = clients.map(() => networks.map(() => 0));
      let { mark } = log;
      for (let at = 0; at < most; at += at < 700 ? 1 : every) {
        const now = first + at;
        const clock = now + (at >= from && at < to ? aheadBy : 0);
        const isThere = (clock: number) => clock < first + expiresWithin;
        log.passed(clock * 1000);
        // A build comes when it is due, when something expires, and when the clock has been set back.
        if (at === 0 || log.nextDue <= clock || isThere(clock) !== log.networks.until.length > 0)
          log.take(content(isThere(clock) ? networks : [], first + expiresWithin), clock * 1000);
        if (at % every !== 0 && at % 10 !== 0) continue;
        const { changed, deleted } = log.since(at === 0 ? null : mark);
        for (const index of changed) for (const each of clients) each.log(index, log.networks.until[index]! - clock, now);
        ({ mark } = log);
        if (!isThere(clock) || [...deleted].length > 0) continue;
        for (const [n, each] of clients.entries())
          for (const index of networks) {
            lacking[n]![index] = each.lacks(index, now) ? lacking[n]![index]! + 1 : 0;
            assert.ok(lacking[n]![index]! <= n, `client ${n} lacks ${index} after ${at} s`);
          }
      }
    });
