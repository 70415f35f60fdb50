/** What an explanation is made of: the feeds of a workspace, and the rules that concern a target, read without others where that can be. */
import { workspaceProfile } from '../../../account/feed.ts';
import type { BlockGuard, GuardRails } from '../../../account/guard-rails.ts';
import type { Workspace } from '../../../account/workspace.ts';
import type { Instant } from '../../../clock.ts';
import { WeirError } from '../../../errors.ts';
import type { GeoDatabase } from '../../../ports/geo.ts';
import type { StoreReads } from '../../../ports/store.ts';
import type { RuleMatch } from '../../../ports/stored/rule-queries.ts';
import type { Target } from '../../../rule.ts';
import { formatTarget } from '../../../signal/target.ts';
import { trimKey } from '../../build/render-feed.ts';
import { keptCut } from '../../build/trim.ts';
import { storedVariant } from '../../variant.ts';
import { addressesOf, touches } from './explain-feed.ts';
import type { FeedSource, StoredAccessRule } from './explanation.ts';

/** What the server makes feeds with. */
export interface ExplainOptions {
  readonly store: Pick<StoreReads, 'rules' | 'directory' | 'feeds' | 'origins' | 'snapshot'>;
  readonly geo: GeoDatabase;
  /** The service's guard rails and a workspace's together. */
  readonly guard: (own: GuardRails) => BlockGuard;
  readonly now: Instant;
  /** Rules that are looked at for one target at most; with more it rejects with REFUSED. Undefined: no limit. */
  readonly mostRules?: number | undefined;
  /** Rules that are told of each feed at most. Undefined: all. */
  readonly mostTold?: number | undefined;
  /** Feeds that nothing concerns which are told at most. Undefined: all. */
  readonly mostUntouched?: number | undefined;
  /** Lets others get on; called often. Rejects where it takes too long. Undefined: nobody waits. */
  readonly pause?: (() => Promise<void> | undefined) | undefined;
}

/** Whether a target is one address. */
export const isHost = (target: Target): boolean =>
  target.kind === 'ip' && target.network.prefix === (target.network.family === 4 ? 32 : 128);

/**
 * The access rules of a workspace that have an address in common with a target, or are on this very one: those that are active, and with
 * `since` (ms) those that have expired since then, as far as they are stored.
 */
export async function touchingRules(
  workspaceId: string,
  target: Target,
  { store, geo, now, mostRules, pause }: ExplainOptions,
  since: number = now.wall,
): Promise<StoredAccessRule[]> {
  let looked = 0;
  const asked = addressesOf(target, 'both', geo);
  const name = formatTarget(target);
  const find = async (match?: RuleMatch, isMeant: (rule: StoredAccessRule) => boolean = () => true) => {
    const found: StoredAccessRule[] = [];
    for await (const rule of store.rules(workspaceId, { kind: 'access_rule', now: since, ...(match && { match }) })) {
      looked += 1;
      if (looked % TURN === 0) await pause?.();
      if (looked > (mostRules ?? Number.POSITIVE_INFINITY)) throw tooManyRules(looked - 1);
      if (isMeant(rule as StoredAccessRule)) found.push(rule as StoredAccessRule);
    }
    return found;
  };
  // A country may have no ranges.
  const isTouching = ({ rule }: StoredAccessRule) => formatTarget(rule.target) === name || touches(rule.target, asked, geo);
  if (target.kind !== 'ip') return find(undefined, isTouching);
  const { network } = target;
  const found = [
    ...(await find({ how: 'covering', network })),
    ...(isHost(target) ? [] : await find({ how: 'covered', network })),
    ...(await find({ how: 'geo' }, isTouching)),
  ];
  // A rule on exactly this network covers it and lies in it.
  return [...new Map(found.map((stored) => [stored.id, stored])).values()];
}

/** Rules that are looked at before others get on. */
const TURN = 100;

const tooManyRules = (most: number) =>
  new WeirError('REFUSED', `more than ${most} rules would have to be looked at; ask about an address or a smaller network`);

/**
 * The rules that may concern a feed, in their order: those of its lists, and never-block rules of all lists. With many lists each has few of
 * them, so that not every rule is compared with every feed.
 */
export function rulesByFeed(rules: readonly StoredAccessRule[]): (feed: FeedSource) => readonly StoredAccessRule[] {
  const places = new Map(rules.map((stored, place) => [stored, place]));
  const allows = rules.filter(({ rule }) => rule.action === 'allow');
  const blocks = Map.groupBy(
    rules.filter(({ rule }) => rule.action !== 'allow'),
    ({ listId }) => listId,
  );
  return ({ lists }) => {
    if (lists === null) return rules;
    const own = [...lists].flatMap((list) => blocks.get(list) ?? []);
    return [...own, ...allows].sort((a, b) => places.get(a)! - places.get(b)!);
  };
}

/** All feeds of a workspace. */
export async function feedSources({ store, now }: Pick<ExplainOptions, 'store' | 'now'>, workspace: Workspace): Promise<FeedSource[]> {
  const lists = (await store.directory(workspace.id))?.lists ?? [];
  const composed = await store.feeds(workspace.id);
  const kept = new Set(lists.filter(({ sourceId }) => sourceId !== null).map(({ id }) => id));
  const sources: FeedSource[] = [
    { kind: 'workspace', id: null, profile: workspaceProfile(workspace), lists: null },
    ...lists.map((list): FeedSource => ({ kind: 'list', id: list.id, profile: list, lists: new Set([list.id]) })),
    ...composed.map((feed): FeedSource => ({ kind: 'composed', id: feed.id, profile: feed, lists: feed.lists && new Set(feed.lists) })),
  ];
  const agreeing = new Map<string | null, FeedSource['agreeing']>();
  for (const { id, minSources, fit } of composed) {
    const head = (minSources ?? fit) === null ? undefined : await store.snapshot(workspace.id, id, now.wall, undefined);
    if (head?.quorum === undefined) continue;
    const { quorum, lists } = head;
    // What is left out is what the feed was built with last.
    const cut = keptCut(head, trimKey({ head }, storedVariant(head.profile))) ?? { left: [], least: quorum.minSources };
    agreeing.set(id, { quorum, lists, cut });
  }
  return sources.map((source) => ({ ...source, kept, agreeing: agreeing.get(source.id) }));
}
