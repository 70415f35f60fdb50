/** What every store driver must do for snapshots that follow: tell what has changed, and nothing else (SPEC D5.22). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { NO_SETTINGS } from '../../src/account/list.ts';
import { filledLevels } from '../../src/feed/levels.ts';
import { EXCEPTIONS_KEY, type KnownRules, type ListSink } from '../../src/ports/snapshot.ts';
import type { RuleChange } from '../../src/rule.ts';
import { newBatchId } from '../../src/signal/message/signal-id.ts';
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
/** Landings: entries of lists 0 to 2, the undoing of one of the landings before, or another expiry for all rules of a list. */
const step = fc.oneof(
  { weight: 5, arbitrary: fc.array(fc.record({ change, list: fc.nat(2) }), { minLength: 1, maxLength: 4 }) },
  fc.record({ undo: fc.nat(20) }),
  fc.record({ set: fc.nat(2), expiresAt: fc.constantFrom(null, T0 + 5000, T0 + 20_000) }),
);

/** Rules by list, as the follower of a feed has them. */
interface Followed {
  change: number;
  readonly lists: Map<string, ReturnType<typeof collectingSink>['rows']>;
}

/** Takes what a read tells into what is known. */
function followingSink(lists: Followed['lists']) {
  const whole: string[] = [];
  const { rows, sink: collecting } = collectingSink();
  let current = '';
  const flush = () => {
    const known = lists.get(current) ?? [];
    const added = rows.splice(0);
    lists.set(current, [...known, ...added]);
  };
  const sink: ListSink = {
    ...collecting,
    list(key, isComplete) {
      flush();
      current = key;
      if (isComplete && !whole.includes(key)) {
        whole.push(key);
        lists.set(key, []);
      }
    },
    removed(id) {
      flush();
      lists.set(
        current,
        lists.get(current)!.filter((row) => row.id !== id),
      );
    },
  };
  return { whole, sink, flush };
}

const NOTHING: KnownRules = { change: 0, lists: new Set() };
const ignoringSink = (): ListSink => ({ ...collectingSink().sink, list: () => undefined, removed: () => undefined });

export function followConformance(driver: StoreDriver): void {
  const { name } = driver;

  test(`D5.22 store ${name}: property: rules that take in what has changed are those that a fresh read has`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    const other = await store.createList(workspace.id, 'other', NO_SETTINGS);
    const third = await store.createList(workspace.id, 'third', { ...NO_SETTINGS, confidence: 'low' });
    const feed = await store.createFeed(workspace.id, { name: 'both', lists: [other.id, third.id], ...NO_SETTINGS });
    const empty = await store.createList(workspace.id, 'empty', NO_SETTINGS);
    const feeds = [null, other.id, feed.id, empty.id];
    type Rows = ReturnType<typeof collectingSink>['rows'];
    const shown = (rows: Rows) => rows.map((row) => JSON.stringify(row)).sort();
    let followedSteps = 0;
    let now = T0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), fc.boolean(), fc.boolean(), async (steps, together, isNewFeed) => {
        // Feeds that share what is known, as those of a workspace do, or each by itself.
        const shared: Followed = { change: 0, lists: new Map() };
        const known = new Map(
          feeds.map((feedId): [string | null, Followed] => [feedId, together ? shared : { change: 0, lists: new Map() }]),
        );
        await land([{ batchId: newBatchId(now), change: upsert(access(ip('198.51.100.1'))) }], now);
        async function look(feedId: string | null) {
          const followed = known.get(feedId)!;
          const { whole, sink, flush } = followingSink(followed.lists);
          const before = { change: followed.change, lists: new Set(followed.lists.keys()), isNewFeed };
          const head = await store.follow(workspace.id, feedId, now, before, sink);
          assert.ok(head !== undefined && head !== 'too_far');
          flush();
          followed.lists.delete('');
          followed.change = head.change;
          const isNew = ({ key }: { key: string }) => !before.lists.has(key);
          assert.deepEqual(
            whole.sort(),
            head.lists
              .filter(isNew)
              .map(({ key }) => key)
              .sort(),
            'what is known is not read again',
          );
          const { rows: expected, sink: fresh } = collectingSink();
          const freshHead = (await store.snapshot(workspace.id, feedId, now, fresh))!;
          const rows = head.lists.flatMap(({ key, levels }) =>
            followed.lists.get(key)!.map((row) => ({ ...row, levels: filledLevels(levels)[row.levels] })),
          );
          const active = rows.filter(({ expires }) => expires === 0 || expires * 1000 > now);
          assert.deepEqual(shown(active), shown(expected));
          assert.deepEqual({ ...head, readAt: 0 }, { ...freshHead, readAt: 0 });
          followedSteps += 1;
        }
        for (const feedId of feeds) await look(feedId);
        const batches: string[] = [];
        const lists = [null, other.id, third.id];
        for (const each of steps) {
          now += 1000;
          const batchId = newBatchId(now);
          if ('undo' in each) {
            const undone = batches[each.undo % Math.max(1, batches.length)] ?? batchId;
            await land([{ batchId, change: { change: 'undo', batchId: undone } }], now);
          } else if ('set' in each) {
            const listId = lists[each.set] ?? null;
            const found = await Array.fromAsync(
              store.rules(workspace.id, { kind: 'access_rule', now, ...(listId !== null && { listId }) }),
            );
            const ids = found.map(({ id }) => id);
            await land([{ batchId, listId, change: { change: 'set_rules', kind: 'access_rule', ids, expiresAt: each.expiresAt } }], now);
          } else {
            await land(
              each.map((entry) => ({ batchId, change: entry.change, listId: lists[entry.list] })),
              now,
            );
          }
          batches.push(batchId);
          // Some feeds are looked at less often.
          for (const feedId of feeds.slice(batches.length % 2)) await look(feedId);
        }
      }),
      { numRuns: name === 'sqlite' ? 40 : 20, seed: 11 },
    );
    assert.ok(followedSteps > 100);
  });

  test(`D5.22 store ${name}: too far: changes that are forgotten; read whole: other lists, never-block rules of the workspace`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    const batch = (now: number) => land([{ batchId: newBatchId(now), change: upsert(access(ip('192.0.2.1'))) }], now);
    const follow = (known: KnownRules, feedId: string | null = null, sink = ignoringSink()) =>
      store.follow(workspace.id, feedId, T0, known, sink);
    const mark = async (): Promise<KnownRules> => {
      const { change, lists } = (await store.snapshot(workspace.id, null, T0, collectingSink().sink))!;
      return { change, lists: new Set(lists.map(({ key }) => key)) };
    };
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
    assert.ok(isFollowed(await follow({ ...first, lists: new Set() })), 'nothing is known');
    const later = await mark();
    await store.createList(workspace.id, 'new', NO_SETTINGS);
    const told: string[] = [];
    const telling = { ...ignoringSink(), list: (key: string, isComplete: boolean) => void (isComplete && told.push(key)) };
    assert.ok(isFollowed(await follow(later, null, telling)));
    assert.equal(told.splice(0).length, 1, 'another list');
    assert.equal(await store.follow('no such', null, T0, later, ignoringSink()), undefined);
    const list = await store.createList(workspace.id, 'subtracting', { ...NO_SETTINGS, subtractAllow: 'workspace' });
    assert.ok(isFollowed(await follow(await mark(), list.id, telling)));
    assert.deepEqual(told.splice(0), [EXCEPTIONS_KEY]);
    assert.ok(isFollowed(await follow({ ...(await mark()), isNewFeed: true }, list.id, telling)));
    assert.deepEqual(told, [EXCEPTIONS_KEY], 'also of a feed that is new');
    assert.ok(isFollowed(await follow(NOTHING, list.id, telling)));
  });
}
