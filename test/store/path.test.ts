/** The path of a target against what devices have in their hands: random changes in the embedded store, feeds of the real builder. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Network } from '@weir/network/network.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import { blockGuards, NO_GUARD_RAILS } from '../../src/account/guard-rails.ts';
import { NO_SETTINGS } from '../../src/account/list.ts';
import { instantOf } from '../../src/clock.ts';
import { decisionBuilder } from '../../src/decisions/build/decision-builder.ts';
import { documentBuilder } from '../../src/feed/build/document-builder.ts';
import { storedVariant, variantOf } from '../../src/feed/variant.ts';
import { explain } from '../../src/feed/whatif/explain/explain.ts';
import { pathOf } from '../../src/manage/lookup/path.ts';
import { namesIn } from '../../src/manage/rules/rule-json.ts';
import type { LandingItem } from '../../src/ports/landing.ts';
import type { AccessRule, Target } from '../../src/rule.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { ManualClock } from '../support/feed-world.ts';
import { temporaryFolder } from '../support/folder.ts';
import { seededRandom } from '../support/random.ts';
import { flags, geoOf, HALF, networkAt, randomNetwork, spanOf } from '../support/small-space.ts';

const ADDRESSES = 1000;
const STEPS = 40;
interface PulledBy {
  readonly total: number;
  readonly has: number;
  readonly told: readonly { readonly user_agent: string; readonly state: 'has' | 'behind' | 'unknown' }[];
}

test('D10.24, D10.25 property: the path of 1,000 addresses agrees with explain, the bytes of feeds and what each device has, also after undos', async (t) => {
  const random = seededRandom(28);
  const clock = new ManualClock();
  const store = await openSqliteStore(temporaryFolder(t), () => clock.now());
  const { id: workspaceId } = await store.createWorkspace((await store.createOrganization('o', 'active')).id, 'w');
  const lists: string[] = [];
  for (const name of ['a', 'b']) lists.push((await store.createList(workspaceId, name, { ...NO_SETTINGS, subtractAllow: 'on' })).id);
  const both = await store.createFeed(workspaceId, { ...NO_SETTINGS, subtractAllow: 'workspace', name: 'both', description: null, lists });
  const workspace = (await store.workspace(workspaceId))!;
  const geo = geoOf(new Map());
  const options = { store, guard: blockGuards({ ...NO_GUARD_RAILS, self: [] }) };
  const builder = documentBuilder({
    ...options,
    versioned: decisionBuilder({ store, recordLog: store.recordLog, clock }).contents,
    geo: () => geo,
    phaseOf: () => 'request',
    clock,
  });
  const feeds = [lists[0]!, lists[1]!, both.id];
  /** What each device has, by feed. */
  const inHand = new Map<string, Uint8Array>();
  let sequence = 0;
  const read = async (feedId: string) => {
    sequence += 1;
    const variant = variantOf({ action: 'block', format: 'plain', family: 'both' }, storedVariant(both));
    const built = await builder.build({ workspaceId, feedId, variant, sequence, offline: false, before: undefined });
    assert.ok(built.kind === 'document');
    const key = { feedId, format: 'plain', family: 'both', action: 'block' };
    const { since } = await store.recordDocument(workspaceId, key, { hash: built.hash, snapshotAt: built.readAt, second: built.asOf });
    const lines = new TextDecoder().decode(built.bytes).split('\n').filter(Boolean);
    return { key, since, hash: built.hash, set: flags(lines.map((line) => spanOf(parseNetwork(line) as Network))) };
  };
  const poll = async (agent: string, feedId: string) => {
    const { key, since, hash, set } = await read(feedId);
    inHand.set(`${agent} ${feedId}`, set);
    const at = clock.now();
    const none = { ok: 1, notModified: 0, refused: 0, failed: 0, lastStatus: 200, validates: true };
    const document = { ...key, etag: hash, lastModified: since, at };
    const seen = {
      workspaceId,
      keyId: workspaceId,
      userAgent: agent,
      address: '192.0.2.9',
      firstPull: at,
      lastPull: at,
      pulls: 1,
      ...none,
    };
    await store.noteDevices([{ ...seen, documents: [document], refusals: [] }]);
  };

  let offset = 0;
  const targets: Target[] = [];
  const batches: { readonly batchId: string; readonly listId: string }[] = [];
  const land = async () => {
    const items = Array.from({ length: 12 }, (): LandingItem => {
      const again = targets.length > 0 && random.below(3) === 0;
      const target: Target = again ? random.pick(targets) : { kind: 'ip', network: parseNetwork(randomNetwork(random).text) as Network };
      targets.push(target);
      const action = random.pick(['block', 'block', 'block', 'allow'] as const);
      const ttl = random.pick([null, 60, 120, 600]);
      const rule: AccessRule = {
        ...{ action, target, ruleRef: null, expiresAt: ttl === null ? null : clock.now() + ttl * 1000 },
        ...{ name: null, reason: null, labels: null, config: null, confidence: null, severity: null },
      };
      offset += 1;
      const record = { offset: offset - 1, timestamp: clock.now(), key: workspaceId, headers: {}, value: '{}' };
      const batchId = crypto.randomUUID();
      const undone = batches.length > 0 && random.below(4) === 0 ? random.pick(batches.slice(-30)) : undefined;
      const change =
        undone !== undefined
          ? { change: 'undo', batchId: undone.batchId }
          : random.below(3) === 0
            ? { change: 'delete_by_value', kind: 'access_rule', action, target }
            : { change: 'upsert', kind: 'access_rule', rule };
      const listId = undone?.listId ?? random.pick(lists);
      batches.push({ batchId, listId });
      return { record, workspaceId, listId, receivedAt: clock.now(), batchId, keyId: null, change } as LandingItem;
    });
    const from = offset === items.length ? null : offset - items.length;
    await store.apply({ streamId: 's', partition: 0, from, to: offset, items, poison: [], now: clock.now() });
  };

  const met = { has: 0, behind: 0, unknown: 0, in: 0, out: 0 };
  for (let step = 0; step < STEPS; step += 1) {
    await land();
    await clock.advance(random.pick([1000, 3000, 20_000, 61_000]));
    for (const agent of ['one', 'two', 'three', 'four']) if (random.below(3) === 0) await poll(agent, random.pick(feeds));
    await clock.advance(random.pick([0, 1000, 5000, 30_000]));
    const published = new Map<string, Uint8Array>();
    for (const feedId of feeds) published.set(feedId, (await read(feedId)).set);
    const names = await namesIn(store, workspaceId);
    for (let n = 0; n < ADDRESSES / STEPS; n += 1) {
      const at = random.below(HALF);
      const target: Target = { kind: 'ip', network: networkAt(at, 0) };
      const asked = { workspace, target, action: 'block', counts: false, outlook: { listId: lists[0]! } } as const;
      const explained = await explain(asked, { store, geo, guard: options.guard, now: instantOf(clock) });
      const locate = () => ({ country: null, asn: null, asnName: null, attribution: null });
      const step = <T>(work: () => Promise<T>) => work();
      const path = await pathOf({ store, workspaceId, locate, now: () => clock.now(), step }, asked, explained, names);
      const enforcing = new Map<string, boolean>();
      for (const [place, told] of path.feeds) {
        const { source, explanation } = explained.feeds[place]!;
        const { pulled_by: pulledBy } = told as { readonly pulled_by: PulledBy };
        if (source.id === null || !feeds.includes(source.id)) continue;
        const isIn = published.get(source.id)![at] === 1;
        assert.equal(explanation.verdict, isIn ? 'in' : 'out');
        met[isIn ? 'in' : 'out'] += 1;
        assert.equal(pulledBy.told.length, [...inHand.keys()].filter((key) => key.endsWith(source.id!)).length);
        for (const { user_agent: agent, state } of pulledBy.told) {
          met[state] += 1;
          if (isIn) enforcing.set(agent, enforcing.get(agent) === true || state === 'has');
          if (state !== 'has') continue;
          assert.equal(inHand.get(`${agent} ${source.id}`)![at] === 1, isIn, `step ${step}, ${at}, ${agent}, ${source.profile.name}`);
        }
      }
      const by = [...enforcing.values()].filter(Boolean).length;
      assert.deepEqual((path.summary as { enforced: object }).enforced, { by, of: enforcing.size });
    }
  }
  assert.ok(Math.min(met.has, met.behind, met.in, met.out) > 100, JSON.stringify(met));
  t.diagnostic(JSON.stringify(met));
  await store.close();
});
