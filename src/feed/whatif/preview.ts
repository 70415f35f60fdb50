/** Previews the effect of signals on the feeds of their workspace (SPEC D10.14): the stored rules with and without the changes. */

import type { AddressSet } from '@weir/network/address-set.ts';
import type { BlockGuard, GuardRails } from '../../account/guard-rails.ts';
import type { AccessList } from '../../account/list.ts';
import { type Clock, instantOf, secondOf, turnOf } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { NamedRule } from '../../ports/stored/rule-store.ts';
import { ACCESS_ACTIONS, type AccessAction, type AccessRule, type RuleRole } from '../../rule.ts';
import { oneByOne } from '../../serial.ts';
import { namedBy } from '../../signal/named-rules.ts';
import { formatTarget } from '../../signal/target.ts';
import { type AccessChange, accessChangeOf, blockedPlace } from '../access-change.ts';
import { contentAsked } from '../build/render-feed.ts';
import { type FeedPreview, type FeedPreviewer, MOST_PREVIEWED, PREVIEW_LIMIT, type PreviewRequest, type Widened } from '../builder.ts';
import { geoCost } from '../geo-cost.ts';
import { addRule } from '../index/rule-table.ts';
import { readSnapshot, rulesOfList, type Snapshot } from '../index/snapshot.ts';
import { filledLevels, levelCode } from '../levels.ts';
import { isBare, storedVariant } from '../variant.ts';
import { Widening } from '../widening.ts';

interface PreviewOptions {
  readonly store: Pick<StoreReads, 'snapshot' | 'findNamed' | 'directory' | 'feeds' | 'namedRules' | 'freezes'>;
  readonly geo: () => GeoDatabase;
  readonly guard: (own: GuardRails) => BlockGuard;
  readonly clock: Clock;
}

interface Touched {
  readonly list: AccessList;
  readonly overlay: Overlay;
}

/** A list's changes within one feed. `hasRules`: the feed contains the list; else it only subtracts its never-block rules. */
interface Touching extends Touched {
  readonly hasRules: boolean;
}

export function feedPreviewer({ store, geo, guard, clock }: PreviewOptions): FeedPreviewer {
  const inTurn = oneByOne();

  async function preview({ workspaceId, listId, messages, listOnly }: PreviewRequest, begun: number) {
    const changes: AccessChange[] = [];
    const concerned = new Map<string | null, Touching[]>();
    const pause = async () => {
      await turnOf(clock);
      if (clock.monotonic() > begun + PREVIEW_LIMIT) throw new WeirError('TIMEOUT', 'counting took too long');
    };
    for (const [of, own] of Map.groupBy(messages, ({ headers }) => headers.list_id ?? listId)) {
      await pause();
      const changed = own.map(accessChangeOf).filter((change) => change !== undefined);
      const touched = await touchedList(workspaceId, of, changed);
      changes.push(...changed);
      for (const [feedId, hasRules] of changed.length === 0
        ? []
        : listOnly
          ? [[touched.list.id, true] as const]
          : await concernedFeeds(touched))
        concerned.set(feedId, [...(concerned.get(feedId) ?? []), { ...touched, hasRules }]);
    }
    const feeds: FeedPreview[] = [];
    for (const [feedId, touching] of [...concerned].slice(0, MOST_PREVIEWED)) {
      await pause();
      feeds.push(...(await previewFeed(workspaceId, feedId, touching)));
    }
    const frozen = new Map((await store.freezes(workspaceId)).map(({ feedId, since }) => [feedId, since]));
    const costs = changes.map(blockedPlace).flatMap((place) => (place === undefined ? [] : [geoCost(place, geo())]));
    const costliest = costs.sort((a, b) => b.networks - a.networks)[0];
    return {
      feeds: feeds.map((feed) => ({ ...feed, frozenSince: frozen.get(feed.feedId) })),
      leftOut: Math.max(0, concerned.size - MOST_PREVIEWED),
      costliest,
    };
  }

  async function touchedList(workspaceId: string, listId: string, changes: readonly AccessChange[]): Promise<Touched> {
    const [list] = (await store.findNamed(workspaceId, listId))?.lists ?? [];
    if (list === undefined) throw new WeirError('NOT_FOUND', 'the list was deleted');
    const { refs, targets } = namesOf(changes);
    return { list, overlay: overlayOf(await store.namedRules(workspaceId, listId, refs, targets), changes) };
  }

  /** The list's own feed, the workspace's, composed feeds of the list, and feeds subtracting other lists' never-block rules. */
  async function concernedFeeds({ list: { workspaceId, id }, overlay }: Touched): Promise<(readonly [string | null, boolean])[]> {
    const composed = await store.feeds(workspaceId);
    const holding = composed.filter(({ lists }) => lists === null || lists.includes(id));
    const excepting = touchedActions(overlay).includes('allow')
      ? [...((await store.directory(workspaceId))?.lists ?? []), ...composed]
      : [];
    const others = excepting.filter(
      (each) => each.subtractAllow === 'workspace' && each.id !== id && !holding.some((feed) => feed.id === each.id),
    );
    return [
      ...[id, null, ...holding.map((feed) => feed.id)].map((feedId) => [feedId, true] as const),
      ...others.map((feed) => [feed.id, false] as const),
    ];
  }

  async function previewFeed(workspaceId: string, feedId: string | null, touching: readonly Touching[]): Promise<FeedPreview[]> {
    const now = instantOf(clock);
    const snapshot = await readSnapshot(store, { workspaceId, feedId }, now);
    if (snapshot === undefined) return [];
    const { kind, profile } = snapshot.head;
    const touched = touching.flatMap(({ overlay }) => touchedActions(overlay));
    const hasRules = touching.some((each) => each.hasRules);
    const cutsOut = (profile.subtractAllow ?? 'off') !== 'off';
    const actions = ACCESS_ACTIONS.filter((action) =>
      action === 'block' ? touched.includes('block') || cutsOut || touched.length === 0 : hasRules && touched.includes('allow'),
    );
    const measure = () => actions.map((action) => contentAsked(snapshot, { action }, secondOf(now.wall), geo(), guard).facts);
    const before = measure();
    const widened = widenedIn(snapshot, touching, guard(snapshot.head.guardRails).protected);
    for (const each of touching) applyOverlay(snapshot, each);
    const after = measure();
    return actions.map((action, i) => ({
      kind,
      feedId,
      name: profile.name,
      action,
      entriesBefore: before[i].entryCount,
      entriesAfter: after[i].entryCount,
      entryLimit: after[i].entryLimit,
      leftOutBefore: before[i].trimmed?.leftOut,
      leftOutAfter: after[i].trimmed?.leftOut,
      ...(action === 'block' && widened.hosts + widened.asSent > 0 && { widened }),
    }));
  }

  return {
    preview(request) {
      const begun = clock.monotonic();
      return inTurn(() => preview(request, begun));
    },
  };
}

/** Counts the added hosts of lists that widen them. */
function widenedIn({ head, parts }: Snapshot, touching: readonly Touching[], guarded: AddressSet | undefined): Widened {
  const count = { hosts: 0, asSent: 0 };
  if (isBare(head.profile, storedVariant(head.profile).format)) return count;
  for (const { list, hasRules, overlay } of touching) {
    const key = head.lists.find(({ id }) => id === list.id)?.key;
    const { hosts } = parts.find((part) => part.key === key) ?? {};
    if (hosts === undefined || !hasRules) continue;
    const [limited, free] = [new Widening(hosts, guarded), new Widening(hosts, undefined)];
    for (const { action, target } of overlay.added) {
      if (action !== 'block' || target.kind !== 'ip' || free.served(target.network) === target.network) continue;
      if (limited.served(target.network) === target.network) count.asSent += 1;
      else count.hosts += 1;
    }
  }
  return count;
}

const touchedActions = ({ removed, added }: Overlay): AccessAction[] =>
  ACCESS_ACTIONS.filter((action) => [...removed, ...added].some((rule) => rule.action === action));

/** Applies the changes to an unshared snapshot. */
function applyOverlay(snapshot: Snapshot, { list, hasRules, overlay: { removed, added } }: Touching): void {
  const { head } = snapshot;
  const tables = rulesOfList(snapshot, list.id);
  const ids = new Set(removed.map(({ id }) => id));
  for (const table of [tables.v4, tables.v6, tables.geo]) table.remove(ids, 0);
  // In a composed feed the list's levels fill unset ones; a list's own feed has them in its profile.
  const filled = filledLevels(head.kind === 'composed' ? levelCode(list.confidence, list.severity) : 0);
  const add = ({ target, confidence, severity, expiresAt }: AccessRule, role: RuleRole) =>
    addRule(tables, NEW, role, target, expiresAt === null ? 0 : secondOf(expiresAt), filled[levelCode(confidence, severity)]);
  for (const rule of added) {
    if (hasRules) add(rule, rule.action);
    if (rule.action === 'allow' && head.profile.subtractAllow === 'workspace') add(rule, 'exception');
  }
}

const NEW = 0;

interface Overlay {
  readonly removed: readonly NamedRule[];
  readonly added: readonly AccessRule[];
}

/** The rule references and targets to read from the store. */
export function namesOf(changes: readonly AccessChange[]): { refs: string[]; targets: string[] } {
  const [refs, targets] = [new Set<string>(), new Set<string>()];
  for (const named of changes.map(namedBy)) {
    if (named.by === 'ref') refs.add(named.ruleRef);
    else targets.add(named.target);
  }
  return { refs: [...refs], targets: [...targets] };
}

interface Present extends Omit<NamedRule, 'id'> {
  readonly rule: AccessRule | undefined;
}

/** Applies signals to a list's access rules like landing does (SPEC D3.10, D3.11), in memory. */
function overlayOf(stored: readonly NamedRule[], changes: readonly AccessChange[]): Overlay {
  const byRef = new Map<string, Present>();
  const byValue = new Map<string, Set<Present>>();
  const add = (present: Present) => {
    if (present.ruleRef !== null) byRef.set(present.ruleRef, present);
    const identity = identityOf(present);
    byValue.set(identity, (byValue.get(identity) ?? new Set()).add(present));
  };
  const remove = (present: Present | undefined) => {
    if (present === undefined) return;
    byValue.get(identityOf(present))?.delete(present);
    if (present.ruleRef !== null) byRef.delete(present.ruleRef);
  };
  const originals = new Map(stored.map((named) => [{ ...named, rule: undefined } as Present, named]));
  for (const present of originals.keys()) add(present);

  for (const change of changes) {
    const named = namedBy(change);
    if (named.by === 'ref') remove(byRef.get(named.ruleRef));
    else for (const present of [...(byValue.get(identityOf(named)) ?? [])]) if (named.withRefs || present.ruleRef === null) remove(present);
    if (change.change !== 'upsert') continue;
    const { rule } = change;
    add({ ruleRef: rule.ruleRef, action: rule.action, target: formatTarget(rule.target), rule });
  }
  const left = new Set([...byValue.values()].flatMap((each) => [...each]));
  return {
    removed: [...originals].filter(([present]) => !left.has(present)).map(([, named]) => named),
    added: [...left].flatMap(({ rule }) => (rule === undefined ? [] : [rule])),
  };
}

const identityOf = ({ action, target }: Pick<NamedRule, 'action' | 'target'>) => `${action} ${target}`;
