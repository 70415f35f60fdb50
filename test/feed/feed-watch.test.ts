/** Lines of the log about the states of feeds, over a store that goes away. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FeedPreview } from '../../src/feed/builder.ts';
import { FeedWatch } from '../../src/feed/monitor/feed-watch.ts';
import { feedForecast } from '../../src/feed/monitor/forecast.ts';
import { DEFAULT_VARIANT } from '../../src/feed/variant.ts';
import { encodeMessage } from '../../src/signal/message/encode.ts';
import { GEO, ManualClock, MemoryStore, Replica, START, settled, WORKSPACE } from '../support/feed-world.ts';

test('D10.11 a feed that is served from memory is told once, whatever is asked of it, and once when the store is back', async () => {
  const clock = new ManualClock();
  const store = new MemoryStore(clock);
  const id = store.addList('edge');
  store.add(id, '192.0.2.1');
  const { get, log } = replicaOf(clock, store);
  await get('/edge');
  await get('');
  await clock.advance(30_000);
  store.down = true;
  for (let i = 0; i < 3; i += 1) {
    for (const target of ['/edge', '/edge?format=commented', '']) assert.equal((await get(target)).status, 200);
    await clock.advance(5_000);
  }
  const since = new Date(START).toISOString();
  const [edge, own] = [`the feed "edge" (${id}, workspace ${WORKSPACE})`, `the feed of workspace "acme" (${WORKSPACE})`];
  const stale = [edge, own].map((name) => `warn ${name} is served from memory as of ${since}: the store does not answer`);
  assert.deepEqual(log, stale);
  store.down = false;
  await get('/edge');
  await get('/edge');
  assert.deepEqual(log, [...stale, `info ${edge} is served from the store again`]);
});

test('D10.10, D10.12 variants with the same entries are told together, others apart; nothing is told of a feed that stays as it is', async () => {
  const clock = new ManualClock();
  const store = new MemoryStore(clock);
  const id = store.addList('edge', { maxEntries: 2 });
  for (const ip of ['192.0.2.1', '192.0.2.9']) store.add(id, ip);
  const { get, log } = replicaOf(clock, store);
  const targets = ['/edge', '/edge?format=commented', '/edge?format=csv_indicator', '/edge?family=v6', '/edge?action=allow'];
  for (let i = 0; i < 3; i += 1) {
    for (const target of targets) await get(target);
    await clock.advance(30_000);
  }
  assert.deepEqual(
    log.map((line) => line.replace(/^.*workspace [^,]+, /, '')),
    ['action=block) has 2 entries, 100% of its cap of 2', 'action=block format=csv_indicator) has 2 entries, 100% of its cap of 2'],
  );
});

function replicaOf(clock: ManualClock, store: MemoryStore) {
  const replica = new Replica(clock, store);
  return { get: (target: string) => replica.get(target), log: replica.log };
}

test('D10.13, D10.14 a forecast is one read for a feed with too little room, told once, and never a failure', async () => {
  const clock = new ManualClock();
  const log: string[] = [];
  const watch = new FeedWatch(
    (level, message) => log.push(`${level} ${message}`),
    () => clock.now(),
  );
  const feed = { workspaceId: WORKSPACE, feedId: 'l' };
  const row: FeedPreview = {
    kind: 'list',
    feedId: 'l',
    name: 'edge',
    action: 'block',
    entriesBefore: 12,
    entriesAfter: 12,
    entryLimit: 10,
  };
  let previews = 0;
  let failure: Error | undefined;
  const previewer = {
    async preview() {
      previews += 1;
      if (failure !== undefined) throw failure;
      return { feeds: [row], leftOut: 0, costliest: { name: 'country NL', networks: 4 } };
    },
  };
  const forecast = feedForecast({ previewer, watch, geo: () => GEO, caughtUp: undefined, clock, log: (_, line) => log.push(line) });
  const event = { type: 'access_rules', action: 'block', country: 'NL' } as const;
  const context = { organizationId: 'o', workspaceId: WORKSPACE, listId: 'l', receivedAt: START, signalId: 's' };
  const signals = { workspaceId: WORKSPACE, listId: 'l', messages: [encodeMessage({ version: 1, event }, context)] };
  const build = (entries: number) =>
    watch.built(feed, DEFAULT_VARIANT, { name: 'edge', revision: 1, facts: { entryCount: entries, entryLimit: 10, nextExpiry: 0 } }, true);
  const accept = async () => {
    forecast.accepted(signals);
    await settled();
    return [previews, log.length];
  };
  assert.deepEqual(await accept(), [0, 0], 'no feed is known');
  await build(5);
  assert.deepEqual(await accept(), [0, 0], 'there is room for the networks of NL');
  await build(8);
  assert.deepEqual(await accept(), [1, 1]);
  assert.match(
    log[0]!,
    /^warn the feed "edge" \(l, workspace .*\) goes over its cap of 10 with country NL \(4 networks\): 8 entries before, 12 after$/,
  );
  assert.deepEqual(await accept(), [2, 1]);
  assert.deepEqual(
    watch.feeds().flatMap(({ open }) => open.map(({ kind }) => kind)),
    ['will_exceed'],
  );
  await build(12);
  assert.deepEqual(await accept(), [2, 2], 'over its cap already');
  assert.deepEqual(
    watch.feeds().flatMap(({ open }) => open.map(({ kind }) => kind)),
    ['over_cap'],
  );

  failure = new Error('SQLITE_BUSY');
  assert.deepEqual(await forecast.dryRun(signals, false), { unknown: 'the entries could not be counted in time' });
  assert.deepEqual(await forecast.dryRun({ ...signals, listId: undefined }, false), { unknown: 'the store does not answer' });
});
