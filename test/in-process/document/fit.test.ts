/** Feeds that leave out what they have no room for, over real landings in the embedded store, against plain sets (SPEC D29.5 to D29.7). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blockGuards, NO_GUARD_RAILS } from '../../../src/account/guard-rails.ts';
import { NO_SETTINGS } from '../../../src/account/list.ts';
import { systemClock } from '../../../src/clock.ts';
import { decisionBuilder } from '../../../src/decisions/build/decision-builder.ts';
import { documentBuilder } from '../../../src/feed/build/document-builder.ts';
import { COMES_BACK, fittingStep } from '../../../src/feed/build/trim.ts';
import type { BuiltDocument } from '../../../src/feed/builder.ts';
import { DECISIONS } from '../../../src/feed/document.ts';
import { type Trimmed, trimmedHeader } from '../../../src/feed/trim.ts';
import type { Variant } from '../../../src/feed/variant.ts';
import type { GeoDatabase } from '../../../src/ports/geo.ts';
import type { LandingItem } from '../../../src/ports/landing.ts';
import { newBatchId } from '../../../src/signal/message/signal-id.ts';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { access, upsert } from '../../conformance/store.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { seededRandom } from '../../support/random.ts';
import { slowCoalesce } from '../../support/slow-networks.ts';

/** Steps of growth, and the seed: a long run gives others. */
const STEPS = Number(process.env.TEST_FIT_STEPS ?? 56);
const SEED = Number(process.env.TEST_FIT_SEED ?? 29);
const CAP = 200;
const SPACE = 2048;
const FIRST = 0x0a00_0000;
const PLAIN: Variant = { document: 'feed', format: 'plain', family: 'both', action: 'block' };
const COMMENTED: Variant = { ...PLAIN, format: 'commented' };

const networksOf = (addresses: Iterable<number>) =>
  slowCoalesce(
    4,
    [...addresses].map((each) => ({ start: BigInt(FIRST + each), end: BigInt(FIRST + each) })),
  );

test('D29.5 a step fits where the one before would not, and comes back where there is room', () => {
  const random = seededRandom(SEED);
  for (let round = 0; round < 400; round += 1) {
    const counts = Array.from({ length: 1 + random.below(40) }, () => random.below(3000)).sort((a, b) => b - a);
    const [last, limit] = [counts.length - 1, 1 + random.below(3000)];
    const before = random.below(counts.length);
    let asked = 0;
    const step = fittingStep(before, last, limit, (at) => {
      asked += 1;
      return counts[at]!;
    });
    assert.ok(asked <= 4 + 4 * Math.log2(counts.length + 1), `${asked} of ${counts.length}`);
    if (step === undefined) {
      const first = counts.findIndex((count) => count <= limit);
      assert.ok(first < 0 || counts[first] === 0 || counts[before] === 0);
      continue;
    }
    assert.ok(counts[step]! <= limit && (step === 0 || counts[step]! > 0 || step === before));
    const isFresh = counts[before] === 0;
    if (step > (isFresh ? 0 : before)) assert.ok(counts[step - 1]! > limit);
    else if (step > 0) assert.ok(counts[step - 1]! > limit * COMES_BACK);
    assert.equal(
      fittingStep(step, last, limit, (at) => counts[at]!),
      step,
      'what was chosen stays',
    );
  }
});

const REMOVABLE = ['a', 'b', 'c', 'd'];

/** What is left out: lists by bits, or by how much the quorum was raised. */
function leftOf(leftOut: Trimmed | undefined): number {
  if (leftOut === undefined || leftOut.fit === 'best') return 0;
  if (leftOut.fit === 'sources') return leftOut.minSources - 1;
  return leftOut.lists.reduce((bits, { name }) => bits | (1 << REMOVABLE.indexOf(name)), 0);
}

for (const fit of ['lists', 'sources'] as const) {
  test(`D29.5 D29.6 D29.7 D57.7 fit ${fit}: whatever grows, the feed is never over its cap, own detections are in, what is left out is told and does not flap; bouncers of single addresses likewise`, async (t) => {
    const store = await openSqliteStore(temporaryFolder(t));
    t.after(() => store.close());
    const workspace = await store.createWorkspace((await store.createOrganization('acme', 'active')).id, 'main');
    let now = await store.ping();
    const clock = { now: () => now, monotonic: () => now, after: systemClock.after };
    const names = ['soc', 'a', 'b', 'c', 'd'];
    const ids: string[] = [];
    for (const name of names) ids.push((await store.createList(workspace.id, name, NO_SETTINGS)).id);
    // Own detections stand last: their place does not count.
    const order = [1, 2, 3, 4, 0];
    const lists = order.map((list) => ids[list]!);
    const feed = await store.createFeed(workspace.id, { ...NO_SETTINGS, name: 'f', maxEntries: CAP, lists, fit, always: [ids[0]!] });
    const singles = await store.createFeed(workspace.id, {
      ...{ ...NO_SETTINGS, name: 's', maxEntries: CAP, lists, fit, always: [ids[0]!], singleAddresses: 4 },
    });
    const nowhere = { v4: new Uint32Array(), v6: new Uint32Array() };
    const geo = (): GeoDatabase => ({ version: '1', ranges: () => nowhere, hasAsn: () => true });
    const { contents: versioned } = decisionBuilder({ store, recordLog: store.recordLog, clock });
    const parts = { versioned, geo, guard: blockGuards({ ...NO_GUARD_RAILS, self: [] }), phaseOf: () => 'request' as const, clock };
    const process = () => documentBuilder({ store, recordTrim: store.recordTrim, ...parts });
    const [one, other] = [process(), process()];

    const random = seededRandom(SEED);
    const has = names.map(() => new Set<number>());
    let position: number | null = null;
    let leftBefore = 0;
    let leftOfSingles = 0;
    let [changes, returned] = [0, 0];
    /** What the feed has with so much left out. */
    const contentAt = (left: number): number[] => {
      const all = Array.from({ length: SPACE }, (_, each) => each);
      const removed = fit === 'lists' ? order.slice(0, 4).filter((_, at) => left & (1 << at)) : [];
      const count = (each: number) => has.filter((set, list) => list > 0 && !removed.includes(list) && set.has(each)).length;
      return all.filter((each) => has[0]!.has(each) || count(each) >= (fit === 'sources' ? 1 + left : 1));
    };
    const all = Array.from({ length: fit === 'lists' ? 16 : 6 }, (_, left) => left);
    /** Each list left out had no space behind the lists before it. */
    const checkLists = (left: number, before: number, count: (left: number) => number, step: number) => {
      for (let at = 0; at < 4; at += 1) {
        if (!(left & (1 << at))) continue;
        const most = before & (1 << at) ? CAP * COMES_BACK : CAP;
        const isOver = [left & ~(1 << at), (left | (15 << at)) & 15 & ~(1 << at)].some((each) => count(each) > most);
        assert.ok(isOver, `step ${step}: ${REMOVABLE[at]} is left out of ${left}, after ${before}`);
      }
    };
    for (let step = 0; step < STEPS; step += 1) {
      now += 1000;
      const list = random.pick([0, 1, 1, 2, 2, 3, 3, 4]);
      // It grows for a while, by little or by much, and shrinks again.
      const isGrowing = random.below(6) > (step % 16 < 11 ? 0 : 4);
      const count = list === 0 ? 3 : random.pick([5, 20, 60, 90]);
      const changed = isGrowing
        ? Array.from({ length: count }, () => (random.below(2) === 0 ? random.below(SPACE) : random.pick([...has[1]!, 7])))
        : [...has[list]!].slice(0, 2 * count);
      for (const each of changed)
        if (isGrowing) has[list]!.add(each);
        else has[list]!.delete(each);
      const items = changed.map((each, i): LandingItem => {
        const record = { offset: (position ?? 0) + i, timestamp: now, key: workspace.id, headers: {}, value: '' };
        const target = { kind: 'ip', network: { family: 4, address: FIRST + each, prefix: 32 } } as const;
        const change = isGrowing
          ? upsert(access(target))
          : ({ change: 'delete_by_value', kind: 'access_rule', action: 'block', target } as const);
        return { record, workspaceId: workspace.id, listId: ids[list]!, receivedAt: now, batchId: newBatchId(now), keyId: null, change };
      });
      const to: number = (position ?? 0) + items.length;
      if (items.length > 0) await store.apply({ streamId: 's', partition: 0, from: position, to, items, poison: [], now });
      if (items.length > 0) position = to;

      const request = {
        workspaceId: workspace.id,
        feedId: feed.id,
        variant: PLAIN,
        sequence: 2 * step + 1,
        offline: false,
        before: undefined,
      };
      // Of single addresses each counts by itself.
      const told = await one.build({ ...request, feedId: singles.id, variant: DECISIONS });
      if (told.kind === 'too_large') {
        for (const at of all) assert.ok(contentAt(at).length > CAP || contentAt(at).length === 0, `step ${step}`);
      } else {
        const { entryCount, trimmed } = (told as BuiltDocument).facts;
        const left = leftOf(trimmed!.leftOut);
        assert.deepEqual([entryCount, entryCount <= CAP], [contentAt(left).length, true], `step ${step}, ${left} left out of decisions`);
        if (fit === 'lists') checkLists(left, leftOfSingles, (each) => contentAt(each).length, step);
        else if (left < leftOfSingles && contentAt(leftOfSingles).length > 0) assert.ok(entryCount <= CAP * COMES_BACK);
        else if (left > leftOfSingles) assert.ok(contentAt(left - 1).length > CAP);
        leftOfSingles = left;
      }
      const result = await one.build(request);
      const own = networksOf(has[0]!).length;
      assert.ok(own <= CAP);
      const whole = networksOf(contentAt(0)).length;
      if (result.kind === 'too_large') {
        // Nothing helps but leaving out everything.
        for (const at of all) assert.ok(networksOf(contentAt(at)).length > CAP || contentAt(at).length === 0, `step ${step}`);
        assert.deepEqual([contentAt(all.at(-1)!), result.facts.entryCount], [[], whole]);
        continue;
      }
      assert.equal(result.kind, 'document', `step ${step}`);
      const { bytes, facts } = result as BuiltDocument;
      const { entryCount, trimmed } = facts;
      const text = Buffer.from(bytes).toString();
      assert.ok(entryCount <= CAP);
      const { leftOut } = trimmed!;
      const left = leftOf(leftOut);
      assert.equal(
        text,
        networksOf(contentAt(left))
          .map((each) => `${each}\n`)
          .join(''),
        `step ${step}, ${left} left out`,
      );
      // What is left out has to be, by what was left out before.
      const countAt = (each: number) => networksOf(contentAt(each)).length;
      const wasEmpty = contentAt(leftBefore).length === 0;
      if (fit === 'lists') checkLists(left, leftBefore, countAt, step);
      else if (left > leftBefore) assert.ok(countAt(left - 1) > CAP, `step ${step}: ${leftBefore} to ${left}`);
      else if (left < leftBefore && !wasEmpty) assert.ok(countAt(left) <= CAP * COMES_BACK, `step ${step}: ${leftBefore} to ${left}`);
      else if (left > 0 && !wasEmpty) assert.ok(countAt(left - 1) > CAP * COMES_BACK);
      if (left !== leftBefore) changes += 1;
      leftBefore = left;
      if (leftOut?.fit === 'lists') {
        const told = order
          .slice(0, 4)
          .filter((_, at) => left & (1 << at))
          .map((each) => ({ name: names[each]!, entries: networksOf(has[each]!).length }));
        assert.deepEqual(leftOut.lists, told);
        assert.match(trimmedHeader(leftOut), new RegExp(`(^|, )${told.at(-1)!.name};entries=${told.at(-1)!.entries}$`));
        returned += told.length < 4 - REMOVABLE.indexOf(told[0]!.name) ? 1 : 0;
      } else if (leftOut?.fit === 'sources') {
        const kept = new Set(contentAt(left));
        assert.deepEqual([leftOut.asked, leftOut.entries], [1, networksOf(contentAt(0).filter((each) => !kept.has(each))).length]);
      }
      // Another process, and one that has just started, have the same.
      const again = { ...request, sequence: 2 * step + 2 };
      for (const builder of [other, ...(step % 8 === 0 ? [process()] : [])]) {
        const same = (await builder.build(again)) as BuiltDocument;
        assert.deepEqual([same.hash, same.facts.trimmed], [(result as BuiltDocument).hash, trimmed], `step ${step}`);
      }
      if (left > 0 && step % 4 === 0) {
        const commented = (await other.build({ ...again, variant: COMMENTED })) as BuiltDocument;
        assert.match(
          Buffer.from(commented.bytes).toString(),
          fit === 'lists' ? /\n# left out: the lists? [abcd] \(/ : /\n# left out: what fewer than/,
        );
      }
    }
    assert.ok(changes > 1, `${changes} changes`);
    assert.ok(fit === 'sources' || returned > 0, 'D57.7 a smaller list behind one that does not fit is in');
  });
}
