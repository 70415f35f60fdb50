/** The effect of a proposed list (SPEC D23.41): overlaps with lists and feeds, and the resulting feed sizes. */
import { type AddressSet, addressSet } from '@weir/network/address-set.ts';
import { countV4, countV6 } from '@weir/network/coalesce.ts';
import type { FeedKind } from '../../../account/feed.ts';
import type { BlockGuard } from '../../../account/guard-rails.ts';
import type { Workspace } from '../../../account/workspace.ts';
import { type Clock, instantOf, secondOf, turnOf } from '../../../clock.ts';
import type { GeoDatabase } from '../../../ports/geo.ts';
import type { StoreReads } from '../../../ports/store.ts';
import type { AccessAction } from '../../../rule.ts';
import { formatTarget } from '../../../signal/target.ts';
import { addressesIn } from '../../build/content.ts';
import { contentAsked } from '../../build/render-feed.ts';
import { ActiveRules } from '../../index/active-rules.ts';
import { type ActivePart, activeParts } from '../../index/feed-ranges.ts';
import { readSnapshot, rulesOfList, type Snapshot, withNewList } from '../../index/snapshot.ts';
import type { Trimmed } from '../../trim.ts';
import { DEFAULT_ENTRY_LIMIT } from '../../variant.ts';
import { touches } from '../explain/explain-feed.ts';
import type { Share } from '../overlap/listed.ts';
import { eachRule, type TriedRules, targetKey } from './tried-rules.ts';

export interface TrialOptions {
  readonly store: Pick<StoreReads, 'snapshot' | 'directory' | 'feeds'>;
  readonly geo: GeoDatabase;
  readonly guard: BlockGuard;
  readonly clock: Clock;
  readonly onStep: (text: string) => void;
  /** Time limit, ms; skipped lists and feeds are counted. */
  readonly limit: number;
}

export interface TrialSubject {
  readonly workspace: Workspace;
  readonly rules: TriedRules;
  readonly listId: string | null;
  readonly name: string;
  /** Tests removing these rules instead of adding them. */
  readonly isLeaving?: boolean;
}

export interface TrialOverlap extends Share {
  readonly kind: FeedKind;
  readonly name: string;
}

export interface TrialFeed {
  readonly kind: FeedKind;
  readonly name: string;
  readonly action: AccessAction;
  readonly before: number;
  readonly after: number;
  readonly limit: number;
  readonly leftOut?: Trimmed | undefined;
}

export interface Trial {
  readonly overlaps: readonly TrialOverlap[];
  readonly neverBlock: { readonly count: number; readonly first: readonly { readonly list: string; readonly value: string }[] };
  readonly feeds: readonly TrialFeed[];
  /** Compared with the list's current rules; all are additions for a new list. */
  readonly change: { readonly present: number; readonly added: number; readonly removed: number };
  /** Addresses of the list's current rules with the same action. */
  readonly before: AddressSet;
  readonly leftOut: number;
}

/** Maximum rows returned. */
const MOST_RETURNED = 50;
const MOST_NEVER_BLOCK = 20;

/** Compares, feeds first. Rejects if the store does not answer. */
export async function tryRules({ workspace, rules, listId, name, isLeaving = false }: TrialSubject, options: TrialOptions): Promise<Trial> {
  const { store, geo, guard, clock, onStep, limit } = options;
  const { action } = rules;
  const { addresses } = rules.listed;
  const begun = clock.monotonic();
  const now = instantOf(clock);
  const asOf = secondOf(now.wall);
  const lists = (await store.directory(workspace.id))?.lists ?? [];
  const composed = await store.feeds(workspace.id);
  const overlapping: TrialOverlap[] = [];
  const feeds: TrialFeed[] = [];
  const neverBlock = { count: 0, first: [] as { list: string; value: string }[] };
  let leftOut = 0;

  const read = (feedId: string | null) => readSnapshot(store, { workspaceId: workspace.id, feedId }, now);
  const old = listId === null ? undefined : await read(listId);
  const { ids: oldIds, ...change } = changeOf(old, rules, asOf, geo);

  if (listId === null) feeds.push(newFeed(name, rules, guard));
  const holding = composed.filter((feed) => feed.lists === null || (listId !== null && feed.lists.includes(listId)));
  const asFeeds = [
    ...(listId === null ? [] : [{ id: listId, called: name, isList: true, hasRules: true }]),
    { id: null, called: workspace.name, isList: false, hasRules: true },
    ...composed.map((feed) => ({ id: feed.id, called: feed.name, isList: false, hasRules: holding.includes(feed) })),
  ];
  for (const { id, called, isList, hasRules } of asFeeds) {
    if (await isOverTime()) continue;
    onStep(`feed ${called}`);
    const snapshot = await read(id);
    if (snapshot !== undefined) tryFeed(snapshot, { called, isList, hasRules });
  }
  for (const list of lists) {
    if (await isOverTime()) continue;
    onStep(`list ${list.name}`);
    const snapshot = list.id === listId ? old : await read(list.id);
    if (snapshot === undefined) continue;
    const [{ active }] = activeParts(snapshot.parts, { asOf, family: 'both', guarded: guard.protected }, geo) as [ActivePart];
    if (list.id !== listId) tell('list', list.name, rulesOf(active, 'block'));
    if (list.id !== listId || action === 'block') neverBlocked(active, list.name);
    // Subtraction works both ways: others' never-block rules on this feed, and this list's on theirs.
    if (list.id !== listId && action === 'allow' && list.subtractAllow === 'workspace')
      tryFeed(snapshot, { called: list.name, isList: true, hasRules: false });
  }
  return {
    overlaps: overlapping.sort((a, b) => b.entries - a.entries || b.v4 - a.v4 || b.v6 - a.v6).slice(0, MOST_RETURNED),
    neverBlock,
    feeds,
    change,
    before: old === undefined ? addressSet([]) : rulesOf(new ActiveRules(old.parts[0]!.rules, asOf, geo, 'both'), action),
    leftOut,
  };

  async function isOverTime(): Promise<boolean> {
    await turnOf(clock);
    const over = clock.monotonic() > begun + limit;
    if (over) leftOut += 1;
    return over;
  }

  function tell(kind: FeedKind, called: string, set: AddressSet): void {
    const share = rules.listed.shareIn(set);
    if (share.entries > 0) overlapping.push({ kind, name: called, ...share });
  }

  function tryFeed(snapshot: Snapshot, { called, isList, hasRules }: { called: string; isList: boolean; hasRules: boolean }): void {
    const { kind, profile } = snapshot.head;
    const isExcepted = action === 'allow' && profile.subtractAllow === 'workspace';
    const cutsOut = action === 'allow' && ((hasRules && profile.subtractAllow === 'on') || isExcepted);
    const actions: readonly AccessAction[] = [...(hasRules ? [action] : []), ...(cutsOut ? (['block'] as const) : [])];
    const contentOf = (of: AccessAction, from = snapshot) => contentAsked(from, { action: of }, asOf, geo, () => guard);
    if (!isList) tell(kind, called, addressesIn(contentOf('block').content));
    if (actions.length === 0) return;
    const before = actions.map((of) => contentOf(of).facts.entryCount);
    const complete = hasRules && listId === null ? withNewList(snapshot, asOf) : snapshot;
    const tables = rulesOfList(complete, listId);
    for (const table of [tables.v4, tables.v6, tables.geo]) table.remove(oldIds, 0);
    if (hasRules && !isLeaving) rules.addTo(tables, action);
    if (isExcepted && !isLeaving) rules.addTo(tables, 'exception');
    for (const [i, of] of actions.entries()) {
      const { entryCount: after, entryLimit: limit, trimmed } = contentOf(of, complete).facts;
      feeds.push({ kind, name: called, action: of, before: before[i]!, after, limit, leftOut: trimmed?.leftOut });
    }
  }

  function neverBlocked(active: ActiveRules, list: string): void {
    eachRule(active, 'allow', (target) => {
      if (!touches(target, addresses, geo)) return;
      neverBlock.count += 1;
      if (neverBlock.first.length < MOST_NEVER_BLOCK) neverBlock.first.push({ list, value: formatTarget(target) });
    });
  }

  function rulesOf(active: ActiveRules, of: AccessAction): AddressSet {
    const set = addressSet([]);
    active.collectDirect(of, () => set);
    active.eachTarget(of, (target) => active.addRanges(set, target));
    return set;
  }
}

/** Numbers of unchanged, added and removed rules, and the ids. */
function changeOf(old: Snapshot | undefined, rules: TriedRules, asOf: number, geo: GeoDatabase) {
  const { v4, v6, countries, asns } = rules.counts;
  const ids = new Set<number>();
  let stay = 0;
  if (old !== undefined) {
    const active = new ActiveRules(old.parts[0]!.rules, asOf, geo, 'both');
    const seen = new Set<number | string>();
    eachRule(active, rules.action, (target, id) => {
      ids.add(id);
      const key = targetKey(target);
      if (rules.has(target) && !seen.has(key)) {
        seen.add(key);
        stay += 1;
      }
    });
  }
  return { ids, present: ids.size, added: v4 + v6 + countries + asns - stay, removed: ids.size - stay };
}

function newFeed(name: string, { action, listed }: TriedRules, guard: BlockGuard): TrialFeed {
  const { v4, v6 } = listed.addresses;
  const cut = action === 'block' ? guard.protected : undefined;
  const after = cut === undefined ? countV4(v4) + countV6(v6) : countV4(v4.without(cut.v4)) + countV6(v6.without(cut.v6));
  return { kind: 'list', name, action, before: 0, after, limit: DEFAULT_ENTRY_LIMIT };
}
