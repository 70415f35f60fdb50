/** Feeds at earlier moments from the archive, against their contents at the time (SPEC D61.9). */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { difference } from '@weir/network/address-set.ts';
import { blockGuards } from '../../src/account/guard-rails.ts';
import { NO_SETTINGS } from '../../src/account/list.ts';
import { pastDifference } from '../../src/archive/difference.ts';
import { DAY, isoTime, secondOf, systemClock } from '../../src/clock.ts';
import { addressesIn } from '../../src/feed/build/content.ts';
import { contentAsked } from '../../src/feed/build/render-feed.ts';
import { readSnapshot } from '../../src/feed/index/snapshot.ts';
import { networksOf } from '../../src/feed/whatif/difference/difference.ts';
import { differenceJson } from '../../src/manage/changes/difference.ts';
import type { PastReader } from '../../src/manage/lookup/past.ts';
import type { Target } from '../../src/rule.ts';
import { frozenContent } from '../../src/runtime/jobs/work/freeze.ts';
import { newBatchId } from '../../src/signal/message/signal-id.ts';
import { seededRandom } from '../support/random.ts';
import { archived, SERVICE, target } from './archive.ts';
import { access, type StoreDriver, upsert } from './store.ts';

const ROUNDS = 80;
const NO_PLACES = { version: '', hasAsn: () => false, ranges: () => ({ v4: new Uint32Array(), v6: new Uint32Array() }) };

export function archiveDifferenceConformance(driver: StoreDriver): void {
  test(`D61.9, D61.10 store ${driver.name}: a feed is compared at moments of the last weeks, as its contents were then, or the reason is named`, async (t) => {
    const { store, workspace, land, at, start, settle, folder, dir, reads } = await archived(t, driver);
    const random = seededRandom(619);
    const lists: string[] = [];
    for (const name of ['one', 'two', 'three']) lists.push((await store.createList(workspace.id, name, NO_SETTINGS)).id);
    const both = { ...NO_SETTINGS, name: 'both', minSources: null, fit: null, always: [], lists: lists.slice(0, 2) };
    const feed = await store.createFeed(workspace.id, both);
    const feeds = [undefined, 'one', 'both'] as const;
    const ids = [null, lists[0]!, feed.id];
    const write = start();
    const contentNow = async (feedId: string | null) => {
      const snapshot = (await readSnapshot(store, { workspaceId: workspace.id, feedId }, { wall: at.now, monotonic: 0 }))!;
      const { content, facts } = contentAsked(snapshot, { format: 'plain' }, secondOf(at.now), NO_PLACES, blockGuards(SERVICE.guardRails));
      return { addresses: addressesIn(content), entries: facts.entryCount };
    };
    const sent = (listId: string, what: Target, more: Parameters<typeof access>[1] = {}) =>
      land([{ batchId: newBatchId(at.now), keyId: 'key', listId, change: upsert(access(what, more)) }], at.now);
    const changeSettings = [
      () => store.updateList(workspace.id, lists[0]!, { subtractAllow: random.pick(['on', 'off', 'workspace']) }),
      () => store.updateList(workspace.id, lists[0]!, { widenV4: random.pick([24, null]), widenV6: random.pick([48, null]) }),
      () =>
        store.updateFeed(workspace.id, feed.id, { minSources: random.pick([2, null]), fit: random.pick(['best', null]), maxEntries: 6 }),
      () => store.updateFeed(workspace.id, feed.id, { lists: random.pick([lists, lists.slice(1), null]) }),
      () =>
        store.updateWorkspace(workspace.id, { protect: random.pick([[], ['192.0.2.16/30']]), subtractAllow: random.pick(['on', 'off']) }),
    ];
    const moments: { readonly when: number; readonly contents: readonly Awaited<ReturnType<typeof contentNow>>[] }[] = [];
    const address = () => (random.below(4) === 0 ? `2001:db8::${random.below(20)}` : `192.0.2.${random.below(40)}`);
    await settle(async () => {});
    await write(workspace.id, at.now, SERVICE, true);
    for (let round = 0; round < ROUNDS; round += 1) {
      at.now += 60_000 + random.below(DAY);
      const second = at.now - (at.now % 1000);
      for (let n = 0; n < 4; n += 1) {
        const given = { batchId: newBatchId(at.now), keyId: 'key', listId: random.pick(lists) };
        const what = target(random.below(5) === 0 ? `192.0.2.${random.below(8) * 8}/29` : address());
        const isDeleted = random.below(3) === 0;
        const action = random.below(5) === 0 ? 'allow' : 'block';
        const expiresAt = random.below(2) === 0 ? null : second + 1000 * random.below(400_000);
        const removal = { change: 'delete_by_value', kind: 'access_rule', action, target: what } as const;
        await land([{ ...given, change: isDeleted ? removal : upsert(access(what, { action, expiresAt })) }], at.now);
        at.now += 1;
      }
      at.now += 1000;
      if (random.below(4) === 0) await settle(random.pick(changeSettings));
      at.now += 1000;
      moments.push({ when: at.now, contents: await Promise.all(ids.map(contentNow)) });
      at.now += 1000;
      if (random.below(4) > 0) await write(workspace.id, at.now, SERVICE, true);
      await store.sweep({ now: at.now, rulesExpiredBefore: at.now - 7 * DAY, auditBefore: 0, limit: 1000 });
    }
    const past: PastReader = {
      lookUp: () => assert.fail(),
      difference: (asked) => pastDifference(asked, dir, reads, SERVICE),
    };
    const compare = (of: number, since: number, until: number, ports: { past?: PastReader } = { past }) => {
      const asked = { feed: feeds[of], since, until, limit: 100 };
      const unused = () => assert.fail('the store has only seven days');
      return differenceJson(reads, { difference: unused, ...ports }, workspace.id, asked, at.now);
    };
    const counts = { equal: 0, refused: 0 };
    const old = moments.findLastIndex(({ when }) => when < at.now - 7 * DAY);
    for (let n = 0; n < 90; n += 1) {
      const [first, of] = [random.below(old), n % 3];
      const last = first + 1 + random.below(moments.length - first - 1);
      const [before, after] = [moments[first]!, moments[last]!];
      const found = await compare(of, before.when, after.when).catch((error: Error) => error.message);
      if (typeof found === 'string') {
        assert.match(found, /settings changed (several times|around)/);
        counts.refused += 1;
        continue;
      }
      counts.equal += 1;
      const [was, is] = [before.contents[of]!, after.contents[of]!];
      const [added, removed] = [difference(is.addresses, was.addresses), difference(was.addresses, is.addresses)].map((set) =>
        networksOf(set, 100),
      );
      assert.deepEqual(
        [found.before.entries, found.after.entries, found.added, found.added_networks, found.removed, found.removed_networks],
        [was.entries, is.entries, added!.count, added!.first, removed!.count, removed!.first],
        `${feeds[of]} from ${found.since} to ${found.until}`,
      );
      assert.equal(found.frozen_since, null);
    }
    assert.ok(counts.equal > 60, JSON.stringify(counts));
    t.diagnostic(JSON.stringify(counts));

    const [early, now] = [moments[2]!.when, () => at.now];
    await assert.rejects(compare(0, early, now(), {}), { code: 'REFUSED', message: /no longer known/ });
    await assert.rejects(compare(0, moments[0]!.when - 60 * DAY, now()), { code: 'REFUSED', message: /the archive begins at/ });
    const asked = { workspaceId: workspace.id, feedId: null, since: early, until: now(), limit: 9 };
    await assert.rejects(pastDifference(asked, dir, reads, SERVICE, 3), { code: 'TOO_LARGE', message: /had more than 3 rules at/ });
    await settle(() => store.createList(workspace.id, 'late', NO_SETTINGS));
    const late = { ...asked, feedId: (await store.findNamed(workspace.id, 'late'))!.lists[0]!.id, until: at.now };
    await assert.rejects(pastDifference(late, dir, reads, SERVICE), { code: 'REFUSED', message: /did not exist at/ });

    const clock = { ...systemClock, now: () => at.now };
    await settle(async () => store.freezeFeed(workspace.id, await frozenContent(workspace.id, lists[0]!, { store, clock }), null));
    at.now += 200_000;
    assert.equal((await compare(1, early, now())).frozen_since, isoTime((await store.freezes(workspace.id))[0]!.since));

    // Only rules that the content depends on need the geo data.
    const isKnown = async (of: number) => (await compare(of, early, now())).added >= 0;
    await settle(() => store.updateList(workspace.id, lists[0]!, { subtractAllow: 'off' }));
    await sent(lists[0]!, { kind: 'country', country: 'NL' }, { action: 'allow' });
    at.now += 200_000;
    assert.ok(await isKnown(1));
    await sent(lists[0]!, { kind: 'asn', asn: 64_500 });
    at.now += 200_000;
    await assert.rejects(isKnown(1), { code: 'REFUSED', message: /a rule on AS64500 at .* has no geo data/ });

    const between = join(folder, readdirSync(folder).filter((name) => name.includes('changes'))[1]!);
    const bytes = readFileSync(between);
    writeFileSync(between, bytes.subarray(0, bytes.length - 9));
    await assert.rejects(compare(2, moments[10]!.when, now()), { code: 'REFUSED', message: /is damaged/ });
    rmSync(between);
    await assert.rejects(compare(2, moments[10]!.when, now()), { code: 'REFUSED', message: /nothing between/ });
  });
}
