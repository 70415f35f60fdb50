/** A source that is a collection of TAXII: refreshed as others are, by what was added. */
import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { PLAIN_READING } from '../../src/account/source.ts';
import type { AccessRule } from '../../src/rule.ts';
import { temporaryFolder } from '../support/folder.ts';
import { DAY, sourceWorld } from '../support/source-world.ts';

const DATA_DIR = temporaryFolder({ after });
const world = await sourceWorld({ DATA_DIR });
const asked: (string | null)[] = [];
let objects: { readonly added: number; readonly object: object }[] = [];
const server = createServer((request, response) => {
  const since = new URL(request.url!, 'http://x').searchParams.get('added_after');
  asked.push(since);
  const found = objects.filter(({ added }) => since === null || instant(added) > since);
  const last = found.at(-1)?.added;
  response.writeHead(200, {
    'content-type': 'application/taxii+json;version=2.1',
    ...(last && { 'x-taxii-date-added-last': instant(last) }),
  });
  response.end(JSON.stringify({ more: false, objects: found.map(({ object }) => object) }));
}).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
after(async () => {
  await world[Symbol.asyncDispose]();
  server.close();
});
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/root/collections/c/`;
const instant = (n: number) => `2026-11-01T00:00:00.${String(n).padStart(6, '0')}Z`;
const indicator = (added: number, n: number, more: object = {}) => ({
  added,
  object: {
    type: 'indicator',
    id: `indicator--${n}`,
    modified: '2026-01-01T00:00:00Z',
    pattern: `[ipv4-addr:value = '198.51.100.${n}']`,
    pattern_type: 'stix',
    valid_from: '2026-01-01T00:00:00Z',
    ...more,
  },
});

test('D23.30, D23.33, D23.34 what was added comes, what was revoked goes, what ends has that end; a repeated pull changes nothing', async () => {
  const until = new Date(world.now() + 10 * DAY).toISOString();
  objects = [
    indicator(1, 1, { name: 'a scanner' }),
    indicator(2, 2, { valid_until: until, confidence: 10 }),
    indicator(3, 3, { pattern: 'x' }),
  ];
  const reading = { ...PLAIN_READING, format: 'taxii' } as const;
  const source = await world.add('collection', { url, reading });
  await world.run();
  assert.deepEqual(await world.rules(source), ['198.51.100.1', '198.51.100.2']);
  const rules = await Array.fromAsync(
    world.base.store.rules(world.workspaceId, { kind: 'access_rule', listId: source.listId, now: world.now() }),
  );
  const [first, second] = rules.map(({ rule }) => rule as AccessRule);
  assert.deepEqual(
    [first!.reason, first!.labels, first!.expiresAt! > world.now() + 365 * DAY],
    ['a scanner', { indicator: 'indicator--1' }, true],
  );
  assert.deepEqual([second!.confidence, Math.abs(second!.expiresAt! - Date.parse(until)) <= 1000], ['low', true]);

  const { replacement } = await world.next(source);
  assert.deepEqual(asked, [null, instant(3)]);
  objects.push(indicator(4, 1, { modified: '2026-02-01T00:00:00Z', revoked: true }), indicator(5, 5), indicator(6, 6));
  const changed = await world.next(source);
  assert.notEqual(changed.replacement, replacement);
  assert.deepEqual(await world.rules(source), ['198.51.100.2', '198.51.100.5', '198.51.100.6']);
  assert.deepEqual(asked.slice(2), [instant(3)]);

  // What is known of the collection is gone: all of it is asked for, and it is the same list.
  const folder = join(DATA_DIR, 'sources');
  const kept = readdirSync(folder).filter((name) => name.endsWith('.taxii.gz'));
  assert.deepEqual([kept.length, readdirSync(folder).length], [1, 1]);
  rmSync(join(folder, kept[0]!));
  const { replacement: same } = await world.next(source);
  assert.equal(same, changed.replacement);
  assert.deepEqual(asked.slice(3), [null]);

  // Another address is another collection: nothing of the first is left.
  objects = [indicator(7, 7), indicator(8, 8)];
  await world.base.store.updateSource(world.workspaceId, source.id, {
    url: url.replace('/c/', '/d/'),
    guards: { ...source.guards, changePercent: 1000 },
  });
  await world.run();
  assert.deepEqual(await world.rules(source), ['198.51.100.7', '198.51.100.8']);
});

test('D41.16 a feed of MISP: what is new or changed is fetched, what left the manifest goes; an event that is missing leaves the list as it was', async (t) => {
  const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
  const attribute = (value: string, more: object = {}) => ({ type: 'ip-dst', value, to_ids: true, ...more });
  const event = (...values: object[]) => ({ Event: { uuid: 'x', info: 'a campaign', Attribute: values } });
  const answers = new Map<string, unknown>();
  const wanted: string[] = [];
  const feed = createServer((request, response) => {
    const found = answers.get(request.url!.slice(6));
    wanted.push(request.url!);
    response.writeHead(found === undefined ? 404 : 200).end(JSON.stringify(found));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => feed.once('listening', resolve));
  t.after(() => feed.close());
  const manifest = (versions: Readonly<Record<number, number>>) =>
    answers.set(
      'manifest.json',
      Object.fromEntries(Object.entries(versions).map(([n, timestamp]) => [uuid(Number(n)), { info: 'x', timestamp: String(timestamp) }])),
    );
  const set = (n: number, content: unknown) => answers.set(`${uuid(n)}.json`, content);
  manifest({ 1: 100, 2: 200 });
  set(1, event(attribute('198.51.100.1'), attribute('x', { type: 'md5' }), attribute('192.0.2.1', { to_ids: false })));
  set(2, {
    Event: { info: 'y', Attribute: [], Object: [{ name: 'ip-port', Attribute: [attribute('198.51.100.2|443', { type: 'ip-dst|port' })] }] },
  });
  const address = `http://127.0.0.1:${(feed.address() as AddressInfo).port}/feed`;
  const source = await world.add('misp', { url: address, reading: { ...PLAIN_READING, format: 'misp-feed' } });
  await world.run();
  assert.deepEqual(await world.rules(source), ['198.51.100.1', '198.51.100.2']);
  assert.deepEqual(wanted.splice(0), [`/feed/manifest.json`, `/feed/${uuid(2)}.json`, `/feed/${uuid(1)}.json`]);

  manifest({ 1: 300, 3: 250 });
  set(1, event(attribute('198.51.100.1'), attribute('198.51.100.4')));
  await world.next(source);
  assert.match(world.state(source).fault!, /^1 of 2 events are read; .*: the server answers 404 for \/feed\/00000000-.*3\.json$/);
  assert.deepEqual(await world.rules(source), ['198.51.100.1', '198.51.100.2']);
  wanted.splice(0);
  set(3, event(attribute('198.51.100.3'), attribute('198.51.100.999')));
  await world.next(source);
  assert.deepEqual(wanted, [`/feed/manifest.json`, `/feed/${uuid(3)}.json`]);
  assert.deepEqual(await world.rules(source), ['198.51.100.1', '198.51.100.3', '198.51.100.4']);

  answers.set('manifest.json', { data: [] });
  await world.next(source);
  assert.match(world.state(source).fault!, /\/feed\/manifest\.json: this is no manifest of a MISP feed$/);
});
