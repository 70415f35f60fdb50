/** Feeds whose rules follow the store, shared by those of the same lists, have the bytes of feeds that are read anew, over real landings in the embedded store. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseNetwork } from '@weir/network/parse.ts';
import { blockGuards, NO_GUARD_RAILS } from '../../../src/account/guard-rails.ts';
import { type ListSettings, NO_SETTINGS } from '../../../src/account/list.ts';
import { systemClock } from '../../../src/clock.ts';
import { decisionBuilder } from '../../../src/decisions/build/decision-builder.ts';
import { documentBuilder } from '../../../src/feed/build/document-builder.ts';
import type { BuildResult } from '../../../src/feed/builder.ts';
import type { Variant } from '../../../src/feed/variant.ts';
import type { GeoDatabase } from '../../../src/ports/geo.ts';
import type { LandingItem } from '../../../src/ports/landing.ts';
import { EXCEPTIONS_KEY } from '../../../src/ports/snapshot.ts';
import type { Target } from '../../../src/rule.ts';
import { newBatchId } from '../../../src/signal/message/signal-id.ts';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { seededRandom } from '../../support/random.ts';

const VARIANTS: readonly Variant[] = [
  { document: 'feed', format: 'plain', family: 'both', action: 'block' },
  { document: 'feed', format: 'csv_indicator', family: 'v4', action: 'block' },
  { document: 'feed', format: 'plain', family: 'both', action: 'allow' },
];

test('D5.22, D5.23 feeds that follow, and share their lists, have the bytes, tags and instants of those that are read anew; each list is read once', async (t) => {
  const store = await openSqliteStore(temporaryFolder(t));
  t.after(() => store.close());
  const workspace = await store.createWorkspace((await store.createOrganization('acme', 'active')).id, 'main');
  let now = await store.ping();
  const clock = { now: () => now, monotonic: () => now, after: () => () => undefined };
  const levels = { ...NO_SETTINGS, confidence: 'low' as const };
  const edge = await store.createList(workspace.id, 'edge', NO_SETTINGS);
  const rated = await store.createList(workspace.id, 'rated', levels);
  const cutting = await store.createList(workspace.id, 'cutting', { ...NO_SETTINGS, subtractAllow: 'workspace' });
  const feed = (name: string, lists: readonly string[], settings: Partial<ListSettings>) =>
    store.createFeed(workspace.id, { name, ...NO_SETTINGS, lists, ...settings });
  const both = await feed('both', [edge.id, rated.id], { subtractAllow: 'on' });
  const three = await feed('three', [edge.id, rated.id, cutting.id], { subtractAllow: 'workspace', severity: 'low' });
  const feeds = [null, edge.id, cutting.id, both.id, three.id];
  /** How often rules were asked for, and which lists were read whole. */
  const calls = { follow: 0, snapshot: 0, whole: [] as string[] };
  const counted = {
    ...store,
    snapshot: (...args: Parameters<typeof store.snapshot>) => {
      calls.snapshot += 1;
      return store.snapshot(...args);
    },
    follow: (...[workspaceId, feedId, at, known, sink]: Parameters<typeof store.follow>) => {
      calls.follow += 1;
      const list = (key: string, isComplete: boolean) => {
        if (isComplete && key !== EXCEPTIONS_KEY) calls.whole.push(key);
        sink.list(key, isComplete);
      };
      const counting: typeof sink = {
        list,
        removed: (...args) => sink.removed(...args),
        v4: (...args) => sink.v4(...args),
        v6: (...args) => sink.v6(...args),
        geo: (...args) => sink.geo(...args),
      };
      return store.follow(workspaceId, feedId, at, known, counting);
    },
  };
  const nowhere = { v4: new Uint32Array(), v6: new Uint32Array() };
  const geo = (): GeoDatabase => ({ version: '1', ranges: () => nowhere, hasAsn: () => true });
  const guard = blockGuards({ ...NO_GUARD_RAILS, self: [] });
  const versioned = decisionBuilder({ store, recordLog: store.recordLog, clock }).contents;
  const parts = { versioned, geo, guard, phaseOf: () => 'request' as const, clock };
  const following = documentBuilder({ store: counted, ...parts });
  const random = seededRandom(5);
  const { pick, below } = random;
  const chance = (percent: number) => below(100) < percent;

  const lists = [null, edge.id, rated.id, cutting.id];
  let position: number | null = null;
  async function land(entries: readonly LandingItem['change'][], batchId: string) {
    const items = entries.map((change, i) => {
      const record = { offset: (position ?? 0) + i, timestamp: now, key: workspace.id, headers: {}, value: '' };
      return { record, workspaceId: workspace.id, listId: pick(lists), receivedAt: now, batchId, keyId: null, change };
    });
    const to: number = (position ?? 0) + items.length;
    assert.equal(await store.apply({ streamId: 's', partition: 0, from: position, to, items, poison: [], now }), 'landed');
    position = to;
  }
  const network = (): Target => {
    const text = chance(80)
      ? `10.${pick([0, 1])}.${below(4)}.${below(256)}/${pick([32, 32, 31, 28])}`
      : `2001:db8::${pick(['1', '2', 'a:0'])}`;
    const [address, prefix] = text.split('/');
    const parsed = parseNetwork(address);
    assert.ok(typeof parsed !== 'string');
    if (parsed.family === 6 || prefix === undefined) return { kind: 'ip', network: parsed };
    const bits = Number(prefix);
    const mask = bits === 32 ? 0xffff_ffff : (0xffff_ffff << (32 - bits)) >>> 0;
    return { kind: 'ip', network: { family: 4, address: (parsed.address & mask) >>> 0, prefix: bits } };
  };
  const entry = (): LandingItem['change'] => {
    const action = pick(['block', 'block', 'allow'] as const);
    if (chance(30)) return { change: 'delete_by_value', kind: 'access_rule', action, target: network() };
    const levels = { confidence: pick([null, 'low', 'high'] as const), severity: null };
    const rest = { name: null, reason: null, labels: null, config: null, ruleRef: pick([null, null, 'a', 'b']) };
    const expiresAt = pick([null, Math.ceil(now / 1000) * 1000 + 3000]);
    return { change: 'upsert', kind: 'access_rule', rule: { ...rest, ...levels, action, target: network(), expiresAt } };
  };
  const bytesOf = (result: BuildResult) => {
    assert.equal(result.kind, 'document');
    if (result.kind !== 'document') return undefined;
    const { bytes, hash, facts } = result;
    return { text: Buffer.from(bytes).toString(), hash, entryCount: facts.entryCount };
  };

  await land(Array.from({ length: 300 }, entry), newBatchId(now));
  const batches: string[] = [];
  for (let round = 1; round <= 150; round += 1) {
    now += 1000;
    const batchId = newBatchId(now);
    const undone = chance(15) ? pick(batches) : undefined;
    await land(undone === undefined ? Array.from({ length: 1 + below(6) }, entry) : [{ change: 'undo', batchId: undone }], batchId);
    batches.push(batchId);
    const variant = pick(VARIANTS);
    const request = {
      workspaceId: workspace.id,
      feedId: pick(feeds),
      variant,
      sequence: round,
      offline: false,
      before: undefined,
    };
    const fresh = documentBuilder({ store, ...parts });
    assert.deepEqual(bytesOf(await following.build(request)), bytesOf(await fresh.build(request)), `round ${round}`);
  }
  assert.deepEqual({ ...calls, whole: calls.whole.length }, { follow: 150, snapshot: 0, whole: lists.length });
  assert.equal(new Set(calls.whole).size, lists.length);
});

test('D5.13, D7.6 a feed never has a block without the never-block rule that was made before it, also when the read of another feed has moved its list on', async (t) => {
  const store = await openSqliteStore(temporaryFolder(t));
  t.after(() => store.close());
  const workspace = await store.createWorkspace((await store.createOrganization('acme', 'active')).id, 'main');
  const edge = await store.createList(workspace.id, 'edge', NO_SETTINGS);
  const cutting = await store.createList(workspace.id, 'cutting', { ...NO_SETTINGS, subtractAllow: 'workspace' });
  const nowhere = { v4: new Uint32Array(), v6: new Uint32Array() };
  const builder = documentBuilder({
    store,
    versioned: decisionBuilder({ store, recordLog: store.recordLog, clock: systemClock }).contents,
    geo: () => ({ version: '1', ranges: () => nowhere, hasAsn: () => true }),
    guard: blockGuards({ ...NO_GUARD_RAILS, self: [] }),
    phaseOf: () => 'request',
    clock: systemClock,
  });
  let position = 0;
  async function land(listId: string, action: 'block' | 'allow', address: number, prefix: number) {
    const now = Date.now();
    const rest = { name: null, reason: null, labels: null, config: null, ruleRef: null, confidence: null, severity: null, expiresAt: null };
    const rule = { ...rest, action, target: { kind: 'ip', network: { family: 4, address, prefix } } } as const;
    const record = { offset: position, timestamp: now, key: workspace.id, headers: {}, value: '' };
    const change = { change: 'upsert', kind: 'access_rule', rule } as const;
    const item = { record, workspaceId: workspace.id, listId, receivedAt: now, batchId: newBatchId(now), keyId: null, change };
    const [from, to] = [position === 0 ? null : position, position + 1];
    assert.equal(await store.apply({ streamId: 's', partition: 0, from, to, items: [item], poison: [], now }), 'landed');
    position = to;
  }
  async function text(feedId: string | null, format: 'plain' | 'csv_indicator', sequence: number) {
    const variant = { document: 'feed', format, family: 'v4', action: 'block' } as const;
    const request = { workspaceId: workspace.id, feedId, variant, sequence, offline: false, before: undefined };
    const result = await builder.build(request);
    assert.ok(result.kind === 'document');
    return { text: Buffer.from(result.bytes).toString(), at: result.at };
  }

  await land(cutting.id, 'block', 0x0a00_0000, 32);
  const first = await text(cutting.id, 'plain', 1);
  assert.equal(first.text, '10.0.0.0/32\n');
  await land(edge.id, 'allow', 0xc000_0201, 32);
  await land(cutting.id, 'block', 0xc000_0200, 31);
  await text(null, 'plain', 2);
  // Another format, from what is known of the feed.
  const second = await text(cutting.id, 'csv_indicator', 0);
  assert.equal(second.text, '10.0.0.0,IP,high,high\n192.0.2.0,IP,high,high\n');
  assert.ok(second.at.monotonic > first.at.monotonic, 'known to be another read');
});
