/** How refreshes of sources get on with hosts, and tenants with one another (SPEC D43.1 to D43.7). */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { PLAIN_READING, type Source } from '../../src/account/source.ts';
import { sourceJson } from '../../src/manage/sources/source-json.ts';
import { temporaryFolder } from '../support/folder.ts';
import { type Answer, list, listServer, redirect, status } from '../support/list-server.ts';
import { HOUR, MINUTE, sourceWorld } from '../support/source-world.ts';
import { eventually } from '../support/weir.ts';

const settings = {
  ...{ DATA_DIR: temporaryFolder({ after }), SOURCE_REFRESH_SECONDS: '60' },
  SECRETS_KEY: randomBytes(32).toString('base64'),
};
const [server, known] = await Promise.all([listServer(), listServer()]);
const { port } = new URL(known.url);
/** One server is a host that is known for its interval. */
const world = await sourceWorld(settings, (url) => (url.port === port ? HOUR / 1000 : undefined));
const { store } = world.base;
after(async () => {
  await world[Symbol.asyncDispose]();
  await Promise.all([server[Symbol.asyncDispose](), known[Symbol.asyncDispose]()]);
});
const LIST = list('20.0.0.1\n');
const tenant = async (name: string) => (await store.createWorkspace((await store.organizations())[0]!.id, name)).id;
/** How a source is as everybody sees it. */
const told = async ({ workspaceId, id }: Source) => sourceJson((await store.source(workspaceId, id))!, world.now());
const refresh = ({ workspaceId, id }: Source) =>
  store.askSource(workspaceId, id, { what: 'refresh', at: world.now(), by: { keyId: null, actor: 'test' } });
/** How often the paths of a server were asked. */
const asked = (of: typeof server, ...paths: string[]) => paths.map((path) => of.asked.get(path) ?? 0);
const paused = async (...sources: readonly Source[]) => {
  for (const { workspaceId, id } of sources) await store.pauseSource(workspaceId, id, true);
};

test('D43.1 what a server answers to the wrong token of one tenant is nothing to the source of another', async () => {
  const guarded: Answer = (request, response) => {
    if (request.headers.authorization === 'Bearer right') LIST(request, response);
    else status(request.headers.authorization === undefined ? 429 : 403, { 'retry-after': '604800' })(request, response);
  };
  server.set('/guarded', guarded);
  const url = `${server.url}/guarded`;
  const hostile = await tenant('hostile');
  const wrong = await world.add('wrong', { url, token: 'wrong' }, hostile);
  await world.run();
  world.pass(MINUTE);
  const none = await world.add('none', { url }, hostile);
  await world.run();
  assert.deepEqual([world.state(wrong).stop, world.state(none).fault], ['refused', 'the server answers 429']);
  const right = await world.add('right', { url, token: 'right' });
  world.pass(1000);
  await world.run();
  await world.next(right);
  assert.deepEqual([world.state(right).entries, world.state(right).failures, asked(server, '/guarded')], [1, 0, [4]]);
  // Nor do private tokens share a download; those that are the same do.
  const same = await world.add('same', { url, token: 'right' }, hostile);
  world.pass(HOUR + MINUTE);
  await world.run();
  assert.deepEqual([world.state(same).entries, asked(server, '/guarded')], [1, [5]]);
  await paused(wrong, none, right, same);
});

test('D43.4 of those who wait for a host the tenant is next who waits longest: neither a thousand sources nor their age help', async () => {
  const order: string[] = [];
  const noted: Answer = (request, response) => {
    order.push(request.url!);
    LIST(request, response);
  };
  const [crowd, one] = [await tenant('crowd'), await tenant('one')];
  const many = [];
  for (let n = 0; n < 12; n += 1) {
    server.set(`/crowd/${n}`, noted);
    many.push(await world.add(`crowd ${n}`, { url: `${server.url}/crowd/${n}` }, crowd));
  }
  server.set('/one', noted);
  const single = await world.add('single', { url: `${server.url}/one` }, one);
  await world.run();
  assert.deepEqual([order.length, order.indexOf('/one') < 2], [13, true], order.join());
  await paused(...many, single);

  // Of a host with an interval one address is fetched at a time, each by its turn, of a tenant the one that was fetched longest ago.
  for (const n of [0, 1, 2, 3]) known.set(`/drop?${n}`, noted);
  const sources: Source[] = [];
  for (const n of [0, 1, 2]) sources.push(await world.add(`known ${n}`, { url: `${known.url}/drop?${n}` }, crowd));
  sources.push(await world.add('known 3', { url: `${known.url}/drop?3` }, one));
  order.length = 0;
  for (let hour = 0; hour < 6; hour += 1) {
    await world.run();
    assert.equal(order.length, hour + 1);
    world.pass(HOUR);
  }
  assert.deepEqual(order.filter((path) => path === '/drop?3').length, 3, order.join());
  assert.deepEqual(order.filter((path) => path !== '/drop?3').sort(), ['/drop?0', '/drop?1', '/drop?2']);
  const { waits_for: text } = await told(sources[0]!);
  assert.equal(text, `the least interval of 127.0.0.1:${port}: 1h for an address`);
  await paused(...sources);
});

test('D43.3 politeness holds for each place on the way: redirects, and API roots and pages of TAXII', async () => {
  world.pass(2 * HOUR);
  let [open, most] = [0, 0];
  const slowly =
    (answer: Answer): Answer =>
    (request, response) => {
      open += 1;
      most = Math.max(most, open);
      response.once('close', () => {
        open -= 1;
      });
      setTimeout(answer, 20, request, response);
    };
  // Each tenant comes by a server of his own.
  const doors = await Promise.all([listServer(), listServer(), listServer()]);
  const sources: Source[] = [];
  for (const [n, door] of doors.entries()) {
    door.set('/moved', redirect(`http://127.0.0.1.:${port}/far${n < 2 ? '' : '?2'}`));
    known.set(`/far${n < 2 ? '' : '?2'}`, slowly(LIST));
    sources.push(await world.add(`moved ${n}`, { url: `${door.url}/moved` }, await tenant(`moved ${n}`)));
  }
  const json = (body: object): Answer => slowly((_, response) => void response.end(JSON.stringify(body)));
  doors[0]!.set('/taxii2/', json({ api_roots: [`${known.url}/root/`] }));
  known.set('/root/collections/', json({ collections: [{ id: 'c', title: 'c', can_read: true }] }));
  const indicator = (n: number) => ({
    ...{ type: 'indicator', id: `indicator--${n}`, modified: '2026-01-01T00:00:00Z', valid_from: '2026-01-01T00:00:00Z' },
    ...{ pattern_type: 'stix', pattern: `[ipv4-addr:value = '20.0.1.${n}']` },
  });
  known.set('/root/collections/c/objects/?match%5Btype%5D=indicator&limit=500', json({ more: true, next: 'b', objects: [indicator(1)] }));
  known.set('/root/collections/c/objects/?match%5Btype%5D=indicator&limit=500&next=b', json({ more: false, objects: [indicator(2)] }));
  const reading = { ...PLAIN_READING, format: 'taxii' } as const;
  const taxii = await world.add('collection', { url: `${doors[0]!.url}/taxii2/`, reading }, await tenant('taxii'));
  sources.push(taxii);
  await world.run();
  assert.equal(world.state(taxii).fault, null, [...known.asked.keys()].join(' '));
  assert.deepEqual([most, world.state(taxii).entries, world.state(taxii).failures], [1, 2, 0]);
  // What others were redirected to is asked once in its interval, however it is written; who waits has not failed.
  assert.deepEqual(asked(known, '/far', '/far?2').sort(), [0, 1]);
  const waiting = sources.filter((each) => world.state(each).fetchedAt === null);
  assert.equal(waiting.length, 2);
  for (const each of waiting) {
    const { waits_for: text, waits_until: until, failures } = await told(each);
    assert.deepEqual([text, failures], [`the least interval of 127.0.0.1:${port}: 1h for an address`, 0]);
    assert.ok(Date.parse(until!) - world.now() > HOUR - MINUTE);
  }
  for (let turn = 0; turn < 2; turn += 1) {
    world.pass(HOUR + MINUTE);
    await world.run();
  }
  for (const each of sources) assert.ok(world.state(each).fetchedAt !== null, each.name);
  assert.equal(
    asked(known, '/far', '/far?2').reduce((a, b) => a + b),
    3,
  );

  // What a server says at the end of the way holds there, for who shows as much.
  known.set('/far', status(429, { 'retry-after': '36000' }));
  await paused(...sources.slice(1));
  world.pass(2 * HOUR);
  await world.run();
  assert.equal(world.state(sources[0]!).fault, 'the server answers 429');
  await store.pauseSource(sources[1]!.workspaceId, sources[1]!.id, false);
  world.pass(2 * HOUR);
  await world.run();
  assert.match((await told(sources[1]!)).waits_for!, /^the server of 127\.0\.0\.1:\d+, which requested a pause$/);
  await paused(...sources);
  for (const door of doors) await door[Symbol.asyncDispose]();
});

test('D43.3 a MISP feed whose server refuses an event with 429 is left alone as long as it says', async () => {
  const id = '00000000-0000-4000-8000-000000000001';
  server.set('/feed/manifest.json', (_, response) => void response.end(JSON.stringify({ [id]: { timestamp: '100' } })));
  server.set(`/feed/${id}.json`, status(429, { 'retry-after': '36000' }));
  const reading = { ...PLAIN_READING, format: 'misp-feed' } as const;
  const feed = await world.add('feed', { url: `${server.url}/feed`, reading, every: 300 });
  await world.run();
  assert.match(
    world.state(feed).fault!,
    /^0 of 1 events are read; the next fetch continues: the server answers 429 for \/feed\/.*1\.json$/,
  );
  world.pass(2 * HOUR);
  await refresh(feed);
  await world.run();
  assert.deepEqual(asked(server, '/feed/manifest.json'), [1]);
  assert.match((await told(feed)).waits_for!, /which requested a pause$/);
  server.set(`/feed/${id}.json`, (_, response) => void response.end(JSON.stringify({ Event: { Attribute: [] } })));
  world.pass(9 * HOUR);
  await world.run();
  assert.deepEqual([world.state(feed).fault, asked(server, '/feed/manifest.json')], [null, [2]]);
  await paused(feed);
});

test('D43.5, D43.6, D43.7 who refreshes, resumes or sets a source again and again has it fetched once a minute, and sees what it waits for', async () => {
  server.set('/again', LIST);
  server.set('/elsewhere', LIST);
  const source = await world.add('again', { url: `${server.url}/again` });
  const of = [source.workspaceId, source.id] as const;
  await world.run();
  for (let n = 0; n < 3; n += 1) {
    await refresh(source);
    await world.run();
    await store.pauseSource(...of, true);
    await store.pauseSource(...of, false);
    await world.run();
    await store.updateSource(...of, { url: `${server.url}/${n % 2 === 0 ? 'elsewhere' : 'again'}` });
    await world.run();
  }
  assert.deepEqual(asked(server, '/again', '/elsewhere'), [1, 0]);
  const { waits_for: text, waits_until: until, next_at: next, state } = await told(source);
  assert.equal(text, 'the minimum interval between two fetches of a source, 1m');
  assert.ok(Date.parse(until!) > world.now() && next === until && state === 'ok');
  world.pass(MINUTE);
  await world.run();
  assert.deepEqual(asked(server, '/again', '/elsewhere'), [1, 1]);
  const after = await told(source);
  assert.deepEqual([after.waits_for, after.waits_until, after.asked], [null, null, null]);
  // Nor does another source of the workspace ask the same address sooner; one of another workspace does.
  const twin = await world.add('twin', { url: `${server.url}/elsewhere` });
  const other = await world.add('other', { url: `${server.url}/elsewhere` }, await tenant('other'));
  await store.deleteSource(...of, {});
  await world.run();
  assert.equal((await told(twin)).waits_for, 'the minimum interval between two fetches of an address, 1m');
  world.pass(1000);
  await world.run();
  assert.deepEqual([asked(server, '/elsewhere'), world.state(other).entries], [[2], 1]);
  await paused(twin, other);
});

test('D43.6 a source that is due and waits for its turn says so, until it is fetched', async () => {
  const go = Promise.withResolvers<void>();
  server.set('/slow', (...given) => void go.promise.then(() => LIST(...given)));
  server.set('/behind', LIST);
  const [slow, behind] = [
    await world.add('slow', { url: `${server.url}/slow` }),
    await world.add('behind', { url: `${server.url}/behind` }),
  ];
  await refresh(behind);
  await refresh(slow);
  await world.refresher.tick(true);
  await eventually(() => assert.deepEqual(asked(server, '/slow', '/behind').sort(), [0, 1]));
  const waiting = asked(server, '/slow')[0] === 1 ? behind : slow;
  if (waiting === behind) assert.match((await told(behind)).waits_for!, /^its turn: weir runs one download per host/);
  go.resolve();
  await world.run();
  for (const each of [slow, behind]) assert.deepEqual([(await told(each)).waits_for, world.state(each).entries], [null, 1]);
  await paused(slow, behind);
});

test('D43.7 what a server has answered holds whatever is done with a source, also in another process', async () => {
  const hostile = await tenant('again hostile');
  server.set('/leave', status(503, { 'retry-after': '604800' }));
  const none = await world.add('leave', { url: `${server.url}/leave` }, hostile);
  await world.run();
  const until = world.state(none).until!;
  await store.pauseSource(hostile, none.id, true);
  await store.pauseSource(hostile, none.id, false);
  await store.updateSource(hostile, none.id, { every: 300, guards: { ...none.guards, faultsPercent: 7 } });
  await refresh(none);
  world.pass(HOUR + MINUTE);
  await world.run();
  const other = world.another();
  await world.refresher.stop();
  await world.run(other);
  assert.deepEqual(asked(server, '/leave'), [1]);
  const { waits_for: text, waits_until: at, next_at: next } = await told(none);
  assert.match(text!, /^the server of 127\.0\.0\.1:\d+, which requested a pause$/);
  assert.ok(Math.abs(Date.parse(at!) - until) < 3000 && next === at, `${at}, not ${until}`);
  // Another address has answered nothing.
  server.set('/fresh', LIST);
  await store.updateSource(hostile, none.id, { url: `${server.url}/fresh` });
  await world.run(other);
  assert.deepEqual([(await told(none)).entries, asked(server, '/leave', '/fresh')], [1, [1, 1]]);
});
