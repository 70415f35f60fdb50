/** What requests for lists cost the store (SPEC D5.13, D5.19). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { GeoDatabase } from '../../src/ports/geo.ts';
import { GEO, ManualClock, MemoryStore, Replica } from '../support/feed-world.ts';

/** Five lists, of which the store is asked by name; `asked` are the names, in order. */
function world(options: ConstructorParameters<typeof Replica>[2] = {}) {
  const clock = new ManualClock();
  const store = new MemoryStore(clock);
  const ids = ['a', 'b', 'c', 'd', 'e'].map((name) => store.addList(name));
  const asked: string[] = [];
  const { findNamed } = store;
  store.findNamed = (workspaceId, ref) => {
    asked.push(ref);
    return findNamed.call(store, workspaceId, ref);
  };
  const replica = new Replica(clock, store, options);
  const status = async (target: string) => (await replica.get(target)).status;
  /** What the store was asked for since the last call. */
  const taken = () => asked.splice(0);
  return { clock, store, ids, replica, status, taken };
}

describe('D5.19 a list is asked for alone', () => {
  test('D5.19 an unknown name is asked for each time, once for all who ask together, and nothing else is read', async () => {
    const { status, taken } = world();
    await status('/a');
    taken();
    for (let i = 0; i < 3; i++) assert.equal(await status('/nowhere'), 404);
    assert.deepEqual(taken(), ['nowhere', 'nowhere', 'nowhere']);
    await Promise.all(Array.from({ length: 50 }, () => status('/nowhere')));
    assert.ok(taken().length <= 2);
    assert.equal(await status('/a'), 200);
    assert.deepEqual(taken(), []);
  });

  test('D5.19 the first poll of a list asks for that list; later ones of the same interval ask for nothing', async () => {
    const { ids, status, taken } = world();
    for (const target of ['/a', '/b', `/${ids[2]}`, `/${ids[2].toUpperCase()}`, '/a', '/b', '']) assert.equal(await status(target), 200);
    assert.deepEqual(taken(), ['a', 'b', ids[2]]);
  });

  test('D5.13 while nothing moves, one read in 30 seconds confirms all lists; otherwise each one that is polled is asked for once', async () => {
    const { clock, store, ids, status, taken } = world();
    const poll = async () => {
      for (const target of ['/a', '/b', '/c', '', '/b', '/c']) assert.equal(await status(target), 200);
    };
    await poll();
    taken();
    await clock.advance(30_000);
    await poll();
    assert.deepEqual(taken(), ['a']);
    store.add(ids[1], '192.0.2.1');
    await clock.advance(30_000);
    await poll();
    assert.deepEqual(taken(), ['a', 'b', 'c']);
    await clock.advance(30_000);
    await Promise.all(['/a', '/b', '/c', ''].map(status));
    assert.equal(taken().length, 1);
  });

  test('D5.13 a change is seen 30 seconds after the list was last asked for, whatever else was asked meanwhile', async () => {
    const { clock, store, ids, replica, status } = world();
    await replica.get('/a');
    await clock.advance(20_000);
    await replica.get('/b');
    store.add(ids[0], '192.0.2.1');
    store.add(ids[1], '192.0.2.2');
    for (let second = 20; second < 30; second++) {
      assert.equal(await status('/nowhere'), 404);
      assert.deepEqual([(await replica.get('/a')).body, (await replica.get('/b')).body], ['', '']);
      await clock.advance(1_000);
    }
    assert.equal((await replica.get('/a')).body, '192.0.2.1/32\n');
    await clock.advance(20_000);
    assert.equal((await replica.get('/b')).body, '192.0.2.2/32\n');
  });

  test('D5.19 a name that differs in letter case alone is another one, and costs a known one nothing', async () => {
    const { status, taken } = world();
    await status('/a');
    assert.equal(await status('/A'), 404);
    taken();
    assert.equal(await status('/a'), 200);
    assert.deepEqual(taken(), []);
  });

  test('4.4.4 a name that a second list gets is ambiguous, and each of the two is served by its UUID', async () => {
    const { clock, store, ids, status } = world();
    assert.equal(await status('/a'), 200);
    const twin = store.addList('a');
    await clock.advance(30_000);
    assert.equal(await status('/a'), 409);
    assert.deepEqual([await status(`/${ids[0]}`), await status(`/${twin}`)], [200, 200]);
    store.deleteList(ids[0]);
    assert.equal(await status('/a'), 200);
  });

  test('D5.24 a deleted list is 404 at once, by name and by UUID, and no other is; while the store is away it is served on', async () => {
    const { clock, store, ids, replica, status, taken } = world();
    for (const target of ['', '/a', `/${ids[1]}`, '/c']) assert.equal(await status(target), 200);
    store.keyRevision += 1;
    store.down = true;
    for (const target of ['', '/a', `/${ids[1]}`, '/c', '/a']) assert.equal(await status(target), 200, target);
    assert.ok((await replica.get('/a')).headers['x-feed-stale-since'] === undefined, 'its snapshot is young');
    store.down = false;
    store.deleteList(ids[0]);
    store.deleteList(ids[1]);
    await clock.advance(1_000);
    taken();
    assert.deepEqual([await status('/a'), await status(`/${ids[1]}`), await status('/c'), await status('')], [404, 404, 200, 200]);
    assert.deepEqual([await status('/c'), await status('')], [200, 200]);
    assert.deepEqual(taken().length, 3, 'each name is asked for once');
  });

  test('D5.16 a list that nobody has asked for is 500 while the store is away, also for the key that is bound to it', async () => {
    const { store, ids, replica, status } = world();
    await replica.get('/a');
    store.down = true;
    assert.equal(await status('/b'), 500);
    assert.equal((await replica.get('/b', {}, ids[1])).status, 500);
    assert.equal((await replica.get('/a', {}, ids[1])).status, 403);
    assert.equal(await status('/a'), 200);
  });

  test('D5.13 a request waits for landing once in an interval, and for a name that is not there not at all', async () => {
    let waits = 0;
    const { clock, status } = world({
      caughtUp: async () => {
        waits += 1;
      },
    });
    for (const target of ['', '/a', '/b', '/nowhere', '/nowhere']) await status(target);
    assert.equal(waits, 1);
    await clock.advance(30_000);
    await Promise.all(['', '/a', '/b'].map(status));
    assert.equal(waits, 2);
  });
});

describe('D5.21 a build that fails', () => {
  const broken = new TypeError('a defect');
  /** Geo data that throw for one ASN, as a defect would. */
  const geo: () => GeoDatabase = () => ({
    ...GEO,
    ranges(target) {
      if (target.kind === 'asn' && target.asn === 1) throw broken;
      return GEO.ranges(target);
    },
  });

  test('D5.21 is 500 for that feed, with the reason in the log; other feeds are built', async () => {
    const { store, ids, replica, status } = world({ geo });
    store.add(ids[0], 'AS1');
    store.add(ids[1], '192.0.2.1');
    assert.deepEqual([await status('/a'), await status('')], [500, 500]);
    assert.equal((await replica.get('/b')).body, '192.0.2.1/32\n');
    assert.deepEqual(new Set(replica.errors), new Set([broken]));
  });

  test('D5.21 leaves the last good feed, marked as stale, until a build succeeds', async () => {
    const { clock, store, ids, replica } = world({ geo });
    store.add(ids[0], '192.0.2.1');
    await replica.get('/a');
    const bad = store.add(ids[0], 'AS1');
    await clock.advance(30_000);
    for (let second = 0; second < 3; second++) {
      const { status, body, headers } = await replica.get('/a');
      assert.deepEqual([status, body, headers['x-feed-stale-since']], [200, '192.0.2.1/32\n', 'Fri, 20 Nov 2026 10:00:00 GMT']);
      await clock.advance(1_000);
    }
    store.remove(bad);
    await clock.advance(30_000);
    const { body, headers } = await replica.get('/a');
    assert.deepEqual([body, headers['x-feed-stale-since']], ['192.0.2.1/32\n', undefined]);
  });
});
