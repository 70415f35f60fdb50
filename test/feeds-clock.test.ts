import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { GEO, lastModified, ManualClock, MemoryStore, Replica, settled } from './support/feed-world.ts';

function world(options: ConstructorParameters<typeof Replica>[2] = {}) {
  const clock = new ManualClock();
  const store = new MemoryStore(clock);
  const list = store.addList('edge');
  return { clock, store, list, replica: new Replica(clock, store, options) };
}
const EVERY_REQUEST = { rebuildSeconds: 0 };

describe('4.3 caching: D5 snapshot', () => {
  test('4.3 the feed is rebuilt at most once every 30 seconds', async () => {
    const { clock, store, list, replica } = world();
    assert.equal((await replica.get('')).body, '');
    store.add(list, '192.0.2.1');
    await clock.advance(29_999);
    assert.equal((await replica.get('')).body, '');
    assert.deepEqual([store.calls.directory, store.calls.snapshot], [1, 1]);
    await clock.advance(1);
    assert.equal((await replica.get('')).body, '192.0.2.1/32\n');
  });

  test('D5 a snapshot whose revision has not moved is not rebuilt', async () => {
    const { clock, store, list, replica } = world();
    store.add(list, '192.0.2.1');
    const first = await replica.get('/edge');
    const other = store.addList('other');
    for (let round = 1; round < 20; round++) {
      await clock.advance(30_000);
      store.add(other, `198.51.100.${round}`);
      assert.deepEqual((await replica.get('/edge')).headers, first.headers);
    }
    assert.deepEqual([store.calls.directory, store.calls.snapshot], [20, 1]);
  });

  test('D5 one read of the names confirms every feed of the workspace, and no feed is read twice in 30 seconds', async () => {
    const { clock, store, list, replica } = world();
    await replica.get('/edge');
    await clock.advance(20_000);
    await replica.get('');
    store.add(list, '192.0.2.1');
    await clock.advance(10_000);
    assert.equal((await replica.get('/edge')).body, '192.0.2.1/32\n');
    // The workspace's feed was read 10 s ago.
    assert.equal((await replica.get('')).body, '');
    await clock.advance(19_999);
    assert.equal((await replica.get('')).body, '');
    await clock.advance(1);
    assert.equal((await replica.get('')).body, '192.0.2.1/32\n');
    assert.equal(store.calls.snapshot, 4);
  });

  test('D5 one build serves all who wait', async () => {
    const { store, list, replica } = world();
    store.add(list, '192.0.2.1');
    const replies = await Promise.all(Array.from({ length: 50 }, () => replica.get('')));
    assert.equal(new Set(replies.map(({ headers }) => headers.etag)).size, 1);
    assert.deepEqual(store.calls, { directory: 1, snapshot: 1, ruleStates: 0, recordFeed: 1 });
  });

  test('D1 with 0 seconds every request reads the store, and requests that come together share', async () => {
    const { clock, store, list, replica } = world(EVERY_REQUEST);
    await replica.get('');
    await clock.advance(1_000);
    store.add(list, '192.0.2.1');
    assert.equal((await replica.get('')).body, '192.0.2.1/32\n');
    await clock.advance(1_000);
    const early = replica.get('');
    store.add(list, '192.0.2.3');
    const late = await Promise.all([replica.get(''), replica.get(''), replica.get('')]);
    await early;
    for (const { body } of late) assert.equal(body, '192.0.2.1/32\n192.0.2.3/32\n');
    assert.deepEqual([store.calls.directory, store.calls.snapshot], [4, 3]);
  });

  test('D5 settings, name and description move the feed too', async () => {
    const { clock, store, list, replica } = world();
    const first = await replica.get('/edge?format=commented');
    store.setList(list, { description: 'new' });
    await clock.advance(30_000);
    const second = await replica.get('/edge?format=commented');
    assert.notEqual(second.headers.etag, first.headers.etag);
    assert.equal(lastModified(second), lastModified(first) + 30);
    store.setList(list, { format: 'set_elements', maxEntries: 5 });
    await clock.advance(30_000);
    assert.equal((await replica.get('/edge')).headers['x-feed-entry-limit'], '5');
  });

  test('D5 the version of the geo data is part of the revision', async () => {
    let geo = GEO;
    const { clock, store, list, replica } = world({ geo: () => geo });
    store.add(list, 'NL');
    const first = await replica.get('?family=v4');
    geo = { ...GEO, version: 'geo 2', ranges: () => ({ v4: Uint32Array.of(1, 1), v6: new Uint32Array() }) };
    await clock.advance(30_000);
    const second = await replica.get('?family=v4');
    assert.deepEqual([first.body, second.body], ['198.51.100.0/24\n203.0.113.0/31\n203.0.113.2/32\n', '0.0.0.1/32\n']);
    assert.equal(store.calls.snapshot, 1);
  });

  test('D5 a build waits until landing has caught up, at most 2 s', async () => {
    let landed = () => {};
    const { clock, store, list, replica } = world({ caughtUp: () => new Promise((resolve) => (landed = resolve)) });
    const first = replica.get('');
    await settled();
    store.add(list, '192.0.2.1');
    landed();
    assert.equal((await first).body, '192.0.2.1/32\n');
    await clock.advance(30_000);
    const second = replica.get('');
    await clock.advance(1_999);
    store.add(list, '192.0.2.3');
    await clock.advance(1);
    assert.equal((await second).body, '192.0.2.1/32\n192.0.2.3/32\n');
  });

  test('D1 a dropped body is built again from its snapshot', async () => {
    const { store, list, replica } = world({ bodyBytes: 10 });
    store.add(list, '192.0.2.1');
    const first = await replica.get('');
    await replica.get('?format=commented');
    for (const coding of ['identity', 'gzip']) {
      await replica.get('?format=commented', { 'accept-encoding': coding });
      assert.equal((await replica.get('', { 'if-none-match': first.headers.etag })).status, 304);
      assert.deepEqual(await replica.get(''), first);
    }
    assert.equal(store.calls.snapshot, 1);
  });
});

describe('3 lapse', () => {
  test('3 D5 a lapsed rule is not served from its second on, although the snapshot stands', async () => {
    const { clock, store, list, replica } = world();
    store.add(list, '192.0.2.1', { ttl: 7 });
    store.add(list, '192.0.2.9');
    const first = await replica.get('');
    await clock.advance(6_999);
    assert.deepEqual(await replica.get(''), first);
    await clock.advance(1);
    const second = await replica.get('');
    assert.equal(second.body, '192.0.2.9/32\n');
    assert.equal(lastModified(second), lastModified(first) + 7);
    assert.equal(store.calls.snapshot, 1);
  });

  test('D5 the store is asked for exactly the lapsing rules, all of one second in one read', async () => {
    const { clock, store, list, replica } = world();
    const first = [store.add(list, '192.0.2.1', { ttl: 5 }), store.add(list, '2001:db8::1', { ttl: 5 }), store.add(list, 'NL', { ttl: 5 })];
    const second = store.add(list, '192.0.2.3', { ttl: 6 });
    await replica.get('');
    await clock.advance(5_000);
    assert.equal((await replica.get('')).body, '192.0.2.3/32\n');
    await Promise.all([replica.get('?format=commented'), replica.get('?family=v6'), replica.get('')]);
    await clock.advance(1_000);
    await replica.get('');
    assert.deepEqual(store.asked, [first, [second]]);
  });

  test('3 a rule renewed every 55 s with expiration 60 never leaves the feed', async () => {
    const { clock, store, list, replica } = world();
    const rule = store.add(list, '192.0.2.1', { ttl: 60 });
    const { etag } = (await replica.get('')).headers;
    for (let half = 1; half <= 1_200; half++) {
      await clock.advance(500);
      if (half % 110 === 0) store.renew(rule, 60);
      const reply = await replica.get('', { 'if-none-match': etag });
      assert.equal(reply.status, 304, `after ${half / 2} s`);
    }
  });

  test('3 D5 the same on replicas that are polled out of step, with other rules lapsing each second', async () => {
    const { clock, store, list, replica } = world();
    const rule = store.add(list, '192.0.2.1', { ttl: 60 });
    const replicas = [replica, new Replica(clock, store), new Replica(clock, store, EVERY_REQUEST)];
    for (let i = 0; i < 240; i++) store.add(list, `10.0.${i}.1`, { ttl: i + 0.5 });
    for (let second = 1; second <= 240; second++) {
      await clock.advance(1_000);
      if (second % 55 === 0) store.renew(rule, 60);
      for (const [i, each] of replicas.entries()) {
        if (second % (i + 1) !== 0) continue;
        const { body } = await each.get('');
        assert.match(body, /^192\.0\.2\.1\/32$/m, `replica ${i}, second ${second}`);
        assert.equal(body.split('\n').length - 2, 240 - second, `replica ${i}, second ${second}`);
      }
    }
  });

  test('D5 a rule that was replaced by another under its id, or is gone, leaves', async () => {
    const { clock, store, list, replica } = world();
    const kept = store.add(list, '192.0.2.1', { ttl: 5 });
    const gone = store.add(list, '192.0.2.3', { ttl: 5 });
    const changed = store.add(list, '192.0.2.5', { ttl: 5 });
    const allowed = store.add(list, '192.0.2.7', { ttl: 5 });
    await replica.get('');
    for (const id of [kept, changed, allowed]) store.renew(id, 100);
    store.remove(gone);
    const { ruleStates } = store;
    store.ruleStates = async (...args) =>
      (await ruleStates.apply(store, args)).map((state) => {
        if (state.id === allowed) return { ...state, action: 'allow' };
        if (state.id === changed) return { ...state, target: { kind: 'ip', network: { family: 4, address: 1, prefix: 32 } } };
        return state;
      });
    await clock.advance(5_000);
    assert.equal((await replica.get('')).body, '192.0.2.1/32\n');
  });

  test('D5 a renewed country, ASN and IPv6 rule stays', async () => {
    const { clock, store, list, replica } = world();
    const rules = ['NL', 'AS64500', '2001:db8:1::/48', '10.0.0.0/8'].map((target) => store.add(list, target, { ttl: 5 }));
    const first = await replica.get('');
    for (const id of rules) store.renew(id, 100);
    await clock.advance(5_000);
    assert.deepEqual((await replica.get('')).headers, first.headers);
    assert.equal(store.calls.snapshot, 1);
  });

  test('D5 where the store cannot answer, lapsed rules leave', async () => {
    const { clock, store, list, replica } = world();
    const rule = store.add(list, '192.0.2.1', { ttl: 5 });
    store.add(list, '192.0.2.9');
    await replica.get('');
    store.renew(rule, 100);
    store.down = true;
    await clock.advance(5_000);
    assert.equal((await replica.get('')).body, '192.0.2.9/32\n');
    store.down = false;
    await clock.advance(25_000);
    assert.equal((await replica.get('')).body, '192.0.2.1/32\n192.0.2.9/32\n');
  });
});

describe('4.3 Last-Modified', () => {
  test('4.3 is when the content first appeared, and 304s follow it', async () => {
    const { clock, store, list, replica } = world();
    store.add(list, '192.0.2.1');
    await clock.advance(12_345);
    const first = await replica.get('');
    assert.equal(lastModified(first), clock.second);
    await clock.advance(300_000);
    const later = await replica.get('', { 'if-modified-since': first.headers['last-modified'] });
    assert.deepEqual([later.status, later.headers['last-modified']], [304, first.headers['last-modified']]);
    store.add(list, '192.0.2.2');
    await clock.advance(30_000);
    const changed = await replica.get('', { 'if-modified-since': first.headers['last-modified'] });
    assert.deepEqual([changed.status, lastModified(changed)], [200, clock.second]);
  });

  test('D5 content A, B, A: the second A is new', async () => {
    const { clock, store, list, replica } = world(EVERY_REQUEST);
    const first = await replica.get('?format=commented');
    await clock.advance(10_000);
    const rule = store.add(list, '192.0.2.1');
    await replica.get('?format=commented');
    await clock.advance(10_000);
    store.remove(rule);
    const third = await replica.get('?format=commented');
    assert.equal(lastModified(third), lastModified(first) + 20);
    assert.match(third.body, /^# generated: 2026-11-20T10:00:20Z$/m);
    assert.notEqual(third.headers.etag, first.headers.etag);
  });

  test('D5 a restart and other replicas give the same ETag, Last-Modified and bytes', async () => {
    const { clock, store, list, replica } = world();
    store.add(list, '192.0.2.1');
    store.add(list, '192.0.2.1', { confidence: 'low' });
    const formats = ['plain', 'commented', 'csv_indicator', 'set_elements'];
    const replies = await Promise.all(formats.map((format) => replica.get(`?format=${format}`)));
    await clock.advance(100_000);
    const other = new Replica(clock, store);
    for (const [i, format] of formats.entries()) assert.deepEqual(await other.get(`?format=${format}`), replies[i]);
  });

  test('D5 two contents in one second: the previous bytes are served until the second one begins, and nothing is built meanwhile', async () => {
    const { clock, store, list, replica } = world(EVERY_REQUEST);
    const first = await replica.get('');
    await clock.advance(100);
    store.add(list, '192.0.2.1');
    const builds = store.calls.recordFeed + 1;
    for (let round = 0; round < 5; round++) {
      const reply = await replica.get('');
      assert.deepEqual(reply, first);
      store.add(list, `192.0.2.${10 * round + 10}`);
      await clock.advance(100);
    }
    assert.equal(store.calls.recordFeed, builds);
    await clock.advance(400);
    const second = await replica.get('');
    assert.equal(second.body, '192.0.2.1/32\n');
    assert.equal(lastModified(second), clock.second);
  });
});
