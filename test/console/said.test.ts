/** What the console says of values: durations, instants, ids that have no name, and what a picture of a look-up is made of. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

/** A module of the console, which has no types here. */
const load = (path: string): Promise<Record<string, (...given: never[]) => unknown>> =>
  import(new URL(`../../packages/console/${path}`, import.meta.url).href);
/** What a browser has and Node has not: asked while modules are loaded. */
const storage = { getItem: () => null };
Object.assign(globalThis, { sessionStorage: storage, location: { pathname: '/console/', search: '' } });
Object.defineProperty(globalThis, 'localStorage', { value: storage, configurable: true });
const { duration, endText, timeLeft, ago, dayOf, dateTime } = await load('format.js');
const { summaryOf, textOf } = await load('pages/audit/words.js');
const { modelOf, extended } = await load('pages/lookup/path-model.js');
const { familiesText } = await load('pages/feeds/feed-state.js');
const { placeOf, sentenceOf } = await load('pages/overview/attention-words.js');
const { whatOf } = await load('pages/changes/words.js');

const DAY = 86_400_000;
const call = (work: unknown, ...given: unknown[]) => (work as (...given: unknown[]) => unknown)(...given);

test('D18.101 a long time is told in years, and what ends in more than 50 of them ends never', () => {
  const told = [
    [400 * DAY, '1 y 35 d'],
    [3650 * DAY, '10 y'],
    [3652 * DAY, '10 y'],
    [30 * DAY, '30 d'],
    [26 * 3_600_000, '1 d 2 h'],
  ] as const;
  for (const [ms, text] of told) assert.equal(call(duration, ms), text);
  assert.equal(call(timeLeft, 365 * DAY - 5000), '1 y', 'what was given a year has a year');
  assert.equal(call(ago, 0, 800 * DAY), '2 y ago');
  assert.equal(call(endText, null), 'never');
  assert.equal(call(endText, new Date(Date.now() + 36_524 * DAY).toISOString()), 'never');
  const soon = new Date(Date.now() + DAY).toISOString();
  assert.equal(call(endText, soon), call(dateTime, soon));
});

test('D18.101 a day is a day of UTC, whatever the time zone of the reader', () => {
  assert.equal(call(dayOf, '2026-06-17'), '17 Jun 2026');
});

test('D18.102 what was changed is told by names, in the time of the reader; of what has no name that it is gone', () => {
  const id = '0199f3c2-8a51-7c3e-9d0b-4f1e2a6b7000';
  const at = '2026-11-24T19:05:07.405Z';
  const after = { name: 'x', list_id: id, lists: [id, 'b'], until: at, has_secret: false, always: [], undoes: [id], guards: { most: 3 } };
  assert.equal(
    call(summaryOf, { before: null, after, names: { [id]: 'edge' } }),
    `list: edge, lists: edge, b, until: ${call(dateTime, at)}, has secret: no, always: none, undoes: edge, guards: most 3`,
  );
  assert.equal(call(textOf, id, {}, 'list_id'), 'deleted');
  assert.equal(call(textOf, [id, id], {}, 'undoes'), 'a batch, a batch');
});

test('D18.103 a rule that blocks in one feed is shown as one that does, though it does nothing in another', () => {
  const rule = {
    id: 7,
    target: '192.0.2.1',
    action: 'block',
    list_name: 'edge',
    list_id: 'e',
    expires_at: null,
    batch_id: null,
    reason: null,
  };
  const of = (id: string, verdict: string, effect: string, more: object = {}) => ({
    ...{ kind: 'composed', id, name: id, verdict, protected_by: [], rules_left_out: 0, unblock: { removes: [], verdict } },
    rules: [{ ...rule, effect, idle: null, updated_at: '2026-11-24T19:05:07.405Z' }],
    ...more,
  });
  const pulled = (has: number) => ({ pulled_by: { total: has, has, behind: 0, unknown: 0, told: [] } });
  const answer = { target: '192.0.2.1', action: 'block', dropped: [] };
  const { columns } = call(modelOf, { ...answer, feeds: [of('a', 'in', 'in', pulled(1)), of('b', 'out', 'none')] }, undefined) as {
    columns: { nodes: { title: string; note: string; tone: string }[]; none?: string }[];
  };
  const [, rules, , devices] = columns;
  assert.deepEqual(
    rules!.nodes.map(({ title, note, tone }) => [title, note, tone]),
    [['192.0.2.1', 'edge', 'block']],
  );
  assert.deepEqual(
    devices!.nodes.map(({ title, note }) => [title, note]),
    [['1 device', 'enforces it']],
    'one that is not told by name is one device',
  );
  const guarded = { ...of('a', 'out', 'none'), rules: [], protected_by: ['10.0.0.0/8'] };
  const alone = call(modelOf, { ...answer, feeds: [guarded] }, undefined) as typeof answer & { columns: { none?: string }[] };
  assert.equal(alone.columns[3]!.none, 'Nothing to enforce', 'that nothing pulls was not looked at');
});

test('D53.11 a device of two feeds is one node, columns follow their neighbours, and equal edges are one bundle', () => {
  const rule = (id: number) => ({
    ...{ id, target: `192.0.2.${id}`, action: 'block', list_name: 'edge', list_id: 'e', expires_at: null, batch_id: null },
    ...{ reason: 'scan', effect: 'in', idle: null, updated_at: '2026-11-24T19:05:07.405Z' },
  });
  const client = (id: string) => ({
    ...{ kind: 'device', id, key_name: id, address: '10.0.0.1', user_agent: 'curl/8', state: 'has', refused: null },
    ...{ stopped_at: null, verified_at: null, content_at: null, last_pull: '2026-11-24T19:05:07.405Z' },
  });
  const feed = (id: string, rules: number[], devices: string[]) => ({
    ...{ kind: 'composed', id, name: id, verdict: 'in', protected_by: [], rules_left_out: 0, unblock: { removes: [], verdict: 'in' } },
    rules: rules.map(rule),
    pulled_by: { total: devices.length, has: devices.length, behind: 0, unknown: 0, told: devices.map(client) },
  });
  const model = (...feeds: object[]) =>
    call(modelOf, { target: '192.0.2.1', action: 'block', dropped: [], feeds }, undefined) as {
      columns: { nodes: { id: string; title: string }[] }[];
      edges: { from: string; to: string }[];
      bundles: { from: string[]; to: string[] }[];
    };
  const shared = model(feed('a', [1, 2], ['x', 'y']), feed('b', [1, 2], ['x', 'y']));
  assert.deepEqual(
    shared.columns[3]!.nodes.map(({ title }) => title),
    ['x', 'y'],
  );
  assert.ok(shared.bundles.some(({ from, to }) => from.join() === 'rule 1,rule 2' && to.join() === 'feed a,feed b'));
  const pairs = shared.bundles.flatMap(({ from, to }) => from.flatMap((a) => to.map((b) => `${a} ${b}`)));
  assert.deepEqual(pairs.sort(), shared.edges.map(({ from, to }) => `${from} ${to}`).sort(), 'each edge is in one bundle');
  const crossed = model(feed('a', [1], ['x']), feed('b', [2], ['y']), feed('c', [1], ['x']));
  assert.deepEqual(
    crossed.columns.slice(1).map(({ nodes }) => nodes.map(({ title }) => title).join()),
    ['192.0.2.1,192.0.2.2', 'a,c,b', 'x,y'],
  );
});

test('D53.7 an alert has the verb of its state, and a sentence without commands and documents', () => {
  const feedOf = (id: string | null) => ({ kind: id === null ? 'workspace' : 'composed', id: id ?? 'workspace' });
  const place = (key: string, state: string, ...permissions: string[]) => {
    const { action, href } = call(placeOf, { key, state }, { permissions }, feedOf) as { action: string; href: string };
    return `${action} ${href.replace('/console', '')}`;
  };
  assert.equal(place('feed/w/f/block/v4/cap', 'over_cap', 'manage'), 'Raise limit /feeds/composed/f?do=edit');
  assert.equal(
    place('feed/w/workspace/block/v4/cap', 'over_cap', 'manage', 'rules:read'),
    'Review /feeds/workspace',
    'it has no limit of its own',
  );
  assert.equal(place('source/s', 'stopped', 'manage'), 'Resume /sources/s?do=resume');
  assert.equal(place('source/s', 'held', 'manage', 'rules:read'), 'Review /sources/s');
  assert.equal(place('freeze/w/f', 'frozen', 'manage'), 'Thaw /feeds/composed/f?do=thaw');
  assert.equal(place('freeze/w/workspace', 'frozen', 'rules:read'), 'Review /feeds/workspace');
  assert.equal(place('freeze/w/f', 'canary', 'manage', 'rules:read'), 'Review /feeds/composed/f');
  const text = 'the feed "a" of b has been frozen since today: new blocks do not reach it (weir feed thaw)';
  assert.equal(call(sentenceOf, { text }), 'The feed "a" of b has been frozen since today: new blocks do not reach it.');
});

test('D38.4 a later end is for the rules of a target, else for those around it; not for parts of it, and for none of a source', () => {
  const rule = (id: number, relation: string, more: object = {}) => ({
    id,
    relation,
    action: 'block',
    effect: 'in',
    source: null,
    ...more,
  });
  const ids = (...rules: object[]) => (call(extended, { feeds: [{ rules }, { rules }] }) as { id: number }[]).map(({ id }) => id);
  assert.deepEqual(ids(rule(1, 'covering'), rule(2, 'exact'), rule(3, 'exact', { effect: 'none' })), [2]);
  assert.deepEqual(ids(rule(1, 'covering'), rule(2, 'exact', { source: { name: 'drop' } }), rule(3, 'covered')), [1]);
  assert.deepEqual(ids(rule(3, 'covered'), rule(4, 'exact', { action: 'allow' })), []);
});

test('D18.103 of a feed of one family only that one is counted', () => {
  const counts = { v4: 1200, v6: 7 };
  assert.equal(call(familiesText, { family: 'both', ...counts }), '1,200 IPv4, 7 IPv6');
  assert.equal(call(familiesText, { family: 'v6', ...counts }), '7 IPv6');
});

test('D32.2 rules of which some have no reason, or another one, are not said to have several', () => {
  const change = { from: '2026-11-23T09:02:00.000Z', text: null, reason: null, added: 2, renewed: 0, removed: 1, expired: 0 };
  assert.equal(call(whatOf, { ...change, several_reasons: true }), '2 added, 1 removed · several reasons');
  assert.equal(call(whatOf, { ...change, several_reasons: false, reason: 'ssh' }), '2 added, 1 removed · ssh');
});

test('D23.19 a source that is paused is not said to keep its list: it is emptied all the same', async () => {
  const { stateOf } = await load('pages/sources/source-state.js');
  assert.deepEqual(call(stateOf, { state: 'paused' }), { kind: '', about: 'Paused: not fetched.' });
});
