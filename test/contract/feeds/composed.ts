/** Feeds made of lists (SPEC D8): the contract of 4.3 to 4.6 over several lists. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FORMAT_NAMES } from '../../../src/feed/formats/table.ts';
import { postSignals } from '../../support/http.ts';
import { seededRandom } from '../../support/random.ts';
import { eventually } from '../../support/weir.ts';
import type { Json } from '../../support/world.ts';
import type { Once } from '../engine.ts';
import { ACTIONS, event, FAMILIES, type FeedWorld, lastModified, type Space, upsert } from './world.ts';

/** Every address of IPv4 networks, one a line. */
function addressesOf(text: string): Set<number> {
  const found = new Set<number>();
  for (const line of text.trimEnd().split('\n').filter(Boolean)) {
    const [address, prefix] = line.split('/') as [string, string];
    const first = address.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0);
    for (let i = 0; i < 2 ** (32 - Number(prefix)); i += 1) found.add(first + i);
  }
  return found;
}

export function composedFeedTests(feeds: () => FeedWorld, once: Once): void {
  /** Makes a feed; its id. */
  async function make({ id }: Space, name: string, ...options: string[]): Promise<string> {
    const [made] = await feeds().world.json(['feed', 'create', name, '--workspace', id, ...options]);
    return String(made!.id);
  }
  const change = ({ id }: Space, command: string, ...options: string[]) =>
    feeds().world.text(['feed', command, ...options, '--workspace', id]);

  test('D8.1, D8.2 a feed of lists is, in every representation, what one list with all their rules is', async () => {
    const [many, one] = [await feeds().space(), await feeds().space()];
    await many.list('a', '--confidence', 'low', '--format', 'set_elements', '--max-entries', '1');
    await many.list('b', '--family', 'v6', '--action', 'allow');
    await many.list('c');
    await make(many, 'device', '--list', 'a', '--list', 'b', '--description', 'of two', '--severity', 'medium');
    await one.list('device', '--description', 'of two', '--severity', 'medium');
    const inA = [
      upsert('192.0.2.0/25'),
      upsert('192.0.2.7', { config: { confidence: 'critical', severity: 'low' } }),
      upsert('2001:db8::1', { action: 'allow' }),
      event('NL'),
    ];
    const inB = [upsert('192.0.2.128/25'), upsert('2001:db8::/64'), upsert('192.0.2.9', { action: 'allow' }), event('AS64500')];
    const low = (entry: Json): Json => {
      const rule = (entry.rule ?? { target: { country: 'NL' } }) as { config?: object };
      return { kind: 'access_rule', op: 'upsert', rule: { ...rule, config: { confidence: 'low', ...rule.config } } };
    };
    const send = (to: Space, entries: readonly Json[], list: string) =>
      Promise.all(
        [entries.filter((e) => 'kind' in e), entries.filter((e) => !('kind' in e))].map((each) => each.length > 0 && to.send(each, list)),
      );
    await send(many, inA, 'a');
    await send(many, inB, 'b');
    await send(many, [upsert('203.0.113.99')], 'c');
    await send(one, inA.map(low), 'device');
    await send(one, inB, 'device');
    const plain = '/device?format=plain';
    const whole = await eventually(async () => {
      const reply = await one.get(plain);
      assert.match(reply.text, /192\.0\.2\.0\/24.*198\.51\.100\.0\/23.*2001:db8:c::/s);
      return reply.text;
    });
    await many.reads(plain, whole);
    const undated = (text: string) => text.replace(/^# generated: .*$/m, '');
    for (const format of FORMAT_NAMES) {
      for (const family of FAMILIES) {
        for (const action of ACTIONS) {
          const query = `/device?format=${format}&family=${family}&action=${action}`;
          const [composed, single] = [await many.get(query), await one.get(query)];
          assert.equal(undated(composed.text), undated(single.text), query);
          assert.equal(composed.headers['x-feed-entry-count'], single.headers['x-feed-entry-count']);
          if (format !== 'commented') assert.equal(composed.headers.etag, single.headers.etag);
          const md5 = await many.get(`${query}&checksum=md5`);
          assert.equal(md5.headers['x-feed-entry-limit'], '131072');
          const { status } = await many.get(query, { headers: { 'if-none-match': composed.headers.etag! } });
          assert.equal(status, 304);
        }
      }
    }
  });

  once('D8.1 a feed of lists covers the addresses that its lists cover, and no other', async () => {
    const space = await feeds().space();
    const { below } = seededRandom(8);
    const names = ['a', 'b', 'c', 'd'];
    for (const name of names) {
      await space.list(name);
      const networks = Array.from({ length: name === 'd' ? 3 : 20 }, () => `192.0.${below(4)}.${below(256)}/${27 + below(6)}`);
      await space.block(networks, name);
    }
    await make(space, 'some', '--list', 'a', '--list', 'b');
    await make(space, 'all', '--all-lists');
    const of = async (name: string) => addressesOf((await space.get(`/${name}`)).text);
    const union = async (lists: readonly string[]) => new Set((await Promise.all(lists.map(of))).flatMap((each) => [...each]));
    await feeds().landed();
    await space.reads('/all', (await space.get('')).text);
    assert.deepEqual((await of('some')).symmetricDifference(await union(['a', 'b'])), new Set());
    assert.deepEqual((await of('all')).symmetricDifference(await union(names)), new Set());
    assert.ok((await of('all')).size > (await of('some')).size);
  });

  test('D8.2, 4.6 a feed has stored defaults and a cap of its own; the query always wins', async () => {
    const space = await feeds().space();
    for (const [i, name] of ['a', 'b'].entries()) {
      await space.list(name, '--max-entries', '1');
      await space.block([`192.0.2.${2 * i}`, `2001:db8::${2 * i}`], name);
    }
    await make(space, 'device', '--list', 'a', '--list', 'b', '--format', 'set_elements', '--family', 'v4', '--max-entries', '3');
    await space.reads('/device', 'elements = { 192.0.2.0/32, 192.0.2.2/32 }\n');
    await space.reads('/device?format=plain&family=v6', '2001:db8::/128\n2001:db8::2/128\n');
    const over = await space.get('/device?family=both');
    assert.deepEqual([over.status, over.headers['x-feed-entry-count'], over.headers['x-feed-entry-limit']], [413, '4', '3']);
    assert.match(JSON.parse(over.text).details.hint, /raise the feed's max_entries\. Before .*by list: /);
    await change(space, 'set', 'device', '--max-entries', '', '--format', 'plain', '--family', '', '--list', 'a');
    await space.reads('/device', '192.0.2.0/32\n2001:db8::/128\n');
    assert.equal((await space.get('/device')).headers['x-feed-entry-limit'], '131072');
  });

  test('D8.2, D7.4, D7.6 never-block rules of its lists, or of the workspace, and protected networks are cut out of a feed', async () => {
    const space = await feeds().space();
    for (const name of ['a', 'b']) await space.list(name);
    await space.send([upsert('192.0.2.0/29')], 'a');
    await space.send([upsert('192.0.2.0/30', { action: 'allow' })], 'b');
    await space.send([upsert('192.0.2.4', { action: 'allow' })]);
    await make(space, 'device', '--list', 'a', '--list', 'b');
    await space.reads('/device', '192.0.2.0/29\n');
    const said = await change(space, 'set', 'device', '--subtract-allow', 'on');
    assert.match(said, /has 1 entry now, as many as with never-block rules left in/);
    await space.reads('/device', '192.0.2.4/30\n');
    await change(space, 'set', 'device', '--subtract-allow', 'workspace');
    await space.reads('/device', '192.0.2.5/32\n192.0.2.6/31\n');
    await feeds().world.text(['workspace', 'set', space.id, '--protect', '192.0.2.6/32']);
    await space.reads('/device', '192.0.2.5/32\n192.0.2.7/32\n');
    await change(space, 'set', 'device', '--subtract-allow', '');
    await space.reads('/device', '192.0.2.0/30\n192.0.2.4/31\n192.0.2.7/32\n');
  });

  test('D8.3 a UUID wins, then a list’s name, then a feed’s; a feed of another workspace is 404, and no list of signals', async () => {
    const [space, other] = [await feeds().space(), await feeds().space()];
    await space.list('edge');
    await space.block(['192.0.2.1'], 'edge');
    const id = await make(space, 'de/vice', '--list', 'edge');
    await space.block(['192.0.2.2'], await space.list(id));
    for (const name of ['de%2Fvice', id, id.toUpperCase()]) await space.reads(`/${name}`, '192.0.2.1/32\n');
    for (const name of ['de%2Fvice', id, 'De%2Fvice']) assert.equal((await other.get(`/${name}`)).status, 404);
    const { status } = await postSignals(
      feeds().url(),
      space.key,
      [event('192.0.2.3')],
      `/v1/signal?list=${encodeURIComponent('de/vice')}`,
    );
    assert.equal(status, 404);
    await change(space, 'delete', id, '--yes');
    assert.equal((await space.get('/de%2Fvice')).status, 404);
    await space.reads(`/${id}`, '192.0.2.2/32\n');
  });

  test('D8.5, D8.8 a feed changes with its lists alone; one of all lists takes in new ones; a deleted list leaves', async () => {
    const space = await feeds().space();
    for (const name of ['a', 'b', 'c']) await space.list(name);
    await space.block(['192.0.2.1'], 'a');
    await make(space, 'ab', '--list', 'a', '--list', 'b');
    await make(space, 'bc', '--list', 'b', '--list', 'c');
    await make(space, 'all', '--all-lists');
    const before = await space.reads('/ab', '192.0.2.1/32\n');
    const bc = await space.reads('/bc', '');
    await space.block(['192.0.2.3'], 'c');
    await space.reads('/bc', '192.0.2.3/32\n');
    const conditions = { 'if-none-match': before.headers.etag!, 'if-modified-since': before.headers['last-modified']! };
    assert.equal((await space.get('/ab', { headers: conditions })).status, 304);
    assert.equal((await space.get('/bc', { headers: { 'if-none-match': bc.headers.etag! } })).status, 200);
    await space.block(['192.0.2.9'], await space.list('later'));
    await space.reads('/all', '192.0.2.1/32\n192.0.2.3/32\n192.0.2.9/32\n');
    await space.block(['192.0.2.2'], 'b');
    const both = await space.reads('/ab', '192.0.2.1/32\n192.0.2.2/32\n');
    assert.ok(lastModified(both) > lastModified(before));
    for (const name of ['b', 'c']) await feeds().world.text(['list', 'delete', name, '--yes', '--workspace', space.id]);
    await space.reads('/ab', '192.0.2.1/32\n');
    await space.reads('/all', '192.0.2.1/32\n192.0.2.9/32\n');
    assert.equal((await space.reads('/bc', '')).headers['x-feed-entry-count'], '0');
  });

  test('D8.6 a key that is bound to a feed reads that feed only, and sends nothing', async () => {
    const space = await feeds().space();
    await space.list('edge');
    await space.block(['192.0.2.1'], 'edge');
    const id = await make(space, 'device', '--list', 'edge');
    await make(space, 'other', '--list', 'edge');
    await space.reads('/device', '192.0.2.1/32\n');
    const key = await space.newKey('--feed', 'device');
    for (const name of ['device', id]) assert.equal((await space.get(`/${name}`, { key })).text, '192.0.2.1/32\n');
    for (const name of ['', '/edge', '/other', '/nowhere', '/default']) {
      const { status, text } = await space.get(name, { key });
      assert.deepEqual([status, JSON.parse(text).error], [403, 'The API key is bound to one feed'], name);
    }
    const sent = await postSignals(feeds().url(), key, [event('192.0.2.3')]);
    assert.deepEqual([sent.status, JSON.parse(sent.text).message], [403, 'The API key does not have the permission signal:write']);
    const ofList = await space.newKey('--list', 'edge');
    assert.equal((await space.get('/device', { key: ofList })).status, 403);
    await change(space, 'delete', 'device', '--yes');
    await eventually(async () => assert.equal((await space.get(`/${id}`, { key })).status, 401));
    assert.equal((await space.get('/edge')).text, '192.0.2.1/32\n');
  });
}
