/** Feeds while the store cannot be read: a real PostgreSQL that is killed, one that hangs, and an embedded store whose file breaks. */
import assert from 'node:assert/strict';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { type FeedWorld, lapsing, type Space, startFeedWorld } from '../contract/feeds/world.ts';
import { temporaryFolder } from '../support/folder.ts';
import { ask, bearer, type Reply } from '../support/http.ts';
import { noOwnPostgres, type OwnPostgres, startOwnPostgres } from '../support/postgres.ts';
import { suspend } from '../support/suspend.ts';
import { eventually, inTime } from '../support/weir.ts';

const STALE = 'x-feed-stale-since';
const FAILED = '{"success":false,"error":"Internal server error","details":{}}';

/** Checks a 500: its shape, and that it carries no word of a driver. */
function failed(reply: Reply): void {
  assert.deepEqual([reply.status, reply.text], [500, FAILED]);
  assert.deepEqual(
    [reply.headers['cache-control'], reply.headers.etag, reply.headers['content-encoding']],
    ['no-store', undefined, undefined],
  );
}

/** The instant (ms) since which an answer is stale; it has to be there. */
function staleSince(reply: Reply): number {
  const header = reply.headers[STALE];
  assert.ok(header !== undefined, `${reply.status} without ${STALE}`);
  assert.equal(new Date(Date.parse(header)).toUTCString(), header);
  assert.ok(Date.parse(header) <= Date.now());
  return Date.parse(header);
}

suite('D5.16 failure', { skip: noOwnPostgres(), timeout: 600_000 }, () => {
  let postgres: OwnPostgres;
  let feeds: FeedWorld;
  let space: Space;
  let edgeId: string;
  const cleanup: (() => void)[] = [];

  before(async () => {
    postgres = await startOwnPostgres({ fsync: 'off' });
    const settings = { DATABASE_URL: await postgres.createDatabase(), FEED_REBUILD_SECONDS: '1' };
    feeds = await startFeedWorld(settings, temporaryFolder({ after: (work) => cleanup.push(work) }));
    space = await feeds.space();
    edgeId = await space.list('edge', '--description', 'an edge');
    await space.list('small', '--max-entries', '1');
    for (let i = 0; i < 2; i += 1) await space.list('twice');
    await space.list('never read');
    await space.block(['192.0.2.1', '2001:db8::1'], 'edge');
    await space.block(['192.0.2.1', '192.0.2.9'], 'small');
    await space.reads('/edge', '192.0.2.1/32\n2001:db8::1/128\n');
    await space.reads('', '192.0.2.1/32\n192.0.2.9/32\n2001:db8::1/128\n');
    assert.equal((await space.get('/small')).status, 413);
  });
  after(async () => {
    await feeds?.stop();
    for (const work of cleanup) work();
    await postgres?.stop();
  });

  test('D5.16, D5.14, D13.5, 7.3, D2 killed: the last good snapshot without what expires, whole or 500, never 401 to 404; back: normal', async () => {
    const [unseen, writer] = [await space.newKey(), await space.newKey('--permission', 'signal:write')];
    assert.equal((await space.get('', { key: writer })).status, 403);
    const edge = await space.get('/edge');
    assert.equal((await space.get('/twice')).status, 409);
    const enforcer = await space.newKey('--permission', 'rules:read', '--permission', 'config:read');
    const documents = () =>
      Promise.all(['/config', '/v1/rules/access'].map((path) => ask(feeds.url(), path, { headers: bearer(enforcer) })));
    for (const { status } of await documents()) assert.equal(status, 200);
    // What is asked before the expiry takes a second, or some where the machine is busy.
    const end = Math.ceil(Date.now() / 1000) + 9;
    await feeds.publish([lapsing(space.id, '198.51.100.1', end)]);
    const lines = '192.0.2.1/32\n192.0.2.9/32\n';
    const before = await space.reads('?family=v4', `${lines}198.51.100.1/32\n`);
    assert.equal(before.headers[STALE], undefined);
    const readAt = Date.now();

    await postgres.kill();
    const stale = await eventually(async () => {
      const reply = await space.get('?family=v4');
      staleSince(reply);
      return reply;
    });
    assert.ok(staleSince(stale) <= readAt + 2000 && staleSince(stale) >= readAt - 3000, 'stale since the last good read');
    assert.deepEqual([stale.status, stale.text, stale.headers.etag], [200, before.text, before.headers.etag]);
    assert.equal(stale.headers['last-modified'], before.headers['last-modified']);
    assert.equal(stale.headers['x-feed-entry-count'], '3');
    const unchanged = await space.get('?family=v4', { headers: { 'if-none-match': before.headers.etag } });
    assert.deepEqual([unchanged.status, unchanged.text], [304, '']);
    staleSince(unchanged);
    for (const document of await documents()) {
      staleSince(document);
      assert.equal(document.status, 200);
      assert.match(document.text, /192\.0\.2\.9/);
    }

    // What was not asked for before is built from the snapshot: other formats, families, codings, the digest.
    const csv = await space.get('/edge?format=csv_indicator');
    assert.equal(csv.text, '192.0.2.1,IP,high,high\n2001:db8::1,IP,high,high\n');
    const commented = await space.get('/edge?format=commented&family=v6', { headers: { 'accept-encoding': 'gzip' } });
    assert.match(
      gunzipSync(commented.bytes).toString(),
      /^# edge\n# an edge\n# action: block\n# family: v6\n.*\n# entries: 1\n2001:db8::1\/128\n$/,
    );
    const digest = await space.get('/edge?format=csv_indicator&checksum=md5');
    assert.match(digest.text, /^[0-9a-f]{32}$/);
    const empty = await space.get('/edge?action=allow');
    assert.deepEqual([empty.status, empty.text, empty.headers['x-feed-entry-count']], [200, '', '0']);
    const small = await space.get('/small');
    assert.deepEqual([small.status, small.headers['x-feed-entry-count']], [413, '2']);
    for (const reply of [csv, commented, digest, empty, small]) staleSince(reply);
    assert.equal((await space.get('/edge')).headers.etag, edge.headers.etag);

    // It was never asked for by its id while the store answered.
    for (const id of [edgeId, edgeId.toUpperCase()]) {
      const byId = await space.get(`/${id}`);
      staleSince(byId);
      assert.deepEqual([byId.status, byId.text, byId.headers.etag], [200, edge.text, edge.headers.etag]);
    }

    // No list that memory does not hold is said not to exist, none is empty; a name that was asked for before is still ambiguous.
    for (const path of ['/nowhere', '/never%20read', '/0195a3c0-0000-7000-8000-000000000001']) failed(await space.get(path));
    failed(await space.get('/nowhere', { headers: { 'accept-encoding': 'gzip' } }));
    assert.equal((await space.get('/twice')).status, 409);
    assert.equal((await space.get('?format=xml')).status, 400);
    // A process that has seen neither the key nor the feed.
    failed(await space.getReplica(''));
    failed(await space.getReplica('/edge'));

    // Known keys count as last seen, unknown ones are not said to be wrong; no key is no key.
    for (const key of [unseen, 'unknown-key-0123456789']) failed(await space.get('', { key }));
    assert.equal((await space.get('', { key: writer })).status, 403);
    assert.equal((await space.get('', { key: null })).status, 401);

    // The rule expires at its second although nobody can be asked.
    const sinces = new Set<number>();
    for (let polls = 0; polls < 3 || Date.now() < end * 1000 + 1000; polls += 1) {
      const sent = Date.now();
      const { status, text, headers } = await space.get('?family=v4');
      const received = Date.now();
      assert.equal(status, 200);
      if (received < end * 1000) assert.equal(text, before.text);
      if (sent >= end * 1000) assert.equal(text, lines);
      sinces.add(Date.parse(headers[STALE]!));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.equal(sinces.size, 1, 'the last good read does not move');
    const changed = await space.get('?family=v4', {
      headers: { 'if-none-match': before.headers.etag, 'if-modified-since': before.headers['last-modified'] },
    });
    assert.deepEqual([changed.status, changed.text], [200, lines]);
    const since = await space.get('?family=v4', { headers: { 'if-modified-since': before.headers['last-modified'] } });
    assert.deepEqual([since.status, since.text], [200, lines]);

    // Signals are still taken, from known keys.
    await space.block(['203.0.113.1']);
    await postgres.start();
    await eventually(async () => {
      const reply = await space.get('?family=v4');
      assert.deepEqual([reply.status, reply.text, reply.headers[STALE]], [200, `${lines}203.0.113.1/32\n`, undefined]);
    });
    await eventually(async () => assert.equal((await space.get('/nowhere')).status, 404));
    await eventually(async () => assert.equal((await space.get('', { key: 'unknown-key-0123456789' })).status, 401));
    for (const get of [space.get, space.getReplica]) {
      await eventually(async () => {
        const reply = await get('/edge', { key: unseen });
        assert.deepEqual([reply.status, reply.text, reply.headers[STALE]], [200, edge.text, undefined]);
      });
    }
    const small2 = await space.get('/small');
    assert.deepEqual([small2.status, small2.headers[STALE]], [413, undefined]);
  });

  test('D5.16 hanging: whoever comes first waits 10 s at most, then nobody; never 401 to 404; back: normal', async () => {
    const before = await space.get('/edge');
    assert.deepEqual([before.status, before.headers[STALE]], [200, undefined]);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    postgres.pause();
    const paused = Date.now();
    // Appliances come at the same time; each gets the last good snapshot.
    const waiting = await Promise.all([
      space.get('/edge'),
      space.get('/edge'),
      space.get('/edge?format=commented'),
      space.get('/edge?checksum=md5'),
    ]);
    const waited = Date.now() - paused;
    for (const reply of waiting) {
      assert.equal(reply.status, 200);
      assert.ok(staleSince(reply) <= paused);
    }
    assert.equal(waiting[0]!.text, before.text);
    assert.ok(waited < 14_000, `${waited} ms`);
    await inTime(5000, async () => {
      const then = performance.now();
      for (let i = 0; i < 20; i += 1) {
        const reply = await space.get('/edge', { headers: { 'if-none-match': before.headers.etag } });
        assert.equal(reply.status, 304);
        staleSince(reply);
      }
      return { took: performance.now() - then, result: undefined };
    });
    failed(await space.get('/edge', { key: 'unknown-key-0123456789' }));
    failed(await space.get('/nowhere'));
    postgres.resume();
    await eventually(async () => {
      const reply = await space.get('/edge');
      assert.deepEqual(
        [reply.status, reply.text, reply.headers[STALE], reply.headers.etag],
        [200, before.text, undefined, before.headers.etag],
      );
      assert.equal(reply.headers['last-modified'], before.headers['last-modified']);
    });
    await eventually(async () => assert.equal((await space.get('/nowhere')).status, 404));
  });
});

test('D5.16, D2 the embedded store’s file breaks: the last good snapshot or 500, never 401 to 404; mended: normal', async (t) => {
  let remove = () => {};
  const folder = temporaryFolder({ after: (work) => (remove = work) });
  const feeds = await startFeedWorld({ FEED_REBUILD_SECONDS: '1' }, folder);
  t.after(() => feeds.stop().finally(remove));
  const space = await feeds.space();
  const unseen = await space.newKey();
  await space.list('edge');
  await space.list('never read');
  await space.block(['192.0.2.1'], 'edge');
  const before = await space.reads('/edge', '192.0.2.1/32\n');
  // All threads have opened the store: one that opens a file of no bytes would delete the log beside it.
  await space.getReplica('/edge');
  const files = ['weir.db', 'weir.db-wal'].map((name) => join(folder, 'data', name));
  // Held still, so that nothing is written between. A byte is left: who opens a database without one deletes its log.
  const { pid } = feeds.world.weir();
  suspend(pid);
  const whole = files.map((file) => readFileSync(file));
  for (const file of files) truncateSync(file, 1);
  process.kill(pid, 'SIGCONT');
  const stale = await eventually(async () => {
    const reply = await space.get('/edge');
    staleSince(reply);
    return reply;
  });
  assert.deepEqual([stale.status, stale.text, stale.headers.etag], [200, before.text, before.headers.etag]);
  staleSince(await space.get('/edge?format=csv_indicator'));
  for (const path of ['', '/nowhere', '/never%20read']) failed(await space.get(path));
  for (const key of [unseen, 'unknown-key-0123456789']) failed(await space.get('/edge', { key }));

  for (const [i, file] of files.entries()) writeFileSync(file, whole[i]!, { flag: 'r+' });
  await eventually(async () => {
    const reply = await space.get('/edge', { key: unseen });
    assert.deepEqual([reply.status, reply.text, reply.headers[STALE]], [200, before.text, undefined]);
    assert.equal((await space.get('')).text, before.text);
    assert.equal((await space.get('/nowhere')).status, 404);
  });
});
