/** Feeds while somebody sets the machine's clock (SPEC D5.18). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { systemClock } from '../../src/clock.ts';
import { lastModified, ManualClock, MemoryStore, Replica, type Reply, START } from '../support/feed-world.ts';
import { seededRandom } from '../support/random.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const INTERVAL = 30_000;
/** The longest that a content waits for its beginning, ms. */
const WAIT = 3_000;
const STALE = 'x-feed-stale-since';

/** `ownClock`: the store's clock is another machine's, which nobody sets. */
function world({ ownClock = false, rebuildSeconds = INTERVAL / 1000 } = {}) {
  const clock = new ManualClock();
  const began = clock.monotonic();
  const storeClock = { ...systemClock, now: () => START + clock.monotonic() - began };
  const store = new MemoryStore(ownClock ? storeClock : clock);
  const list = store.addList('edge');
  return { clock, store, list, replica: new Replica(clock, store, { rebuildSeconds }) };
}

const SETS = [
  ['back by an hour', -HOUR],
  ['back by a second', -1_000],
  ['forward by an hour', HOUR],
  ['forward by a day', DAY],
] as const;

describe('D5.18 the clock is set', () => {
  for (const [how, set] of SETS) {
    test(`D5.18 ${how}: feeds are read again after 30 seconds, and Last-Modified does not go back`, async () => {
      const { clock, store, list, replica } = world();
      store.add(list, '192.0.2.1');
      let shown = await replica.get('');
      let body = shown.body;
      clock.set(set);
      for (let round = 1; round <= 5; round++) {
        store.add(list, `192.0.2.${1 + 2 * round}`);
        await clock.advance(INTERVAL);
        // A second that is not quite there is waited for.
        await replica.get('');
        await clock.advance(WAIT);
        body += `192.0.2.${1 + 2 * round}/32\n`;
        const next = await replica.get('', { 'if-modified-since': shown.headers['last-modified'] });
        assert.deepEqual([next.status, next.body], [200, body]);
        assert.ok(lastModified(next) >= lastModified(shown));
        shown = next;
      }
      assert.deepEqual(store.calls.snapshot, 6);
    });

    test(`D5.18 ${how} while the store is away: it is asked each second, and the feed is served for 24 hours`, async () => {
      const { clock, store, list, replica } = world();
      store.add(list, '192.0.2.1');
      await replica.get('');
      store.down = true;
      await clock.advance(INTERVAL);
      await replica.get('');
      clock.set(set);
      for (let second = 1; second <= 3; second++) {
        const before = store.calls.findNamed;
        await clock.advance(1_000);
        const { status, headers } = await replica.get('');
        assert.deepEqual([status, headers[STALE]], [200, 'Fri, 20 Nov 2026 10:00:00 GMT']);
        assert.equal(store.calls.findNamed, before + 1);
      }
      await clock.advance(DAY - INTERVAL - 3_000);
      assert.equal((await replica.get('')).status, 200);
      await clock.advance(1_001);
      assert.equal((await replica.get('')).status, 500);
      store.down = false;
      await clock.advance(1_000);
      assert.deepEqual((await replica.get('')).body, '192.0.2.1/32\n');
    });
  }

  test('D5.18 forward and back again: rules that had left by expiry are back, and expire at their second', async () => {
    const { clock, store, list, replica } = world();
    store.add(list, '192.0.2.1', { ttl: 600 });
    store.add(list, '192.0.2.9');
    const [both, one] = ['192.0.2.1/32\n192.0.2.9/32\n', '192.0.2.9/32\n'];
    for (const target of ['', '/edge']) assert.equal((await replica.get(target)).body, both);
    await clock.advance(10_000);
    clock.set(HOUR);
    for (const target of ['', '/edge']) assert.equal((await replica.get(target)).body, one);
    // The snapshot of one feed is read by the wrong clock, that of the other is of before.
    await clock.advance(20_000);
    store.add(list, '192.0.2.9');
    await replica.get('/edge');
    clock.set(-HOUR);
    await clock.advance(INTERVAL);
    for (const target of ['', '/edge']) assert.equal((await replica.get(target)).body, both, target);
    await clock.advance(540_000 - 1);
    for (const target of ['', '/edge']) assert.equal((await replica.get(target)).body, both, target);
    await clock.advance(1);
    for (const target of ['', '/edge']) assert.equal((await replica.get(target)).body, one, target);
  });

  for (const target of ['', '/edge'])
    test(`D5.18 forward, and back while the feed${target} is built: what the wrong clock read away is available again`, async () => {
      const { clock, store, list, replica } = world();
      store.add(list, '192.0.2.1', { ttl: 600 });
      for (const each of ['', '/edge']) await replica.get(each);
      await clock.advance(INTERVAL);
      store.add(list, '192.0.2.9', { ttl: 600 });
      clock.set(HOUR);
      const { follow } = store;
      store.follow = async (...asked) => {
        const found = await follow.apply(store, asked);
        if (found === 'too_far') return found;
        store.follow = follow;
        clock.set(-HOUR);
        return found;
      };
      for (const each of [target, '', '/edge']) await replica.get(each);
      await clock.advance(INTERVAL);
      for (const each of ['', '/edge']) assert.equal((await replica.get(each)).body, '192.0.2.1/32\n192.0.2.9/32\n', each);
    });

  test('D5.18 forward and back again: what comes then takes away nothing that has not expired', async () => {
    const { clock, store, list, replica } = world();
    store.add(list, '192.0.2.1', { ttl: 600 });
    store.add(list, '192.0.2.9');
    await replica.get('');
    clock.set(HOUR);
    await clock.advance(INTERVAL);
    assert.equal((await replica.get('')).body, '192.0.2.9/32\n');
    clock.set(-HOUR);
    for (const more of ['192.0.2.11', '192.0.2.13', '192.0.2.15']) {
      await clock.advance(INTERVAL);
      await replica.get('');
      store.add(list, more);
      await clock.advance(INTERVAL);
      const body = (await replica.get('')).body;
      assert.ok(body.startsWith('192.0.2.1/32\n192.0.2.9/32\n') && body.includes(more), body);
    }
  });

  test('D5.18 back, and the process is started again: a date of before proves nothing', async () => {
    const { clock, store, list, replica } = world();
    const before = await replica.get('');
    store.add(list, '192.0.2.1');
    clock.set(-HOUR);
    const next = await new Replica(clock, store).get('', { 'if-modified-since': before.headers['last-modified'] });
    assert.deepEqual([next.status, next.body], [200, '192.0.2.1/32\n']);
  });

  test('D5.18 back, and the bytes were dropped: the feed is built again with the same date', async () => {
    const clock = new ManualClock();
    const store = new MemoryStore(clock);
    store.add(store.addList('edge'), '192.0.2.1');
    const replica = new Replica(clock, store, { bodyBytes: 10 });
    const first = await replica.get('');
    await replica.get('?format=commented');
    clock.set(-HOUR);
    assert.deepEqual(await replica.get(''), first);
  });

  for (const ownClock of [false, true]) {
    for (const seed of [1, 2, 3]) {
      test(`D5.18 the clock is set at random (${seed}), ${ownClock ? 'not the store’s' : 'the store’s too'}: no change waits, no date goes back`, async () => {
        const random = seededRandom(seed);
        const rebuildSeconds = random.pick([0, 30]);
        const { clock, store, list, replica } = world({ ownClock, rebuildSeconds });
        const patience = rebuildSeconds * 1000 + WAIT;
        const rules = new Map<string, number>();
        let changedAt = clock.monotonic();
        let shown: Reply | undefined;
        const poll = async () => {
          const reply = await replica.get('');
          if (shown !== undefined) {
            assert.ok(lastModified(reply) >= lastModified(shown), 'Last-Modified goes back');
            const since = await replica.get('', { 'if-modified-since': shown.headers['last-modified'] });
            assert.equal(since.status === 304 ? shown.body : since.body, reply.body, 'who knows Last-Modified alone misses a change');
          }
          shown = reply;
          return reply.body;
        };
        for (let step = 0; step < 400; step++) {
          if (random.below(20) === 0) clock.set(random.pick([-1, 1]) * random.pick([1_500, 60_000, HOUR, DAY]));
          if (random.below(20) === 0) {
            const address = `10.0.0.${2 * random.below(50)}`;
            const rule = rules.get(address);
            if (rule !== undefined) store.remove(rule);
            if (rule !== undefined) rules.delete(address);
            else rules.set(address, store.add(list, address));
            changedAt = clock.monotonic();
          }
          const body = await poll();
          const isDue = clock.monotonic() > changedAt + patience + 2_000;
          if (isDue) assert.deepEqual(new Set(body.split('\n').filter(Boolean)), new Set([...rules.keys()].map((each) => `${each}/32`)));
          await clock.advance(random.below(2_000));
        }
      });
    }
  }
});

test('the monotonic clock is one in all threads of the process', async () => {
  const before = systemClock.monotonic();
  const url = new URL('../../src/clock.ts', import.meta.url).href;
  const script = `import('${url}').then(({ systemClock }) => require('node:worker_threads').parentPort.postMessage(systemClock.monotonic()))`;
  const inThread = await new Promise<number>((resolve, reject) => {
    new Worker(script, { eval: true }).on('message', resolve).on('error', reject);
  });
  assert.ok(before <= inThread && inThread <= systemClock.monotonic());
});
