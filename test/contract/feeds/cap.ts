/** The entry cap (spec 4.6). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { FORMAT_NAMES } from '../../../src/feed/formats/table.ts';
import { ask, bearer, type Reply } from '../../support/http.ts';
import { eventually } from '../../support/weir.ts';
import type { Json } from '../../support/world.ts';
import type { Once } from '../engine.ts';
import { type FeedWorld, SCATTERED, upsert } from './world.ts';

const CAP = 131_072;

interface Refusal {
  readonly success: boolean;
  readonly error: string;
  readonly details: { readonly entries: number; readonly limit: number; readonly hint: string };
}

/** Checks a 413 but for its hint, which it returns. */
function hintOf(reply: Reply, entries: number, limit: number): string {
  const { success, error, details } = JSON.parse(reply.text) as Refusal;
  const { hint, ...rest } = details;
  assert.deepEqual([reply.status, success, rest], [413, false, { entries, limit }]);
  assert.match(error, /exceeds the maximum number of entries/);
  const { date: _, connection: __, 'keep-alive': ___, ...headers } = reply.headers;
  assert.deepEqual(headers, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(reply.bytes.length),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-feed-entry-count': String(entries),
    'x-feed-entry-limit': String(limit),
  });
  return hint;
}

export function capTests(feeds: () => FeedWorld, once: Once): void {
  test('4.6.1, 4.6.2, 8 131,072 networks are served, 131,073 refused; a list may raise its own cap', { timeout: 600_000 }, async () => {
    const { list, block, get, set } = await feeds().space();
    await list('full');
    // Every other address, so that none merge; before those of the country.
    const address = (i: number) => `10.0.${(i >> 7) & 255}.${(2 * i) & 255}`;
    const addresses = CAP - SCATTERED.networks;
    await block([SCATTERED.country], 'full');
    for (let at = 0; at < addresses; at += 1000) {
      await block(
        Array.from({ length: Math.min(1000, addresses - at) }, (_, i) => address(at + i)),
        'full',
      );
    }
    const full = await eventually(async () => {
      const reply = await get('/full');
      assert.deepEqual([reply.status, reply.headers['x-feed-entry-count']], [200, String(CAP)]);
      return reply;
    }, 60_000);
    const lines = full.text.split('\n');
    assert.deepEqual(
      [lines.length, lines[0], lines[1], lines[CAP - 1], lines[CAP]],
      [CAP + 1, '10.0.0.0/32', '10.0.0.2/32', '11.3.169.126/32', ''],
    );
    assert.equal(full.headers['content-length'], String(full.bytes.length));
    const zipped = await get('', { headers: { 'accept-encoding': 'gzip' } });
    assert.equal(zipped.headers['content-encoding'], 'gzip');
    assert.ok(zipped.bytes.length < full.bytes.length / 2 && gunzipSync(zipped.bytes).equals(full.bytes));

    await block([address(addresses)], 'full');
    const over = await eventually(async () => {
      const reply = await get('/full');
      assert.equal(reply.status, 413);
      return reply;
    });
    const hint = hintOf(over, CAP + 1, CAP);
    assert.match(hint, /country FR \(120000 networks\), 11073 address rules/);
    assert.match(hint, /narrow/);
    assert.match(hint, /max_entries/);
    hintOf(await get(''), CAP + 1, CAP);
    for (const format of FORMAT_NAMES) hintOf(await get(`/full?format=${format}`), CAP + 1, CAP);
    for (const asked of ['?checksum=md5', '?family=v4']) assert.equal((await get(`/full${asked}`)).status, 413);
    const head = await get('/full', { method: 'HEAD' });
    assert.deepEqual([head.status, head.bytes.length, head.headers['x-feed-entry-count']], [413, 0, String(CAP + 1)]);
    assert.equal(head.headers['content-length'], over.headers['content-length']);
    const never = { 'if-none-match': '*', 'if-modified-since': new Date().toUTCString(), 'accept-encoding': 'gzip' };
    hintOf(await get('/full', { headers: never }), CAP + 1, CAP);
    // Another family of the same feed is far below it.
    assert.deepEqual([(await get('/full?family=v6')).status, (await get('/full?action=allow')).status], [200, 200]);

    await set('full', '--max-entries', String(CAP + 1));
    const raised = await eventually(async () => {
      const reply = await get('/full');
      assert.equal(reply.status, 200);
      return reply;
    });
    assert.deepEqual(
      [raised.headers['x-feed-entry-count'], raised.headers['x-feed-entry-limit'], raised.text.split('\n').length],
      [String(CAP + 1), String(CAP + 1), CAP + 2],
    );
    // The workspace's feed keeps its cap.
    hintOf(await get(''), CAP + 1, CAP);
  });

  once('4.6.1, D5.8 the cap counts what is published: after merging, in the format asked for', async () => {
    const { list, send, get, reads } = await feeds().space();
    await list('small', '--max-entries', '1');
    await send([upsert('192.0.2.0'), upsert('192.0.2.1', { config: { severity: 'low' } })], 'small');
    const { headers } = await reads('/small', '192.0.2.0/31\n');
    assert.deepEqual([headers['x-feed-entry-count'], headers['x-feed-entry-limit']], ['1', '1']);
    assert.equal((await get('/small?format=commented')).status, 200);
    assert.equal((await get('/small?format=set_elements')).status, 200);
    hintOf(await get('/small?format=csv_indicator'), 2, 1);
    await send([upsert('2001:db8::1')], 'small');
    await eventually(async () => hintOf(await get('/small'), 2, 1));
    assert.equal((await get('/small?family=v6')).text, '2001:db8::1/128\n');
    assert.equal((await get('/small?format=plain&family=v4')).text, '192.0.2.0/31\n');
  });

  once('7.3, D5.8 the hint names the rules that cost most, and what helps', async () => {
    const { list, block, get } = await feeds().space();
    await list('small', '--max-entries', '2');
    await block(['nl', 'AS64500', 'AQ', '192.0.2.1', '192.0.2.9', '2001:db8::1'], 'small');
    const hints = await eventually(async () => [hintOf(await get('/small'), 10, 2), hintOf(await get('/small?family=v4'), 7, 2)]);
    for (const [i, [nl, asn, addresses]] of [
      ['country NL (6 networks)', 'AS64500 (2 networks)', '3 address rules'],
      ['country NL (5 networks)', 'AS64500 (1 network)', '2 address rules'],
    ].entries()) {
      const hint = hints[i]!;
      const places = [nl!, asn!, addresses!].map((text) => hint.indexOf(text));
      assert.ok(places[0]! >= 0 && places[0]! < places[1]! && places[1]! < places[2]!, hint);
      assert.match(hint, /max_entries/);
      assert.equal(hint.includes('family=v4'), i === 0, hint);
    }
    // A workspace's cap cannot be raised: lists of their own can.
    assert.doesNotMatch(hints[0]!, /poll lists/);
  });

  test('D10.21 a refusal tells entries by list and by key, by names; not to a key that is bound; the measure and the content tell them too', async () => {
    const { id, list, block, get, newKey } = await feeds().space();
    const edge = await list('edge');
    await list('small', '--max-entries', '2');
    await block(['NL', '192.0.2.1', '192.0.2.9'], 'small');
    await block(['192.0.2.17', '2001:db8::1'], 'edge');
    const space = ['--workspace', id];
    await feeds().world.text(['feed', 'create', 'both', '--list', 'edge', '--list', 'small', '--max-entries', '3', ...space]);
    const name = (await feeds().world.json(['key', 'ls', ...space]))[0]!;
    const said = `Before neighbours are merged, by list: small 8, edge 2; by key: ${name.name ?? name.prefix} 10.`;
    const hint = await eventually(async () => hintOf(await get('/both'), 10, 3));
    assert.ok(hint.endsWith(`. ${said}`), hint);
    for (let n = 0; n < 3; n += 1) assert.equal(hintOf(await get('/both'), 10, 3), hint);
    const v6 = hintOf(await get('/small'), 8, 2);
    assert.match(v6, / by list: small 8; by key: \S+ 8\.$/);
    const bound = await newKey('--list', 'small', '--permission', 'feed:read');
    assert.doesNotMatch(hintOf(await get('/small', { key: bound }), 8, 2), /by list/);

    const manager = await newKey('--permission', 'manage');
    const manage = async (path: string, body?: Json) => {
      const sent = body && { method: 'POST', body: JSON.stringify(body) };
      const reply = await ask(feeds().url(), `/v1/manage/${path}`, { headers: bearer(manager), ...sent });
      assert.equal(reply.status, 200, reply.text);
      return JSON.parse(reply.text) as Json;
    };
    const { before, after } = (await manage('measure', { feed: 'both', lists: [edge] })) as { before: Json; after: Json };
    const sum = (of: unknown) => (of as { largest: unknown }).largest;
    assert.deepEqual(sum(before.by_list), [
      { name: 'small', entries: 8 },
      { name: 'edge', entries: 2 },
    ]);
    assert.deepEqual([sum(before.by_key), before.of_rules, before.rules], [[{ name: name.name ?? name.prefix, entries: 10 }], null, 5]);
    assert.deepEqual(sum(after.by_list), [{ name: 'edge', entries: 2 }]);
    assert.ok(String((await manage('content?feed=both')).hint).endsWith(said));
  });

  test('D45.3, D45.4, D45.5 who is refused a feed over its cap, or anything else, is told with feed and status; the feed is not published', async () => {
    const { id, list, block, get, newKey } = await feeds().space();
    const small = await list('small', '--max-entries', '2');
    await block(['192.0.2.1', '192.0.2.9', '192.0.2.17'], 'small');
    const bound = await newKey('--list', 'small', '--permission', 'feed:read');
    const manager = await newKey('--permission', 'manage');
    await eventually(async () => assert.equal((await get('/small', { key: bound })).status, 413));
    for (const path of ['/nowhere', '/small?family=v5', '?family=v4']) await get(path);
    const pull = { headers: { 'x-api-key': bound, 'user-agent': 'my-bouncer/1' } };
    for (let n = 0; n < 2; n += 1) assert.equal((await ask(feeds().url(), '/v1/decisions/stream?startup=true', pull)).status, 413);

    const manage = async (path: string) =>
      JSON.parse((await ask(feeds().url(), `/v1/manage/${path}`, { headers: bearer(manager) })).text) as Record<string, Json[]>;
    const brief = (refusals: unknown) =>
      (refusals as Json[]).map(({ feed_id, feed_name, format, status }) => [feed_id, feed_name, format, status]);
    const of413 = [small, 'small', 'plain', 413];
    await eventually(async () => {
      const { devices } = await manage('devices');
      const refusals = devices!.map((device) => [device.documents, brief(device.refusals)] as [Json[], unknown[]]);
      const [alone] = refusals.filter(([documents]) => documents.length === 0);
      assert.deepEqual(alone?.[1], [of413]);
      const [others] = refusals.filter(([documents]) => documents.length > 0);
      assert.deepEqual(others?.[1], [
        [small, 'small', null, 400],
        [null, 'nowhere', null, 404],
      ]);
    });
    await eventually(async () => {
      const [bouncer] = (await manage('bouncers')).bouncers!;
      const { status, count } = bouncer!.refusal as Json;
      assert.deepEqual([status, count, bouncer!.feed_id], [413, 2, small]);
    });

    const { feeds: found } = await manage('lookup?target=192.0.2.9&path=1');
    const [{ over_cap, verdict, pulled_by }] = found!.filter((feed) => feed.id === small) as [
      Json & { pulled_by: Json & { told: Json[] } },
    ];
    assert.deepEqual([verdict, over_cap, pulled_by.total, pulled_by.behind, pulled_by.refused], ['in', true, 3, 3, 3]);
    const { refused } = await manage('activity?minutes=60&step=60');
    assert.ok(Number(refused![0]) >= 3);
    const space = ['--workspace', id];
    const text = (...args: string[]) => feeds().world.text([...args, ...space]);
    assert.match(await text('lookup', '192.0.2.9'), /^list small: in, but not published: over its cap with 3 of 2 entries, polls are /m);
    assert.match(
      await text('device', 'ls'),
      /^\S+ at \S+ is refused the feed small: 413 \(not published, over its cap\) since \S+, \d+ times?$/m,
    );
    assert.match(await text('bouncer', 'ls'), /^my-bouncer\/1 at \S+ is refused: 413 \(not published, over its cap\) since \S+, 2 times$/m);
  });

  once('D5.8 rules of equal cost stand in the hint by name', async () => {
    const { list, block, get } = await feeds().space();
    await list('small', '--max-entries', '1');
    await block(['TV', 'AQ', 'NL', 'BV'], 'small');
    const hint = await eventually(async () => hintOf(await get('/small?family=v4'), 5, 1));
    assert.match(hint, /country NL \(5 networks\), country AQ \(0 networks\), country BV \(0 networks\), 1 other country/);
  });
}
