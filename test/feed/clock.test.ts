import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FORMAT_NAMES } from '../../src/feed/formats/table.ts';
import { GEO, lastModified, ManualClock, MemoryStore, Replica, settled, WORKSPACE } from '../support/feed-world.ts';

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
    assert.deepEqual([store.calls.findNamed, store.calls.snapshot], [1, 1]);
    await clock.advance(1);
    assert.equal((await replica.get('')).body, '192.0.2.1/32\n');
  });

  for (const target of ['', '/edge'])
    test(`D35.4 the first poll of one format of the feed ${target} is answered though another one is read anew before it is recorded`, async () => {
      const { clock, store, list, replica } = world({ rebuildSeconds: 1 });
      store.add(list, '192.0.2.1');
      const { recordDocument } = store;
      const late = Promise.withResolvers<void>();
      store.recordDocument = async (...args) => {
        store.recordDocument = recordDocument;
        await late.promise;
        return recordDocument.apply(store, args);
      };
      const first = replica.get(`${target}?format=csv_indicator`);
      await settled();
      store.add(list, '192.0.2.9');
      await clock.advance(1_000);
      assert.equal((await replica.get(target)).body, '192.0.2.1/32\n192.0.2.9/32\n');
      late.resolve();
      const { status, body } = await first;
      assert.equal(status, 200);
      assert.match(body, /^192\.0\.2\.1,IP,high,high\n/);
      await clock.advance(1_000);
      assert.equal((await replica.get(`${target}?format=csv_indicator`)).body, '192.0.2.1,IP,high,high\n192.0.2.9,IP,high,high\n');
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
    assert.deepEqual([store.calls.findNamed, store.calls.snapshot], [20, 1]);
  });

  test('D5 a feed that was built or confirmed stands ready for 30 seconds, without a promise', async () => {
    const { clock, list, replica } = world();
    const hit = (boundTo: string | null = null) => replica.cache.hit({ workspaceId: WORKSPACE, list: 'edge', variant: {}, boundTo });
    assert.equal(hit(), undefined);
    for (let round = 0; round < 3; round++) {
      await replica.get('/edge');
      assert.deepEqual([hit()?.kind, hit(list)?.kind, hit('another list')], ['document', 'document', undefined]);
      await clock.advance(29_999);
      assert.equal(hit()?.kind, 'document');
      await clock.advance(1);
      assert.equal(hit(), undefined);
    }
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
    assert.deepEqual(store.calls, { findNamed: 1, snapshot: 1, revisions: 0, ruleStates: 0, rulesById: 0, recordDocument: 1 });
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
    assert.deepEqual([store.calls.findNamed, store.calls.snapshot], [4, 3]);
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

describe('3 expiry', () => {
  test('3 D5 an expired rule is not served from its second on, although the snapshot stands', async () => {
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

  test('D5 the store is asked for exactly the expiring rules, all of one second in one read', async () => {
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

  test('3 D5 the same on replicas that are polled out of step, with other rules expiring each second', async () => {
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

  test('D5 where the store cannot answer, expired rules leave', async () => {
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
    const replies = await Promise.all(FORMAT_NAMES.map((format) => replica.get(`?format=${format}`)));
    await clock.advance(100_000);
    const other = new Replica(clock, store);
    for (const [i, format] of FORMAT_NAMES.entries()) assert.deepEqual(await other.get(`?format=${format}`), replies[i]);
  });

  test('D5 two contents in one second: the previous bytes are served until the second one begins, and nothing is built meanwhile', async () => {
    const { clock, store, list, replica } = world(EVERY_REQUEST);
    const first = await replica.get('');
    await clock.advance(100);
    store.add(list, '192.0.2.1');
    for (let round = 0; round < 5; round++) {
      assert.deepEqual(await replica.get(''), first);
      store.add(list, `192.0.2.${10 * round + 10}`);
      await clock.advance(100);
    }
    assert.equal(store.calls.recordDocument, 2);
    await clock.advance(400);
    const second = await replica.get('');
    assert.deepEqual([second.body, lastModified(second)], ['192.0.2.1/32\n', lastModified(first) + 1]);
    await clock.advance(1_000);
    const third = await replica.get('');
    assert.deepEqual([third.body.split('\n').length, lastModified(third)], [7, lastModified(first) + 2]);
  });

  test('D5 beginnings do not run ahead of the clock, however often the content changes', async () => {
    const { clock, store, list, replica } = world(EVERY_REQUEST);
    let shown = await replica.get('');
    for (let round = 0; round < 200; round++) {
      store.add(list, `10.0.${round}.1`);
      const reply = await replica.get('', { 'if-modified-since': shown.headers['last-modified'] });
      if (reply.status === 200) {
        assert.ok(lastModified(reply) > lastModified(shown), 'another content has another Last-Modified');
        shown = reply;
      }
      assert.ok(lastModified(reply) <= clock.second);
      await clock.advance(130);
    }
    for (const { since } of store.records.values()) assert.ok(since <= clock.second + 1);
    assert.ok(shown.body.split('\n').length > 180);
  });

  test('D5 a content that is yet to begin holds nothing that expires until then', async () => {
    const { clock, store, list, replica } = world(EVERY_REQUEST);
    store.add(list, '192.0.2.1', { ttl: 1 });
    const first = await replica.get('');
    await clock.advance(200);
    store.add(list, '192.0.2.3');
    assert.deepEqual(await replica.get(''), first);
    await clock.advance(800);
    const second = await replica.get('');
    assert.deepEqual([second.body, lastModified(second)], ['192.0.2.3/32\n', lastModified(first) + 1]);
    for (let second = 0; second < 3; second++) {
      await clock.advance(1_000);
      assert.equal((await replica.get('')).headers['last-modified'], (await replica.get('')).headers['last-modified']);
    }
    assert.equal(lastModified(await replica.get('')), lastModified(first) + 1);
  });

  test('D5.14 a content that is served at once, because the previous one has expired, holds each rule until its second', async () => {
    const { clock, store, list, replica } = world(EVERY_REQUEST);
    store.add(list, '192.0.2.1', { ttl: 1 });
    store.add(list, '192.0.2.3', { ttl: 2 });
    await replica.get('');
    await clock.advance(200);
    store.add(list, '192.0.2.5');
    await replica.get('');
    await clock.advance(800);
    store.add(list, '192.0.2.7');
    assert.equal((await replica.get('')).body, '192.0.2.3/32\n192.0.2.5/32\n192.0.2.7/32\n');
    await clock.advance(1_000);
    assert.equal((await replica.get('')).body, '192.0.2.5/32\n192.0.2.7/32\n');
  });

  test('D5 a rule that is renewed in the last moment before such a beginning is back at once', async () => {
    const { clock, store, list, replica } = world(EVERY_REQUEST);
    const rule = store.add(list, '192.0.2.1', { ttl: 1 });
    await replica.get('');
    await clock.advance(200);
    store.add(list, '192.0.2.3');
    await replica.get('');
    await clock.advance(200);
    store.renew(rule, 60);
    await clock.advance(600);
    assert.equal((await replica.get('')).body, '192.0.2.1/32\n192.0.2.3/32\n');
  });

  test('D5 an expiry while another content is yet to begin: no expired rule is served, Last-Modified is never ahead', async () => {
    const { clock, store, list, replica } = world();
    store.add(list, '192.0.2.1', { ttl: 31 });
    store.add(list, '192.0.2.3', { ttl: 33 });
    for (const format of ['plain', 'commented']) await replica.get(`?format=${format}`);
    // Another replica, whose clock is ahead, has shown something else meanwhile.
    for (const [name, row] of store.records)
      store.records.set(name, { hash: 'other', snapshotAt: row.snapshotAt + 1, since: row.since + 32 });
    await clock.advance(30_000);
    store.add(list, '192.0.2.5');
    const expected = ['1 3', '3 5', '3 5', '5', '5', '5'].map((hosts) => hosts.replaceAll(/\d/g, '192.0.2.$&/32\n').replaceAll(' ', ''));
    const modified: number[] = [];
    for (const body of expected) {
      const plain = await replica.get('');
      const commented = await replica.get('?format=commented');
      assert.equal(plain.body, body);
      assert.ok(commented.body.endsWith(body));
      assert.ok(commented.body.includes(`# generated: ${new Date(lastModified(commented) * 1000).toISOString().replace('.000', '')}\n`));
      assert.ok(lastModified(plain) <= clock.second);
      modified.push(lastModified(plain) - clock.second);
      await clock.advance(1_000);
    }
    assert.deepEqual(modified, [-30, 0, -1, 0, -1, 0]);
  });

  test('D5 a beginning that lies far ahead is a wrong clock, and holds no change back', async () => {
    const { clock, store, list, replica } = world();
    const first = await replica.get('');
    for (const [name, row] of store.records) store.records.set(name, { ...row, hash: 'other', since: row.since + 100_000 });
    store.add(list, '192.0.2.1');
    await clock.advance(30_000);
    const second = await replica.get('');
    assert.deepEqual([second.body, lastModified(second)], ['192.0.2.1/32\n', lastModified(first) + 30]);
    await clock.advance(30_000);
    assert.deepEqual((await replica.get('')).headers, second.headers);
  });

  test('D5.15, D35.1 where the store takes no writes, another content has a date before all others, which proves nothing', async () => {
    const { clock, store, list, replica } = world();
    const first = await replica.get('');
    store.readOnly = true;
    store.add(list, '192.0.2.1');
    await clock.advance(30_000);
    const since = { 'if-modified-since': first.headers['last-modified'] };
    const second = await replica.get('', since);
    assert.deepEqual([second.status, second.body, lastModified(second)], [200, '192.0.2.1/32\n', 0]);
    assert.equal((await replica.get('', { 'if-none-match': second.headers.etag })).status, 304);
    assert.equal((await replica.get('', { 'if-modified-since': second.headers['last-modified'] })).status, 200);
    store.readOnly = false;
    await clock.advance(30_000);
    const third = await replica.get('', since);
    assert.deepEqual([third.body, lastModified(third)], [second.body, lastModified(first) + 60]);
    assert.equal((await replica.get('', { 'if-modified-since': third.headers['last-modified'] })).status, 304);
  });

  test('D35.1 a content that could not be recorded, then a start anew: who has it by date is told that the one before is back', async () => {
    const { clock, store, list, replica } = world();
    const rule = store.add(list, '192.0.2.1');
    await replica.get('');
    store.readOnly = true;
    store.remove(rule);
    await clock.advance(30_000);
    const held = await replica.get('');
    assert.deepEqual([held.status, held.body], [200, '']);
    store.readOnly = false;
    store.add(list, '192.0.2.1');
    const next = await new Replica(clock, store).get('', { 'if-modified-since': held.headers['last-modified'] });
    assert.deepEqual([next.status, next.body], [200, '192.0.2.1/32\n']);
  });

  test('D35.1 a process that starts while the store takes no writes, then a clock set back: who has a content by date is told of the next', async () => {
    const { clock, store, list, replica } = world();
    const rule = store.add(list, '192.0.2.1');
    store.readOnly = true;
    const held = await replica.get('');
    store.readOnly = false;
    clock.set(-20_000);
    store.remove(rule);
    const next = await new Replica(clock, store).get('', { 'if-modified-since': held.headers['last-modified'] });
    assert.deepEqual([next.status, next.body], [200, '']);
  });

  test('D37.3 a family is set while the feed is looked at with the one before: who has that by date is told of the other', async () => {
    const { clock, store, list, replica } = world();
    for (const target of ['192.0.2.1', '2001:db8::1']) store.add(list, target);
    store.setList(list, { family: 'v6' });
    for (const target of ['/edge?family=v4', '/edge']) await replica.get(target);
    await clock.advance(30_000);
    const { recordDocument } = store;
    store.recordDocument = async (...args) => {
      store.recordDocument = recordDocument;
      store.setList(list, { family: 'v4' });
      return recordDocument.apply(store, args);
    };
    const held = await replica.get('/edge');
    assert.equal(held.body, '2001:db8::1/128\n');
    await clock.advance(30_000);
    const next = await replica.get('/edge', { 'if-modified-since': held.headers['last-modified'] });
    assert.deepEqual([next.status, next.body], [200, '192.0.2.1/32\n']);
  });

  test('D37.3 a later instant with which one replica tells a content is that of the others after an interval', async () => {
    const { clock, store, list, replica } = world();
    store.add(list, '192.0.2.1');
    const told = lastModified(await replica.get('/edge'));
    const [[name, row]] = [...store.records] as [[string, { hash: string; snapshotAt: number; since: number }]];
    store.records.set(name, { ...row, since: told - 7 });
    const other = new Replica(clock, store);
    assert.equal(lastModified(await other.get('/edge')), told - 7);
    for (const each of [replica, other]) {
      await clock.advance(30_000);
      await each.get('/edge');
    }
    assert.deepEqual([lastModified(await other.get('/edge')), lastModified(await replica.get('/edge'))], [told, told]);
  });

  test('D35.7 another variant, or another feed, at an address is told to who knows what was there by its date alone', async () => {
    const { clock, store, list, replica } = world();
    const other = store.addList('other');
    for (const each of [list, other]) for (const target of ['192.0.2.1', '2001:db8::1']) store.add(each, target);
    for (const target of ['/edge', '/edge?family=v6', '/other']) await replica.get(target);
    await clock.advance(30_000);
    const rule = store.add(list, '192.0.2.9');
    await clock.advance(30_000);
    let held = await replica.get('/edge');
    const changes = [
      () => store.setList(list, { family: 'v6' }),
      () => store.setList(list, { family: null }),
      () => store.setList(list, { format: 'csv_indicator' }),
      () => {
        store.setList(list, { name: 'old' });
        store.setList(other, { name: 'edge' });
      },
    ];
    for (const change of changes) {
      await clock.advance(10_000);
      // Variants that others poll stand ready.
      await replica.get('/edge?family=v6');
      change();
      await clock.advance(30_000);
      const next = await replica.get('/edge', { 'if-modified-since': held.headers['last-modified'] });
      assert.equal(next.status, 200);
      assert.notEqual(next.body, held.body);
      assert.ok(lastModified(next) > lastModified(held));
      held = next;
    }
    store.remove(rule);
  });

  test('D35.2 a clock that was ahead for a moment: the next content is recorded, and dates prove what they did before', async () => {
    const { clock, store, list, replica } = world();
    const first = await replica.get('');
    clock.set(3_600_000);
    await clock.advance(30_000);
    await replica.get('');
    clock.set(-3_600_000);
    store.add(list, '192.0.2.1');
    await clock.advance(30_000);
    const second = await replica.get('');
    assert.equal(lastModified(second), lastModified(first) + 60);
    const restarted = new Replica(clock, store);
    const third = await restarted.get('', { 'if-modified-since': first.headers['last-modified'] });
    assert.deepEqual([third.status, third.body], [200, '192.0.2.1/32\n']);
    assert.equal((await restarted.get('', { 'if-modified-since': second.headers['last-modified'] })).status, 304);
  });

  test('D35.3 what changed by a clock that was ahead is not built again at each interval until it has caught up', async () => {
    let builds = 0;
    const gates: NonNullable<Parameters<typeof world>[0]>['gates'] = (call) =>
      ((...args) => {
        builds += 1;
        return call(...args);
      }) as typeof call;
    const { clock, store, list, replica } = world({ gates });
    await replica.get('');
    clock.set(3_600_000);
    store.add(list, '192.0.2.1');
    await clock.advance(30_000);
    await replica.get('');
    clock.set(-3_600_000);
    for (const more of ['', '192.0.2.9']) {
      if (more !== '') store.add(list, more);
      for (let round = 0; round < 3; round++) {
        await clock.advance(33_000);
        await replica.get('');
      }
      builds = 0;
      for (let round = 0; round < 5; round++) {
        await clock.advance(33_000);
        assert.equal((await replica.get('')).body, `192.0.2.1/32\n${more && `${more}/32\n`}`);
      }
      assert.equal(builds, 0);
    }
    await clock.advance(3_600_000);
    const caughtUp = await replica.get('');
    await clock.advance(33_000);
    assert.equal((await replica.get('', { 'if-modified-since': caughtUp.headers['last-modified'] })).status, 304);
  });

  test('D5.15 a replica whose store is away gives no date by which another one would take its content for newer than it is', async () => {
    const { clock, store, list, replica } = world();
    store.add(list, '192.0.2.1', { ttl: 45 });
    const other = new Replica(clock, store);
    await replica.get('');
    store.down = true;
    await clock.advance(50_000);
    const stale = await replica.get('');
    assert.deepEqual([stale.status, stale.body], [200, '']);
    store.down = false;
    store.add(list, '192.0.2.9');
    await clock.advance(1_000);
    const fresh = await other.get('', { 'if-modified-since': stale.headers['last-modified'] });
    assert.deepEqual([fresh.status, fresh.body], [200, '192.0.2.9/32\n']);
  });
});

describe('D5 failure', () => {
  const STALE = 'x-feed-stale-since';

  test('a store that cannot be read: the last good snapshot with the time of the last good read, and it recovers', async () => {
    const { clock, store, list, replica } = world();
    store.add(list, '192.0.2.1', { ttl: 45 });
    store.add(list, '192.0.2.9');
    const good = await replica.get('/edge');
    store.down = true;
    await clock.advance(30_000);
    const stale = await replica.get('/edge');
    assert.deepEqual(stale.headers, { ...good.headers, [STALE]: 'Fri, 20 Nov 2026 10:00:00 GMT' });
    const unchanged = await replica.get('/edge', { 'if-none-match': good.headers.etag });
    assert.deepEqual([unchanged.status, unchanged.headers[STALE]], [304, stale.headers[STALE]]);
    // Expired rules are out, also in a format that nobody has asked for before.
    await clock.advance(15_000);
    assert.equal((await replica.get('/edge')).body, '192.0.2.9/32\n');
    const commented = await replica.get('/edge?format=commented');
    assert.match(commented.body, /# entries: 1\n192\.0\.2\.9\/32\n$/);
    assert.equal(commented.headers[STALE], stale.headers[STALE]);
    store.down = false;
    await clock.advance(1_000);
    const fresh = await replica.get('/edge');
    assert.deepEqual([fresh.body, fresh.headers[STALE]], ['192.0.2.9/32\n', undefined]);
  });

  test('while the store fails it is asked once a second, and nobody waits meanwhile', async () => {
    const { clock, store, replica } = world();
    await replica.get('');
    store.down = true;
    await clock.advance(30_000);
    const before = store.calls.findNamed;
    for (let i = 0; i < 40; i++) {
      assert.equal((await replica.get('')).status, 200);
      await clock.advance(100);
    }
    assert.equal(store.calls.findNamed, before + 4);
    assert.equal(replica.errors.length, 4);
  });

  test('for up to 24 h, then 500; never an empty 200', async () => {
    const { clock, store, list, replica } = world();
    store.add(list, '192.0.2.9');
    await replica.get('');
    store.down = true;
    await clock.advance(24 * 3_600_000);
    assert.equal((await replica.get('')).body, '192.0.2.9/32\n');
    await clock.advance(1_001);
    assert.equal((await replica.get('')).status, 500);
  });

  test('without a good snapshot 500; an unknown list is 500 too, an ambiguous one is known', async () => {
    const { clock, store, replica } = world();
    store.down = true;
    for (const target of ['', '/edge', '/nowhere']) assert.equal((await replica.get(target)).status, 500, target);
    store.down = false;
    store.addList('twin');
    store.addList('twin');
    for (const target of ['', '/twin', '/nowhere']) await replica.get(target);
    store.down = true;
    await clock.advance(30_000);
    assert.deepEqual(
      await Promise.all(['', '/edge', '/nowhere', '/twin'].map(async (target) => (await replica.get(target)).status)),
      [200, 500, 500, 409],
    );
  });

  test('a store that does not answer a build within 10 s', async () => {
    const { clock, store, list, replica } = world();
    store.add(list, '192.0.2.9');
    const first = new Replica(clock, store).get('');
    await settled();
    assert.equal((await first).status, 200);
    await replica.get('');
    store.hanging = true;
    const hopeless = new Replica(clock, store).get('');
    await clock.advance(30_000);
    assert.equal((await hopeless).status, 500);
    const waiting = replica.get('');
    await clock.advance(9_999);
    assert.equal(await Promise.race([waiting, 'waiting']), 'waiting');
    await clock.advance(1);
    assert.equal((await waiting).headers[STALE], 'Fri, 20 Nov 2026 10:00:00 GMT');
    // Known to hang, it keeps nobody for longer than a second.
    await clock.advance(1_000);
    const next = replica.get('');
    await clock.advance(1_000);
    assert.equal((await next).status, 200);
    store.hanging = false;
    await clock.advance(1_000);
    assert.equal((await replica.get('')).headers[STALE], undefined);
  });

  test('a snapshot that cannot be read although the names can', async () => {
    const { clock, store, list, replica } = world();
    store.add(list, '192.0.2.9');
    await replica.get('');
    const { follow } = store;
    store.follow = () => Promise.reject(new Error('broken'));
    store.add(list, '192.0.2.1');
    await clock.advance(30_000);
    const stale = await replica.get('');
    assert.deepEqual([stale.body, stale.headers[STALE]], ['192.0.2.9/32\n', 'Fri, 20 Nov 2026 10:00:00 GMT']);
    store.follow = follow;
    await clock.advance(1_000);
    const fresh = await replica.get('');
    assert.deepEqual([fresh.body, fresh.headers[STALE]], ['192.0.2.1/32\n192.0.2.9/32\n', undefined]);
  });

  test('a list that is deleted is 404 from the next read on', async () => {
    const { clock, store, replica } = world();
    const other = store.addList('other');
    assert.equal((await replica.get('/other')).status, 200);
    store.deleteList(other);
    await clock.advance(30_000);
    assert.equal((await replica.get('/other')).status, 404);
    assert.equal((await replica.get(`/${other}`)).status, 404);
  });
});
