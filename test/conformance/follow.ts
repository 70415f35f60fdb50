/** What every store driver must do for snapshots that follow: tell what has changed, and nothing else (SPEC D5.22). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { NO_SETTINGS } from '../../src/account/list.ts';
import type { SnapshotMark } from '../../src/ports/rule-store.ts';
import type { RuleChange } from '../../src/rule.ts';
import { newBatchId } from '../../src/signal/signal-id.ts';
import { access, collectingSink, fixture, ip, type StoreDriver, T0, upsert } from './store.ts';

const TARGETS = [
  ip('192.0.2.1'),
  ip('192.0.2.0/24'),
  ip('2001:db8::1'),
  { kind: 'country', country: 'NL' },
  { kind: 'asn', asn: 64_500 },
] as const;
const action = fc.constantFrom('block', 'allow');
const target = fc.constantFrom(...TARGETS);
const change: fc.Arbitrary<RuleChange> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .record({
        ruleRef: fc.option(fc.constantFrom('a', 'b')),
        target,
        action,
        expiresAt: fc.option(fc.constantFrom(T0 + 3000, T0 + 9000)),
      })
      .map(({ target: about, ...rule }) => upsert(access(about, rule))),
  },
  fc.constantFrom('a', 'b').map((ruleRef) => ({ change: 'delete', kind: 'access_rule', ruleRef }) as const),
  {
    weight: 2,
    arbitrary: fc.record({ target, action }).map((given) => ({ change: 'delete_by_value', kind: 'access_rule', ...given }) as const),
  },
);
/** Landings: entries of lists 0 to 2, or the undoing of one of the landings before. */
const step = fc.oneof(
  { weight: 5, arbitrary: fc.array(fc.record({ change, list: fc.nat(2) }), { minLength: 1, maxLength: 4 }) },
  fc.record({ undo: fc.nat(20) }),
);

interface Followed {
  mark: SnapshotMark;
  rows: Map<number, string>;
}

export function followConformance(driver: StoreDriver): void {
  const { name } = driver;

  test(`D5.22 store ${name}: property: a snapshot that takes in what has changed has the rules that a fresh one has`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    const other = await store.createList(workspace.id, 'other', null, NO_SETTINGS);
    const third = await store.createList(workspace.id, 'third', null, { ...NO_SETTINGS, confidence: 'low' });
    const feed = await store.createFeed(workspace.id, { name: 'both', description: null, lists: [other.id, third.id], ...NO_SETTINGS });
    const feeds = [null, other.id, feed.id];
    const rowsOf = (rows: ReturnType<typeof collectingSink>['rows']) => new Map(rows.map(({ id, ...row }) => [id, JSON.stringify(row)]));
    const fresh = async (feedId: string | null, now: number) => {
      const { rows, sink } = collectingSink();
      return { head: (await store.snapshot(workspace.id, feedId, now, sink))!, rows: rowsOf(rows) };
    };
    let followedSteps = 0;
    let now = T0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
        const known = new Map<string | null, Followed>();
        await land([{ batchId: newBatchId(now), change: upsert(access(ip('198.51.100.1'))) }], now);
        for (const feedId of feeds) {
          const { head, rows } = await fresh(feedId, now);
          known.set(feedId, { mark: head.mark, rows });
        }
        const batches: string[] = [];
        for (const each of steps) {
          now += 1000;
          const batchId = newBatchId(now);
          if ('undo' in each) {
            const undone = batches[each.undo % Math.max(1, batches.length)] ?? batchId;
            await land([{ batchId, change: { change: 'undo', batchId: undone } }], now);
          } else {
            const lists = [null, other.id, third.id];
            await land(
              each.map((entry) => ({ batchId, change: entry.change, listId: lists[entry.list] })),
              now,
            );
          }
          batches.push(batchId);
          // Some feeds are looked at less often.
          for (const feedId of feeds.slice(batches.length % 2)) {
            const followed = known.get(feedId)!;
            const { rows: added, sink } = collectingSink();
            const gone: number[] = [];
            const head = await store.follow(workspace.id, feedId, now, followed.mark, { ...sink, gone: (id) => void gone.push(id) });
            assert.ok(head !== undefined && head !== 'too_far');
            const expected = await fresh(feedId, now);
            for (const id of gone) followed.rows.delete(id);
            for (const [id, row] of rowsOf(added)) followed.rows.set(id, row);
            for (const [id, row] of followed.rows) {
              const { expires } = JSON.parse(row) as { expires: number };
              if (expires !== 0 && expires * 1000 <= now) followed.rows.delete(id);
            }
            assert.deepEqual(new Map([...followed.rows].sort()), new Map([...expected.rows].sort()));
            assert.deepEqual({ ...head, takenAt: 0 }, { ...expected.head, takenAt: 0 });
            known.set(feedId, { mark: head.mark, rows: followed.rows });
            followedSteps += 1;
          }
        }
      }),
      { numRuns: name === 'sqlite' ? 40 : 20, seed: 11 },
    );
    assert.ok(followedSteps > 100);
  });

  test(`D5.22 store ${name}: too far: other lists, changes that are forgotten, too many of them, never-block rules of the workspace`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    const batch = (now: number) => land([{ batchId: newBatchId(now), change: upsert(access(ip('192.0.2.1'))) }], now);
    const follow = (since: SnapshotMark, feedId: string | null = null) =>
      store.follow(workspace.id, feedId, T0, since, { ...collectingSink().sink, gone: () => undefined });
    const mark = async () => (await store.snapshot(workspace.id, null, T0, collectingSink().sink))!.mark;
    const isFollowed = (found: Awaited<ReturnType<typeof follow>>) => found !== undefined && found !== 'too_far';

    const now = await store.ping();
    const empty = await mark();
    await batch(now);
    assert.equal(await follow(empty), 'too_far', 'nothing was known');
    const first = await mark();
    assert.ok(isFollowed(await follow(first)));
    await batch(now);
    assert.ok(isFollowed(await follow(first)));
    await store.sweep({ now, rulesExpiredBefore: now + 1, auditBefore: 0, limit: 1000 });
    assert.equal(await follow(first), 'too_far', 'forgotten');
    const later = await mark();
    await store.createList(workspace.id, 'new', null, NO_SETTINGS);
    assert.equal(await follow(later), 'too_far', 'another list');
    assert.equal(await store.follow('no such', null, T0, later, { ...collectingSink().sink, gone: () => undefined }), undefined);
    const list = await store.createList(workspace.id, 'subtracting', null, { ...NO_SETTINGS, subtractAllow: 'workspace' });
    const { mark: own } = (await store.snapshot(workspace.id, list.id, T0, collectingSink().sink))!;
    assert.equal(await follow(own, list.id), 'too_far', 'exceptions');
  });
}
