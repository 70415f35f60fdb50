/** A feed format is one row of one table: a made-up one is added to a copy of the tree, and is everywhere. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { type FeedWorld, lastModified } from '../contract/feeds/world.ts';
import { temporaryFolder } from '../support/folder.ts';
import { ask } from '../support/http.ts';
import { addFormats } from '../support/made-up-formats.ts';
import { copyTree } from '../support/tree-copy.ts';
import { eventually } from '../support/weir.ts';

const SUPPORTED = ['plain', 'commented', 'csv_indicator', 'set_elements', 'acme_wall', 'acme_csv'];
const TYPE = 'application/x-acme; charset=utf-8';
const instant = (second: number) => new Date(second * 1000).toISOString().replace('.000Z', 'Z');

suite('a format that is one row more', { timeout: 600_000 }, () => {
  const folder = temporaryFolder({ after });
  const copy = join(folder, 'weir');
  let feeds: FeedWorld;

  before(async () => {
    copyTree(copy, ['src', 'test/support', 'test/contract']);
    addFormats(copy);
    // The servers and commands of the copy.
    const world: typeof import('../contract/feeds/world.ts') = await import(pathToFileURL(join(copy, 'test/contract/feeds/world.ts')).href);
    const state = join(folder, 'state');
    mkdirSync(state);
    feeds = await world.startFeedWorld({}, state);
  });
  after(() => feeds?.stop());

  test('4.3.6, 4.3.8, 4.3.9, D5.10 it is served under every name: body, headers, tag, gzip, digest, 304, on every replica', async () => {
    const { name, block, get, getReplica, reads } = await feeds.space();
    await block(['192.0.2.0/24', '2001:db8::1']);
    const plain = await reads('', '192.0.2.0/24\n2001:db8::1/128\n');
    const reply = await get('?format=acme_wall');
    const since = lastModified(reply);
    assert.equal(reply.status, 200);
    assert.equal(reply.text, `;# ${name} block both, 2 networks of ${instant(since)} UTC\n< 192.0.2.0/24 | 2001:db8::1/128 >\n`);
    assert.deepEqual([reply.headers['content-type'], reply.headers['x-feed-entry-count']], [TYPE, '2']);
    assert.notEqual(reply.headers.etag, plain.headers.etag);
    for (const alias of ['acme', 'acme-9000']) {
      const { bytes, headers } = await get(`?format=${alias}`);
      assert.deepEqual([bytes, headers.etag, headers['content-type']], [reply.bytes, reply.headers.etag, TYPE]);
    }
    const elsewhere = await getReplica('?format=acme');
    assert.deepEqual([elsewhere.bytes, elsewhere.headers.etag], [reply.bytes, reply.headers.etag]);

    const zipped = await get('?format=acme', { headers: { 'accept-encoding': 'gzip' } });
    assert.deepEqual([gunzipSync(zipped.bytes), zipped.headers['content-type']], [reply.bytes, TYPE]);
    const digest = await get('?format=acme&checksum=md5');
    const md5 = createHash('md5').update(reply.bytes).digest('hex');
    assert.deepEqual([digest.text, digest.headers['content-type']], [md5, 'text/plain; charset=utf-8']);
    assert.equal(new Set([reply, zipped, digest].map(({ headers }) => headers.etag)).size, 3);
    for (const [query, tag, coding] of [
      ['', reply.headers.etag, 'identity'],
      ['', zipped.headers.etag, 'gzip'],
      ['&checksum=md5', digest.headers.etag, 'gzip'],
    ]) {
      const unchanged = await get(`?format=acme${query}`, { headers: { 'if-none-match': tag, 'accept-encoding': coding } });
      assert.deepEqual([unchanged.status, unchanged.bytes.length, unchanged.headers.etag], [304, 0, tag]);
    }
    const empty = await get('?format=acme&action=allow&family=v6');
    assert.equal(empty.text, `;# ${name} allow v6, 0 networks of ${instant(lastModified(empty))} UTC\n`);
  });

  test('4.5, D5.3 one with a renderer and a header line of its own is the row and that renderer; the console offers both', async () => {
    const { block, get, getReplica, reads } = await feeds.space();
    const empty = await get('?format=acme_csv&action=allow');
    assert.equal(empty.text, `value,type,confidence,severity,0,${instant(lastModified(empty))}\n`);
    await block(['192.0.2.0/24', '198.51.100.1']);
    await reads('', '192.0.2.0/24\n198.51.100.1/32\n');
    const reply = await get('?format=acme_csv');
    const rows = '192.0.2.0-192.0.2.255,IP Range,high,high\n198.51.100.1,IP,high,high\n';
    assert.equal(reply.text, `value,type,confidence,severity,2,${instant(lastModified(reply))}\n${rows}`);
    const zipped = await get('?format=acme_csv', { headers: { 'accept-encoding': 'gzip' } });
    assert.deepEqual(gunzipSync(zipped.bytes), reply.bytes);
    const elsewhere = await getReplica('?format=acme_csv');
    assert.deepEqual([elsewhere.bytes, elsewhere.headers.etag], [reply.bytes, reply.headers.etag]);
    const files: typeof import('../../src/http/console/files.ts') = await import(
      pathToFileURL(join(copy, 'src/http/console/files.ts')).href
    );
    assert.ok([...files.readConsole().files.values()].some(({ bytes }) => bytes.includes('"acme_wall","acme_csv"')));
  });

  test('D5.10 it shows the instant, so that the tag moves with it: the same content at another time has other bytes', async () => {
    const { block, unblock, get, reads } = await feeds.space();
    await block(['192.0.2.1']);
    const plain = await reads('', '192.0.2.1/32\n');
    const first = await get('?format=acme');
    await block(['192.0.2.9']);
    await reads('', '192.0.2.1/32\n192.0.2.9/32\n');
    await eventually(async () => assert.match((await get('?format=acme')).text, /192\.0\.2\.9/));
    await unblock(['192.0.2.9']);
    const plainAgain = await reads('', '192.0.2.1/32\n');
    const again = await eventually(async () => {
      const reply = await get('?format=acme');
      assert.doesNotMatch(reply.text, /192\.0\.2\.9/);
      return reply;
    });
    assert.equal(plainAgain.headers.etag, plain.headers.etag);
    assert.ok(lastModified(again) > lastModified(first));
    assert.notEqual(again.text, first.text);
    assert.notEqual(again.headers.etag, first.headers.etag);
    const stale = await get('?format=acme', { headers: { 'if-none-match': first.headers.etag } });
    assert.deepEqual([stale.status, stale.text], [200, again.text]);
  });

  test('4.4.3, 7.3, D1.7 errors name it, the command line takes it, and a list may store it', async () => {
    const { id, block, get, list, set, reads } = await feeds.space();
    const refused = await get('?format=xml');
    assert.deepEqual([refused.status, JSON.parse(refused.text).details], [400, { supported: SUPPORTED }]);
    const help = await feeds.world.text(['list', 'create', '--help']);
    assert.ok(
      help
        .replaceAll(/\s+/g, ' ')
        .includes(`--format <format> ${SUPPORTED.join(', ').replace('acme_wall', 'mikrotik, acme_wall')} --family`),
      help,
    );
    await list('edge', '--format', 'acme');
    const lists = await feeds.world.json(['list', 'ls', '--workspace', id]);
    assert.equal(lists.find(({ name }) => name === 'edge')!.format, 'acme_wall');
    await block(['192.0.2.1'], 'edge');
    await reads('/edge?format=plain', '192.0.2.1/32\n');
    assert.match((await get('/edge')).text, /^;# edge block both, 1 networks of \S+ UTC\n< 192\.0\.2\.1\/32 >\n$/);
    await set('edge', '--format', 'acme-9000');
    const lines = (await feeds.world.text(['export', '--workspace', id])).split('\n');
    assert.ok(lines.some((line) => line.includes('"format":"acme_wall"')));
  });

  test('1 the API documents list it with its aliases, description, content type and an example', async () => {
    const { text } = await ask(feeds.url(), '/docs/feeds/swagger/json');
    const { parameters, responses } = JSON.parse(text).paths['/v1/threat/feeds'].get;
    const { schema, description } = parameters.find(({ name }: { name: string }) => name === 'format');
    for (const name of ['acme_wall', 'acme', 'acme-9000']) assert.ok(schema.enum.includes(name), name);
    assert.ok(description.includes('- `acme_wall` (also `acme`, `acme-9000`): a line that begins with a semicolon'));
    assert.equal(
      responses['200'].content['application/x-acme'].examples.acme_wall.value,
      ';# edge block both, 3 networks of 2026-11-20T10:00:00Z UTC\n< 198.51.100.0/24 | 203.0.113.7/32 | 2001:db8::/32 >\n',
    );
  });
});
