import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { inTime } from '../../test/support/weir.ts';
import { type ReadinessParts, readiness } from './readiness.ts';

const T0 = Date.parse('2026-11-20T10:00:00Z');

const checksWith = (parts: Partial<ReadinessParts>) =>
  readiness({
    store: { ping: async () => T0 },
    stream: { ping: async () => {} },
    landing: async () => ({ state: 'running' }),
    draining: () => false,
    now: () => T0,
    ...parts,
  })();

/** A check whose engine never answers, with its patience over. */
async function withoutPatience(t: TestContext, parts: Partial<ReadinessParts>) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const checks = checksWith(parts);
  t.mock.timers.tick(3000);
  return checks;
}

test('D1 each part is named; landing only where this process lands', async () => {
  const ready = { store: { ok: true, clock_difference_ms: 0 }, stream: { ok: true } };
  assert.deepEqual(await checksWith({}), { ...ready, landing: { ok: true } });
  assert.deepEqual(await checksWith({ landing: undefined }), ready);
  assert.deepEqual(Object.keys(await checksWith({ stream: undefined, landing: undefined, feeds: { ping: async () => {} } })), [
    'store',
    'feeds',
  ]);
  assert.deepEqual((await checksWith({ draining: () => true })).process, { ok: false, reason: 'the process is stopping' });
});

for (const [difference, ok] of [
  [0, true],
  [1999, true],
  [-2000, true],
  [2001, false],
  [-2001, false],
  [86_400_000, false],
] as const) {
  test(`D1 a store whose clock is ${difference} ms ahead: the difference is shown, and is ${ok ? 'no fault' : 'red'}`, async () => {
    const { store } = await checksWith({ store: { ping: async () => T0 + difference } });
    assert.equal(store.clock_difference_ms, difference);
    assert.equal(store.ok, ok);
    if (!ok) assert.equal(store.reason, `the clock of the store differs by ${difference} ms, more than 2000`);
  });
}

test('D1 the time that the answer takes is no difference of the clocks', async () => {
  let time = T0;
  const ping = async () => {
    time += 1000;
    const clock = time;
    time += 1000;
    return clock;
  };
  assert.deepEqual((await checksWith({ store: { ping }, now: () => time })).store, { ok: true, clock_difference_ms: 0 });
});

test('D1 an engine that fails is red with its reason, and hides no other part', async () => {
  const fail = async (): Promise<never> => {
    throw new Error('the disk is full');
  };
  const red = { ok: false, reason: 'the disk is full' };
  assert.deepEqual(await checksWith({ store: { ping: fail }, stream: { ping: fail } }), { store: red, stream: red, landing: { ok: true } });
});

test('D1 an engine that does not answer within 3 s is red', async (t) => {
  const never = () => new Promise<never>(() => {});
  const checks = await withoutPatience(t, { store: { ping: never }, stream: { ping: never } });
  const red = { ok: false, reason: 'the store did not answer within 3 s' };
  assert.deepEqual([checks.store, checks.stream], [red, { ...red, reason: 'the stream did not answer within 3 s' }]);
});

test('D1.21 an answer takes 100 ms at most: what is busy is as it was last known, and red only when it has not answered for long', async (t) => {
  let answer = (): void => {};
  const busy = () => new Promise<void>((resolve) => (answer = resolve));
  const check = readiness({
    store: { ping: async () => T0 },
    landing: undefined,
    feeds: { ping: busy },
    draining: () => false,
    now: () => T0,
  });
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const feedsAfter = async (ms: number) => {
    const checks = check();
    t.mock.timers.tick(ms);
    return (await checks).feeds;
  };
  assert.deepEqual(await feedsAfter(100), { ok: true });
  assert.deepEqual(await feedsAfter(30_000), { ok: true });
  assert.deepEqual(await feedsAfter(30_000), { ok: false, reason: 'the feed thread did not answer within 60 s' });
  assert.deepEqual(await feedsAfter(100), { ok: false, reason: 'the feed thread did not answer within 60 s' });
  const later = check();
  answer();
  assert.deepEqual((await later).feeds, { ok: true });
});

test('D1.21 a check that is overdue is not waited for again', async (t) => {
  // Its patience of a minute would keep the process of the tests alive.
  const overdue = Promise.withResolvers<void>();
  t.after(() => overdue.resolve());
  const check = readiness({
    store: { ping: async () => T0 },
    landing: undefined,
    feeds: { ping: () => overdue.promise },
    draining: () => false,
    now: () => T0,
  });
  await check();
  // Twenty waits of 25 ms would be twice as long.
  await inTime(250, async () => {
    const begun = performance.now();
    for (let n = 0; n < 20; n += 1) assert.deepEqual((await check()).feeds, { ok: true });
    return { took: performance.now() - begun, result: undefined };
  });
});

test('D1.21 landing carries its lag in messages and seconds; a lag alone is not red', async () => {
  const landing = async () => ({ state: 'running' as const, oldest: T0 - 90_000 });
  const far = await checksWith({ landing, lag: async () => 1_000_000 });
  assert.deepEqual(far.landing, { ok: true, lag_messages: 1_000_000, lag_seconds: 90 });
  const none = await checksWith({ lag: async () => 0 });
  assert.deepEqual(none.landing, { ok: true, lag_messages: 0, lag_seconds: 0 });
  const unread = await checksWith({ lag: async () => 7 });
  assert.deepEqual(unread.landing, { ok: true, lag_messages: 7 });
  const unknown = await checksWith({ lag: () => Promise.reject(new Error('no broker')) });
  assert.deepEqual(unknown.landing, { ok: true });
});

for (const state of ['retrying', 'halted'] as const) {
  test(`D4 landing that is ${state} is red and says why`, async () => {
    const { landing } = await checksWith({ landing: async () => ({ state, reason: 'the old stream is gone' }) });
    assert.deepEqual(landing, { ok: false, state, reason: 'the old stream is gone' });
  });
}
