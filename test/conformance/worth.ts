/** What lists are worth, against a plain model: every address by itself, and every entry with since when and until when it was there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatNetwork } from '@weir/network/format.ts';
import type { Network } from '@weir/network/network.ts';
import { NO_SETTINGS } from '../../src/account/list.ts';
import { systemClock } from '../../src/clock.ts';
import { overlapOf } from '../../src/feed/whatif/overlap/overlap.ts';
import { newBatchId } from '../../src/signal/message/signal-id.ts';
import { GEO } from '../support/feed-world.ts';
import { seededRandom } from '../support/random.ts';
import { access, fixture, type StoreDriver, T0, upsert } from './store.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const BITS = 7;
/** Rounds of a few changes each, after each of which 126 figures are compared, and the seed: a long run gives others. */
const ROUNDS = Number(process.env.WORTH_ROUNDS ?? 10);
const SEED = Number(process.env.WORTH_SEED ?? 30);

interface Entry {
  readonly family: 4 | 6;
  readonly at: number;
  readonly size: number;
}
const networkOf = ({ family, at, size }: Entry): Network => {
  const prefix = Math.log2(size);
  return family === 4
    ? { family, address: (0xc6120000 + at) >>> 0, prefix: 32 - prefix }
    : { family, address: [0x20010db8, 0, 0, at], prefix: 128 - prefix };
};
const addressesOf = ({ family, at, size }: Entry) => Array.from({ length: size }, (_, i) => `${family} ${at + i}`);

/** An entry of a list: `end`, since when it is not there; Infinity: it is. `isGone`: it was unblocked. */
interface Stay {
  readonly entry: Entry;
  readonly from: number;
  end: number;
  isGone: boolean;
}

const byName = (a: { readonly name: string }, b: { readonly name: string }) => (a.name < b.name ? -1 : 1);

export function worthConformance(driver: StoreDriver): void {
  test(`D30.2, D30.3 store ${driver.name}: overlaps, what is unique, and who had a detection first are those of a plain model`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    const random = seededRandom(SEED);
    const lists: { readonly id: string; readonly name: string; readonly isSource: boolean; readonly stays: Stay[] }[] = [];
    for (const name of ['own', 'other', 'one', 'two', 'three']) {
      const { id } = await store.createList(workspace.id, name, NO_SETTINGS);
      lists.push({ id, name, isSource: ['one', 'two', 'three'].includes(name), stays: [] });
    }
    // Who keeps a list is all that is told of sources.
    const reads = {
      ...store,
      async directory(id: string) {
        const found = (await store.directory(id))!;
        return {
          ...found,
          lists: found.lists.map((list) => ({ ...list, sourceId: lists.find((each) => each.id === list.id)?.isSource ? 'x' : null })),
        };
      },
    };
    let now = T0;
    const clock = { ...systemClock, now: () => now };
    const active = (stays: readonly Stay[]) => stays.filter(({ end }) => end > now).map(({ entry }) => entry);

    for (let round = 0; round < ROUNDS; round += 1) {
      for (let step = 0; step < 6; step += 1) {
        now += random.below(3) * HOUR + 1000;
        const { id, stays } = random.pick(lists);
        const seen = new Set<string>();
        const changes = Array.from({ length: 1 + random.below(12) }, () => {
          const size = random.pick([1, 1, 1, 1, 2, 4, 16]);
          const entry: Entry = { family: random.pick([4, 4, 6]), at: random.below(2 ** BITS / size) * size, size };
          const target = { kind: 'ip', network: networkOf(entry) } as const;
          const key = formatNetwork(target.network);
          if (seen.has(key)) return [];
          seen.add(key);
          const last = stays.findLast(
            (each) => !each.isGone && each.entry.family === entry.family && each.entry.at === entry.at && each.entry.size === size,
          );
          if (random.below(3) === 0) {
            if (last !== undefined) [last.end, last.isGone] = [Math.min(last.end, now), true];
            return [{ change: 'delete_by_value', kind: 'access_rule', action: 'block', target } as const];
          }
          const expiresAt = random.below(3) === 0 ? now + (1 + random.below(40)) * HOUR : null;
          if (last !== undefined && last.end > now) last.end = expiresAt ?? Number.POSITIVE_INFINITY;
          else {
            if (last !== undefined) last.isGone = true;
            stays.push({ entry, from: now, end: expiresAt ?? Number.POSITIVE_INFINITY, isGone: false });
          }
          return [upsert(access(target, { expiresAt }))];
        }).flat();
        const batchId = newBatchId(now);
        await land(
          changes.map((change) => ({ change, listId: id, batchId })),
          now,
        );
      }
      now += 1000;
      const found = await overlapOf(workspace.id, undefined, { store: reads, geo: GEO, clock });
      const sets = lists.map(({ stays }) => new Set(active(stays).flatMap(addressesOf)));
      const share = (place: number, set: ReadonlySet<string>) => {
        const both = [...sets[place]!].filter((each) => set.has(each));
        const v4 = both.filter((each) => each.startsWith('4')).length;
        return {
          entries: active(lists[place]!.stays).filter((entry) => addressesOf(entry).some((each) => set.has(each))).length,
          v4,
          v6: both.length - v4,
        };
      };
      const detections = lists.flatMap(({ stays, isSource }, list) =>
        isSource ? [] : stays.filter(({ isGone, from }) => !isGone && from >= now - 30 * DAY).map((stay) => ({ ...stay, list })),
      );
      assert.equal(found.detections.count, detections.length);
      for (const [place, { name, stays }] of lists.entries()) {
        const told = found.lists.find((each) => each.name === name)!;
        const where = `${name}, round ${round}`;
        const { entries, v4, v6 } = told;
        assert.deepEqual({ entries, v4, v6 }, share(place, sets[place]!), where);
        const others = new Set(sets.flatMap((set, other) => (other === place ? [] : [...set])));
        const common = share(place, others);
        assert.deepEqual(told.unique, { entries: entries - common.entries, v4: v4 - common.v4, v6: v6 - common.v6 }, where);
        const overlaps = lists.map((other, at) => ({ name: other.name, ...share(place, sets[at]!) }));
        assert.deepEqual(
          told.overlaps.toSorted(byName),
          overlaps.filter((each, at) => at !== place && each.entries > 0).sort(byName),
          where,
        );
        const key = ({ family, at, size }: Entry) => `${family} ${at} ${size}`;
        const there = new Set(active(stays).map(key));
        const gone = new Set(
          stays.filter(({ entry, end }) => end <= now && end > now - DAY && !there.has(key(entry))).map(({ entry }) => key(entry)),
        );
        assert.equal(told.gone, gone.size, where);
        assert.equal(told.added, stays.filter(({ from, end }) => end > now && from >= now - DAY).length, where);
        const leads: number[] = [];
        let after = 0;
        const of = detections.filter(({ list }) => list !== place);
        for (const { entry, from: at } of of) {
          const having = stays.filter(
            (stay) => stay.end > at && addressesOf(entry).every((each) => addressesOf(stay.entry).includes(each)),
          );
          const from = Math.min(...having.map((stay) => stay.from));
          if (from <= at) leads.push((at - from) / 1000);
          else if (having.length > 0) after += 1;
        }
        leads.sort((a, b) => a - b);
        const lead = leads.length === 0 ? null : Math.round((leads[(leads.length - 1) >> 1]! + leads[leads.length >> 1]!) / 2);
        const never = of.length - leads.length - after;
        assert.deepEqual(told.detections, { of: of.length, before: leads.length, after, never, lead }, where);
      }
    }
  });
}
