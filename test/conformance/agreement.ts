/** Feeds whose lists have to agree, over every store: their bytes, and what is told of addresses, against plain sets (SPEC D29). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { blockGuards, NO_GUARD_RAILS } from '../../src/account/guard-rails.ts';
import { NO_SETTINGS } from '../../src/account/list.ts';
import { DEFAULT_GUARDS, PLAIN_READING } from '../../src/account/source.ts';
import { systemClock } from '../../src/clock.ts';
import { decisionBuilder } from '../../src/decisions/build/decision-builder.ts';
import { documentBuilder } from '../../src/feed/build/document-builder.ts';
import type { Variant } from '../../src/feed/variant.ts';
import { explain } from '../../src/feed/whatif/explain/explain.ts';
import { feedMeasurer } from '../../src/feed/whatif/measure.ts';
import type { GeoDatabase } from '../../src/ports/geo.ts';
import type { AccessAction } from '../../src/rule.ts';
import { newBatchId } from '../../src/signal/message/signal-id.ts';
import { seededRandom } from '../support/random.ts';
import { rangeOf } from '../support/slow-networks.ts';
import { access, fixture, ip, type StoreDriver, upsert } from './store.ts';

/** Steps of the comparison, and the seed: a long run gives others. */
const STEPS = Number(process.env.TEST_AGREE_STEPS ?? 9);
const SEED = Number(process.env.TEST_AGREE_SEED ?? 29);

/** Where all is: 64 addresses of IPv4, 32 of IPv6; the country has 16 of each. */
const PLACES = [
  ...Array.from({ length: 64 }, (_, i) => `10.0.0.${i}`),
  ...Array.from({ length: 32 }, (_, i) => `2001:db8::${i.toString(16)}`),
];
const NETWORKS = ['10.0.0.0/8', '10.0.0.0/27', '10.0.0.32/28', '10.0.0.12/30', '2001:db8::/32', '2001:db8::10/124', '2001:db8::4/126'];
const COUNTRY = { v4: Uint32Array.of(0x0a00_0010, 0x0a00_001f), v6: Uint32Array.of(0x2001_0db8, 0, 0, 0, 0x2001_0db8, 0, 0, 15) };
const IN_COUNTRY = [rangeOf('10.0.0.16/28'), rangeOf('2001:db8::/124')];

interface Entry {
  readonly list: number;
  readonly action: AccessAction;
  readonly value: string;
  /** ms; null: never. */
  readonly expiresAt: number | null;
}

const has = (value: string, address: string): boolean => {
  const { start, family } = rangeOf(address);
  const ranges = value === 'NL' ? IN_COUNTRY : [rangeOf(value)];
  return ranges.some((range) => range.family === family && range.start <= start && start <= range.end);
};

export function agreementConformance(driver: StoreDriver): void {
  test(`D29.1 D29.2 D29.3 D53.1 D53.3 store ${driver.name}: a feed has exactly what enough independent lists have, and what is told of an address is so`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    let now = await store.ping();
    const clock = { now: () => now, monotonic: () => now, after: systemClock.after };
    const source = async (name: string, copies: readonly string[], catalogue: string | null = null) => {
      const reading = PLAIN_READING;
      const settings = { url: 'https://lists.example/', purpose: 'block' as const, every: 3600, reading, guards: DEFAULT_GUARDS };
      const given = { ...settings, credential: null, copies, catalogue, id: randomUUID(), name, list: NO_SETTINGS, secret: null };
      return (await store.createSource(workspace.id, given, { maxSources: 0, maxLists: 0 })).source;
    };
    // Whom a source copies may be a list, a feed, or the name of the catalogue.
    const drop = await source('drop', [], 'spamhaus-drop');
    const net = await store.createList(workspace.id, 'net', NO_SETTINGS);
    const soc = await store.createList(workspace.id, 'soc', NO_SETTINGS);
    await store.createFeed(workspace.id, { ...NO_SETTINGS, name: 'nets', lists: [net.id] });
    const firehol = await source('firehol', ['spamhaus-drop']);
    const all = await source('all', ['firehol', 'nets']);
    const lists = [firehol.listId, soc.id, all.listId, net.id, drop.listId];
    const names = ['firehol', 'soc', 'all', 'net', 'drop'];
    /** By place: firehol copies drop; all copies firehol, and so drop, and net. */
    const copies = [[4], [], [0, 3, 4], [], []];
    const feed = await store.createFeed(workspace.id, {
      ...{ ...NO_SETTINGS, subtractAllow: 'on', name: 'agreed' },
      ...{ lists, minSources: 2, always: [soc.id] },
    });
    assert.deepEqual([feed.lists, feed.minSources, feed.always], [lists, 2, [soc.id]]);

    const places: GeoDatabase = { version: '1', ranges: () => COUNTRY, hasAsn: () => true };
    const geo = () => places;
    const guard = blockGuards({ ...NO_GUARD_RAILS, protect: ['10.0.0.60/31'], self: [] });
    const parts = { geo, guard, clock, phaseOf: () => 'request' as const };
    const { contents: versioned } = decisionBuilder({ store, recordLog: store.recordLog, clock });
    const following = documentBuilder({ store, versioned, ...parts });
    const measurer = feedMeasurer({ store, ...parts, shares: async () => undefined });

    const random = seededRandom(SEED);
    const rules = new Map<string, Entry>();
    const wanted = (action: AccessAction, address: string) => {
      const active = [...rules.values()].filter((rule) => (rule.expiresAt === null || rule.expiresAt > now) && has(rule.value, address));
      const having = (of: AccessAction) => [...new Set(active.filter((rule) => rule.action === of).map(({ list }) => list))];
      if (action === 'allow') return having('allow').length > 0;
      if (having('allow').length > 0 || has('10.0.0.60/31', address)) return false;
      const blocking = having('block');
      const witnesses = blocking.filter((list) => !blocking.some((other) => copies[list]!.includes(other)));
      return blocking.includes(1) || witnesses.length >= 2;
    };
    let compared = 0;
    for (let step = 0; step < STEPS; step += 1) {
      now += 1000;
      // Every third step nothing lands, and only what expires leaves.
      const landed =
        step % 3 === 2
          ? []
          : Array.from({ length: step === 0 ? 60 : 1 + random.below(6) }, (): Entry => {
              const expiresAt = random.below(3) > 0 ? null : (Math.floor(now / 1000) + 1 + random.below(6)) * 1000;
              const value = random.below(6) === 0 ? random.pick([...NETWORKS, 'NL']) : random.pick(PLACES);
              return { list: random.below(5), action: random.below(8) === 0 ? 'allow' : 'block', value, expiresAt };
            });
      const batchId = newBatchId(now);
      if (landed.length > 0)
        await land(
          landed.map(({ list, action, value, expiresAt }) => {
            rules.set(`${list} ${action} ${value}`, { list, action, value, expiresAt });
            const target = value === 'NL' ? ({ kind: 'country', country: 'NL' } as const) : ip(value);
            const listId = lists[list]!;
            const sourceId = [drop, firehol, all].find((each) => each.listId === listId)?.id;
            return { batchId, listId, ...(sourceId && { sourceId }), change: upsert(access(target, { action, expiresAt })) };
          }),
          now,
        );
      for (const [format, action] of [
        ['plain', 'block'],
        ['csv_indicator', 'block'],
        ['plain', 'allow'],
      ] as const) {
        const variant: Variant = { document: 'feed', format, family: 'both', action };
        const request = { workspaceId: workspace.id, feedId: feed.id, variant, sequence: step + 1, offline: false, before: undefined };
        const result = await following.build(request);
        assert.ok(result.kind === 'document');
        const lines = Buffer.from(result.bytes).toString().trim().split('\n').filter(Boolean);
        const served = lines
          .map((line) => line.split(',')[0]!.split('-'))
          .map(([first, last]) => ({
            family: rangeOf(first!).family,
            start: rangeOf(first!).start,
            end: rangeOf(last ?? first!).end,
          }));
        for (const address of PLACES) {
          const { start, family } = rangeOf(address);
          const isIn = served.some((range) => range.family === family && range.start <= start && start <= range.end);
          assert.equal(isIn, wanted(action, address), `${format} ${action} ${address}, step ${step}`);
          compared += 1;
        }
        if (format !== 'plain' || action !== 'block') continue;
        // A feed that is read for itself, and an address that is looked up.
        assert.equal((await measurer.measure({ workspaceId: workspace.id, feed: feed.id }))?.entries, result.facts.entryCount);
        const map = await following.addressSpace({ ...request, within: { address: 0x0a00_0000, prefix: 16 } });
        const v4 = served.filter((range) => range.family === 4).reduce((sum, { start, end }) => sum + Number(end - start) + 1, 0);
        assert.deepEqual([map!.addresses.reduce((sum, each) => sum + each, 0), map!.protected[0]], [v4, 2]);
        assert.ok([...map!.widest, ...map!.v6].every(({ rules }) => rules > 0));
        assert.equal(await following.addressSpace({ ...request, within: { address: 0x0a00_0000, prefix: 16 } }), map, 'reused');
        const address = random.pick(PLACES);
        const asked = { workspace, target: ip(address), action, feedIds: [feed.id], counts: false };
        const options = { store, geo: geo(), guard, now: { wall: now, monotonic: now } };
        const { explanation } = (await explain(asked, options)).feeds[0]!;
        assert.equal(explanation.verdict, wanted('block', address) ? 'in' : 'out', address);
        const left = new Set(explanation.rules.flatMap(({ stored, effect }) => (effect === 'in' ? [stored.listId] : [])));
        for (const { name, always } of explanation.quorum?.lists ?? []) assert.equal(always, name === 'soc');
        const { minSources, found = 0, lists: having = [] } = explanation.quorum ?? {};
        if (explanation.quorum !== null) assert.equal(minSources, 2);
        const blocked = having.some(({ always }) => always) || found >= 2;
        assert.equal(left.size > 0, blocked, `${address}: ${JSON.stringify(explanation.quorum)}`);
        assert.deepEqual(
          having.map(({ name }) => names.indexOf(name)),
          having.map(({ name }) => names.indexOf(name)).toSorted(),
        );
      }
    }
    t.diagnostic(`${compared} comparisons`);

    // What a source says of copies is part of the feed.
    const revisionOf = async () => (await store.findNamed(workspace.id, 'agreed'))!.feeds[0]!.revision;
    const before = await revisionOf();
    await store.updateSource(workspace.id, firehol.id, { copies: [] });
    assert.ok((await revisionOf()) > before);
    const head = await store.snapshot(workspace.id, feed.id, now, undefined);
    assert.deepEqual([head?.lists.map(({ name }) => name), head?.quorum?.copies], [names, [[], [], [0, 3], [], []]]);
    const changed = await store.updateFeed(workspace.id, feed.id, { lists: lists.toReversed().slice(1) });
    assert.deepEqual([changed.lists, changed.always], [lists.toReversed().slice(1), [soc.id]]);
    await store.deleteList(workspace.id, soc.id);
    assert.deepEqual((await store.feed(workspace.id, feed.id))!.always, []);
    await store.restoreDeleted(workspace.id, soc.id, {});
    assert.deepEqual(await store.feed(workspace.id, feed.id), changed);
  });
}
