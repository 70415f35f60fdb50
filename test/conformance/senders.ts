/** What every store has to tell of where the entries of a feed come from, and what counting that may cost. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { NO_SETTINGS } from '../../src/account/list.ts';
import { DEFAULT_GUARDS, PLAIN_READING } from '../../src/account/source.ts';
import { shareCounter } from '../../src/feed/build/share-counter.ts';
import type { SharesRequest } from '../../src/feed/builder.ts';
import { sharesText } from '../../src/feed/shares.ts';
import type { GeoDatabase } from '../../src/ports/geo.ts';
import type { SenderCount, SenderPlace } from '../../src/ports/stored/rule-queries.ts';
import { access, fixture, ip, KEY, type StoreDriver, T0, upsert } from './store.ts';

/** Two networks of each family for every country. */
const geo = (): GeoDatabase => ({
  version: '1',
  ranges: () => ({ v4: Uint32Array.of(0x0b000000, 0x0b0000ff, 0x0b000200, 0x0b0002ff), v6: new Uint32Array() }),
  hasAsn: () => true,
});

/** A clock on which a turn passes at once, and a time limit never. */
const clockAt = (monotonic: () => number) => ({
  now: () => T0,
  monotonic,
  after(ms: number, run: () => void) {
    if (ms === 0) run();
    return () => undefined;
  },
});

export function senderConformance(driver: StoreDriver): void {
  const { name } = driver;

  test(`D10.21 store ${name}: entries are told by list and by key, the largest first, by names, in steps of any size`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    const key = (of: string) => store.createKey(workspace.id, { ...KEY, name: of, hash: Buffer.from(of) });
    const [ids, soc] = [await key('ids'), await key('soc')];
    const edge = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    const more = { batchId: '018f0000-0000-7000-8000-000000000000', listId: edge.id };
    const block = (address: string, rule = {}) => upsert(access(ip(address), rule));
    await land([
      { change: block('192.0.2.1'), keyId: ids.id },
      { change: block('192.0.2.3'), keyId: ids.id, ...more },
      { change: block('192.0.2.5'), keyId: soc.id, ...more },
      { change: upsert(access({ kind: 'country', country: 'NL' })), keyId: soc.id, ...more },
      { change: block('2001:db8::1'), keyId: '018f0000-0000-7000-8000-00000000dead', ...more },
      { change: block('2001:db8::2'), keyId: '018f0000-0000-7000-8000-00000000beef', ...more },
      { change: block('192.0.2.7') },
      { change: block('192.0.2.9', { expiresAt: T0 - 1 }), keyId: ids.id },
      { change: block('192.0.2.11', { action: 'allow' }), keyId: ids.id },
    ]);
    // Whoever writes a rule last has sent it.
    await land([{ change: block('192.0.2.5'), keyId: ids.id, ...more }]);
    const clock = clockAt(() => 0);
    const ask = async (request: Partial<SharesRequest> = {}) => {
      const asked = { workspaceId: workspace.id, feed: null, action: 'block', family: 'both', ...request } as const;
      return sharesText((await shareCounter({ store, geo, clock }).shares(asked))!);
    };
    assert.equal(await ask(), 'Before neighbours are merged, by list: edge 6, default 2; by key: ids 3, a deleted key 2, soc 2, 1 more 1.');
    assert.equal(await ask({ feed: edge.id, family: 'v4' }), 'Before neighbours are merged, by list: edge 4; by key: ids 2, soc 2.');
    assert.equal(await ask({ feed: edge.id, action: 'allow' }), 'Before neighbours are merged, by list: none; by key: none.');

    const reading = PLAIN_READING;
    const settings = { url: 'https://lists.example/', purpose: 'block' as const, every: 3600, reading, guards: DEFAULT_GUARDS };
    const given = { ...settings, credential: null, copies: [], catalogue: null, id: randomUUID(), name: 'drop', list: NO_SETTINGS };
    const { source } = await store.createSource(workspace.id, { ...given, secret: null }, { maxSources: 0, maxLists: 0 });
    await land([{ change: block('192.0.2.21'), keyId: source.id, listId: source.listId, batchId: '018f0000-0000-7000-8000-000000000001' }]);
    const kept = 'Before neighbours are merged, by list: drop 1; by key: source drop 1.';
    assert.equal(await ask({ feed: source.listId }), kept, 'what a refresh has sent is of no key that is gone');

    const steps = async (limit: number) => {
      const counts: SenderCount[] = [];
      for (let after: SenderPlace | undefined, isOver = false; !isOver; ) {
        const step = await store.senderStep(workspace.id, null, { action: 'block', at: T0, after, limit });
        counts.push(...step.counts);
        after = step.next ?? undefined;
        isOver = step.next === null;
      }
      const sums = new Map<string, number>();
      for (const { rules, ...of } of counts) sums.set(JSON.stringify(of), rules + (sums.get(JSON.stringify(of)) ?? 0));
      return [...sums].sort();
    };
    assert.deepEqual(await steps(1), await steps(1000));
    assert.deepEqual(await steps(3), await steps(1000));
  });
}

/** What counting may cost, whatever the dialect. */
export function counterBounds(driver: StoreDriver): void {
  test('D10.21 a feed is counted once for each revision; a workspace that has spent its allowance waits, others do not', async (t) => {
    const { store, workspace, organization, land } = await fixture(t, driver);
    const other = await store.createWorkspace(organization.id, 'other');
    await land([{ change: upsert(access(ip('192.0.2.1'))) }]);
    let now = 0;
    let took = 0;
    const asked: string[] = [];
    const slow = {
      senderStep: (...args: Parameters<typeof store.senderStep>) => {
        asked.push(args[0]);
        now += took;
        return store.senderStep(...args);
      },
    };
    const clock = clockAt(() => now);
    const { shares } = shareCounter({ store: slow, geo, clock });
    const of = (workspaceId: string, revision: number) => shares({ workspaceId, feed: null, action: 'block', family: 'both', revision });
    const first = await of(workspace.id, 1);
    for (let n = 0; n < 1000; n += 1) assert.equal(await of(workspace.id, 1), first);
    assert.equal(asked.length, 1);

    // Each count takes all the time that it may: two of them are the allowance.
    took = 2_200;
    await of(workspace.id, 2);
    const last = await of(workspace.id, 3);
    for (let revision = 4; revision < 100; revision += 1) assert.equal(await of(workspace.id, revision), last);
    assert.equal(asked.length, 3);
    await of(other.id, 1);
    assert.deepEqual(asked.slice(3), [other.id]);
    // A twentieth of the time comes back.
    now += 10_000;
    await of(workspace.id, 100);
    await of(workspace.id, 101);
    assert.equal(asked.length, 5);
  });
}
