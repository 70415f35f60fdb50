/** Named lists: how a feed is addressed, and what a list stores (spec 2.6, 4.4). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../support/weir.ts';
import type { Json } from '../../support/world.ts';
import type { Once } from '../engine.ts';
import { type FeedWorld, upsert } from './world.ts';

const details = (text: string): Json => (JSON.parse(text) as { details: Json }).details;

export function listTests(feeds: () => FeedWorld, once: Once): void {
  test('4.4.1, 4.4.2, D5.1 a list by name and by UUID: its rules only; the workspace feed holds all lists', async () => {
    const { list, block, get, reads } = await feeds().space();
    const edge = await list('edge');
    const core = await list('core', '--max-entries', '5');
    await block(['192.0.2.0'], 'edge');
    await block(['192.0.2.1', '192.0.2.0'], core);
    await block(['192.0.2.2']);
    await reads('', '192.0.2.0/31\n192.0.2.2/32\n');
    for (const name of ['edge', edge, edge.toUpperCase()]) assert.equal((await get(`/${name}`)).text, '192.0.2.0/32\n', name);
    for (const name of ['core', core]) {
      const { text, headers } = await get(`/${name}`);
      assert.deepEqual([text, headers['x-feed-entry-limit']], ['192.0.2.0/31\n', '5']);
    }
    assert.equal((await get('/default')).text, '192.0.2.2/32\n');
    const [byName, byId] = [await get('/edge?format=csv_indicator'), await get(`/${edge}?format=csv_indicator`)];
    assert.deepEqual(
      [byId.text, byId.headers.etag, byId.headers['last-modified']],
      [byName.text, byName.headers.etag, byName.headers['last-modified']],
    );
    assert.equal((await get('')).headers['x-feed-entry-limit'], '131072');
  });

  test('4.4.1, D5.9 names of every kind, percent-encoded; compared exactly; a UUID wins', async () => {
    const { list, block, get, reads } = await feeds().space();
    const names = [
      'Edge',
      'edge',
      ' edge',
      'a/b',
      'a?b#c',
      '100%',
      '%41',
      'a+b',
      'é',
      'e\u0301',
      '..',
      '😀'.repeat(200),
      'plain',
      '\u3000',
    ];
    for (const [i, name] of names.entries()) await block([`192.0.2.${i}`], await list(name));
    for (const [i, name] of names.entries()) await reads(`/${encodeURIComponent(name)}`, `192.0.2.${i}/32\n`);
    // Every byte may be encoded, and what need not be may stay as it is.
    assert.equal((await get('/%65%64%67%65')).text, '192.0.2.1/32\n');
    assert.equal((await get('/a+b')).text, '192.0.2.7/32\n');
    assert.equal((await get('/%41')).status, 404);
    for (const unknown of ['EDGE', 'edge%20', 'a%20b', encodeURIComponent('😀'.repeat(201)), 'e', '%00']) {
      assert.equal((await get(`/${unknown}`)).status, 404, unknown);
    }

    const edge = await list('by id');
    await block(['198.51.100.1'], edge);
    await block(['198.51.100.2'], await list(edge));
    await reads(`/${edge}`, '198.51.100.1/32\n');
  });

  test('4.4.3, 2.6 stored format, family and action apply where the query says nothing; the query always wins', async () => {
    const { list, send, get, reads, set } = await feeds().space();
    await list('edge', '--format', 'set_elements', '--family', 'v6', '--action', 'allow');
    const targets = ['192.0.2.1', '2001:db8::1'];
    await send(
      targets.flatMap((ip, i) => [upsert(ip), upsert(ip, { action: 'allow' }, { rule_ref: `allow-${i}` })]),
      'edge',
    );
    await reads('/edge', 'elements = { 2001:db8::1/128 }\n');
    const expected: [string, string][] = [
      ['?family=v4', 'elements = { 192.0.2.1/32 }\n'],
      ['?family=both', 'elements = { 192.0.2.1/32, 2001:db8::1/128 }\n'],
      ['?format=plain', '2001:db8::1/128\n'],
      ['?format=fortinet&family=v4&action=block', '192.0.2.1/32\n'],
      ['?format=csv_indicator&action=block', '2001:db8::1,IP,high,high\n'],
      ['?format=set_elements&family=v6&action=allow', 'elements = { 2001:db8::1/128 }\n'],
    ];
    for (const [query, text] of expected) assert.equal((await get(`/edge${query}`)).text, text, query);
    // The same representation, said or stored.
    const [stored, said] = [await get('/edge'), await get('/edge?format=set_elements&family=v6&action=allow')];
    assert.deepEqual([stored.headers.etag, stored.headers['last-modified']], [said.headers.etag, said.headers['last-modified']]);
    // Not the workspace's own feed.
    assert.equal((await get('')).text, '192.0.2.1/32\n2001:db8::1/128\n');

    await set('edge', '--format', 'txt', '--family', '', '--action', 'block');
    await reads('/edge', '192.0.2.1/32\n2001:db8::1/128\n');
    assert.equal((await get('/edge?action=allow&family=v4')).text, '192.0.2.1/32\n');
  });

  once('4.4.3, D5.1 max_entries, confidence and severity are stored, and no parameters of a request', async () => {
    const { list, send, get, reads, set } = await feeds().space();
    await list('edge', '--confidence', 'low', '--severity', 'critical', '--max-entries', '2');
    await send([upsert('192.0.2.1'), upsert('192.0.2.9', { config: { confidence: 'high' } })], 'edge');
    const csv = await reads('/edge?format=csv_indicator', '192.0.2.1,IP,low,critical\n192.0.2.9,IP,high,critical\n');
    assert.equal(csv.headers['x-feed-entry-limit'], '2');
    const ignored = await get('/edge?format=csv_indicator&max_entries=1&confidence=high&severity=low&confidence=');
    assert.deepEqual([ignored.status, ignored.text, ignored.headers.etag], [200, csv.text, csv.headers.etag]);
    await set('edge', '--confidence', '', '--severity', 'medium', '--max-entries', '');
    const changed = await reads('/edge?format=csv_indicator', '192.0.2.1,IP,high,medium\n192.0.2.9,IP,high,medium\n');
    assert.equal(changed.headers['x-feed-entry-limit'], '131072');
  });

  test('4.4.4, 7.3 a name of several lists: 409 with their UUIDs, each of which works', async () => {
    const { list, block, get, reads } = await feeds().space();
    const ids = [await list('twice'), await list('twice')];
    for (const [i, id] of ids.entries()) await block([`192.0.2.${2 * i}`], id);
    const both = await get('/twice');
    assert.equal(both.status, 409);
    const { success, error, details: found } = JSON.parse(both.text);
    assert.equal(success, false);
    assert.match(error, /more than one/);
    assert.deepEqual([Object.keys(found), found.lists.toSorted()], [['lists'], ids.toSorted()]);
    assert.equal((await get('/twice?checksum=md5&format=commented')).status, 409);
    for (const [i, id] of ids.entries()) await reads(`/${id}`, `192.0.2.${2 * i}/32\n`);
  });

  test('4.4.5, 7.3 an unknown list is 404; so is another workspace’s, by name and by UUID', async () => {
    const [one, two] = [await feeds().space(), await feeds().space()];
    const id = await one.list('mine');
    for (const name of ['nowhere', 'mine', id, '0195a3c0-0000-7000-8000-000000000001', 'nowhere/', 'default/x']) {
      const { status, text } = await two.get(`/${name}`);
      assert.equal(status, 404, name);
      assert.deepEqual([JSON.parse(text).success, details(text)], [false, {}]);
    }
    await one.reads(`/${id}`, '');
  });

  test('D2, D5.13 a new list is found at once; a deleted one is 404 and takes its rules along', async () => {
    const { id, list, block, reads, get } = await feeds().space();
    assert.equal((await get('/later')).status, 404);
    await list('later');
    await block(['192.0.2.1'], 'later');
    await reads('/later', '192.0.2.1/32\n');
    await reads('', '192.0.2.1/32\n');
    await feeds().world.text(['list', 'delete', 'later', '--yes', '--workspace', id]);
    assert.equal((await get('/later')).status, 404);
    await eventually(async () => assert.equal((await get('')).text, ''));
  });

  test('D5.24, D36.7 a deleted list or feed is 404 within 2 s where the store is read every 30 s, and there again when it is brought back; others are served on', async () => {
    const { id, list, block, reads, getReplica } = await feeds().space();
    for (const name of ['gone', 'kept']) {
      await list(name);
      await block(['192.0.2.1'], name);
      await reads(`/${name}`, '192.0.2.1/32\n');
    }
    await feeds().world.text(['feed', 'create', 'made', '--list', 'kept', '--workspace', id]);
    const kept = async (name: string) => assert.equal((await getReplica(name)).text, '192.0.2.1/32\n', name);
    for (const name of ['/gone', '/kept', '/made', '']) await kept(name);
    for (const [kind, name] of [
      ['list', 'gone'],
      ['feed', 'made'],
    ] as const) {
      await feeds().world.text([kind, 'delete', name, '--yes', '--workspace', id]);
      await eventually(async () => assert.equal((await getReplica(`/${name}`)).status, 404), 2000);
      await kept('/kept');
      await feeds().world.text([kind, 'restore', name, '--workspace', id]);
      await eventually(() => kept(`/${name}`), 2000);
    }
  });
}
