/** Explains the feeds of a workspace: reads what concerns a target, and nothing else where that can be found (SPEC D10). */

import type { Workspace } from '../../../account/workspace.ts';
import { secondOf } from '../../../clock.ts';
import { RULES_KEPT } from '../../../ports/stored/account-store.ts';
import type { ChangeOrigin } from '../../../ports/stored/rule-store.ts';
import type { AccessAction, Target } from '../../../rule.ts';
import { renderFeed } from '../../build/render-feed.ts';
import { readSnapshot } from '../../index/snapshot.ts';
import { type Family, storedVariant, variantOf } from '../../variant.ts';
import { explainFeed, isActive, type NeverBlockOutlook, neverBlockOutlook, roled } from './explain-feed.ts';
import type { FeedExplanation, FeedSource, StoredAccessRule } from './explanation.ts';
import { type NeverBlocked, neverBlockRule, type RemainingBlocks } from './remaining-blocks.ts';
import { type ExplainOptions, feedSources, isHost, rulesByFeed, touchingRules } from './sources.ts';

/** What is asked; without `feedIds` about every feed. */
export interface Asked {
  readonly workspace: Workspace;
  readonly target: Target;
  readonly action: AccessAction;
  /** Feeds by their id. */
  readonly feedIds?: readonly string[];
  /** Whether to count entries, which reads every rule of the feeds that the target concerns. */
  readonly counts: boolean;
  /** Asks for `since` and `never` too, with a never-block rule that would lie in this list. */
  readonly outlook?: { readonly listId: string };
}

/** How many entries a feed has, and how many it may have. */
export interface FeedSize {
  readonly entries: number;
  readonly limit: number;
}

export interface Explained {
  readonly source: FeedSource;
  readonly explanation: FeedExplanation;
  /** Undefined where it was not counted. */
  readonly size: FeedSize | undefined;
  /** How many more rules concern the target than are told. */
  readonly leftOut: number;
  /** When the last rule that put it there, and the last that kept it out, has expired, ms; null: none did lately. */
  readonly expired?: { readonly in: number | null; readonly out: number | null };
  /** What a never-block rule on it would do; of block feeds. */
  readonly never?: NeverBlockOutlook;
}

export interface ExplainedTarget {
  readonly feeds: readonly Explained[];
  /** How many more feeds there are, which nothing concerns. */
  readonly feedsLeftOut: number;
  /** By `seq` of the rules, as far as it is known. */
  readonly origins: ReadonlyMap<number, ChangeOrigin>;
}

/** Explains on the feed thread, where the serving of requests does not wait for it. */
export interface FeedExplainer {
  /** Rejects with REFUSED where more than EXPLAIN_RULES rules would have to be looked at. */
  explain(asked: Asked): Promise<ExplainedTarget>;
  /** The block feeds that have what shall never be blocked. Rejects as `explain` does. */
  remainingBlocks(asked: NeverBlocked): Promise<RemainingBlocks>;
}

/** Rules that are looked at for one request at most, and that are told of each feed. */
export const EXPLAIN_RULES = 100_000;
export const EXPLAIN_TOLD = 20;
/** Feeds that nothing concerns of which a request is told at most. */
export const EXPLAIN_UNTOUCHED = 1_000;

/** Explains the workspace's feed, those of its lists and the composed ones, in this order. */
export async function explain(
  { workspace, target, action, feedIds, counts, outlook }: Asked,
  options: ExplainOptions,
): Promise<ExplainedTarget> {
  const { store, geo, now } = options;
  const guard = options.guard(workspace);
  // Of anything wider it would be every rule that the workspace has had.
  const since = outlook !== undefined && isHost(target) ? now.wall - RULES_KEPT : now.wall;
  const found = await touchingRules(workspace.id, target, options, since);
  const [rules, expired] = [true, false].map((wanted) => found.filter((stored) => isActive(stored, secondOf(now.wall)) === wanted));
  const sources = (await feedSources(options, workspace)).filter(
    ({ id }) => feedIds === undefined || (id !== null && feedIds.includes(id)),
  );
  const question = { target, action, asOf: secondOf(now.wall), geo, guard };
  const feeds: Explained[] = [];
  const rulesOf = rulesByFeed(rules);
  // Feeds that have nothing of it are explained alike, and there may be thousands of them.
  const alike = new Map<Family, FeedExplanation>();
  const explanationOf = (source: FeedSource): FeedExplanation => {
    const own = rulesOf(source);
    if (own.length > 0 || source.agreeing !== undefined) return explainFeed(source, own, question);
    const { family } = storedVariant(source.profile);
    const known = alike.get(family) ?? explainFeed(source, own, question);
    alike.set(family, known);
    return known;
  };
  let untouched = 0;
  const { mostUntouched = Number.POSITIVE_INFINITY } = options;
  for (const source of sources) {
    await options.pause?.();
    const explanation = explanationOf(source);
    const isConcerned = explanation.rules.length > 0 || feedIds !== undefined;
    const size = counts && isConcerned ? await feedSize(source, workspace, action, options) : undefined;
    const told = explanation.rules.slice(0, options.mostTold);
    const ends = outlook && lastEnds(expired, source, action);
    const isUntouched = explanation.rules.length === 0 && explanation.protectedBy.length === 0 && (ends?.in ?? ends?.out ?? null) === null;
    if (isUntouched) untouched += 1;
    if (isUntouched && untouched > mostUntouched) continue;
    feeds.push({
      source,
      explanation: { ...explanation, rules: told },
      size,
      leftOut: explanation.rules.length - told.length,
      ...(ends && { expired: ends }),
      ...(outlook !== undefined &&
        action === 'block' &&
        explanation.verdict !== 'out' && {
          never: neverBlockOutlook(source, rulesOf(source), neverBlockRule(target, outlook.listId), question),
        }),
    });
  }
  const shown = new Set(feeds.flatMap(({ explanation }) => explanation.rules.map(({ stored }) => stored.seq)));
  return { feeds, feedsLeftOut: Math.max(0, untouched - mostUntouched), origins: await store.origins(workspace.id, [...shown]) };
}

/** When the last of these rules that were something for a feed has expired. */
function lastEnds(expired: readonly StoredAccessRule[], source: FeedSource, action: AccessAction): NonNullable<Explained['expired']> {
  const ends = Map.groupBy(roled(expired, source, action), ({ role }) => (role === action ? 'in' : 'out'));
  const last = (of: 'in' | 'out') => ends.get(of)?.reduce((most, { stored }) => Math.max(most, stored.rule.expiresAt!), 0) ?? null;
  return { in: last('in'), out: last('out') };
}

/** The size of what a request gets that names the action only. */
async function feedSize(
  source: FeedSource,
  workspace: Workspace,
  action: AccessAction,
  options: ExplainOptions,
): Promise<FeedSize | undefined> {
  const { store, geo, guard, now } = options;
  const snapshot = await readSnapshot(store, { workspaceId: workspace.id, feedId: source.id }, now);
  if (snapshot === undefined) return undefined;
  const { profile, guardRails } = snapshot.head;
  const variant = variantOf({ action }, storedVariant(profile));
  const { entryCount, entryLimit } = renderFeed(snapshot, variant, secondOf(now.wall), geo, guard(guardRails).protected);
  return { entries: entryCount, limit: entryLimit };
}
