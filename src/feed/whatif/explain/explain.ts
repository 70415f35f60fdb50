/** Explains the feeds of a workspace (SPEC D10), reading only relevant rules if the store can find them. */

import type { Workspace } from '../../../account/workspace.ts';
import { secondOf } from '../../../clock.ts';
import { RULE_RETENTION } from '../../../ports/stored/account-store.ts';
import type { ChangeOrigin } from '../../../ports/stored/rule-store.ts';
import type { AccessAction, Target } from '../../../rule.ts';
import { contentAsked, rankInFeed } from '../../build/render-feed.ts';
import { readSnapshot, type Snapshot } from '../../index/snapshot.ts';
import { type Family, storedVariant } from '../../variant.ts';
import {
  addressesOf,
  explainFeed,
  isActive,
  type NeverBlockOutlook,
  neverBlockOutlook,
  rankedExplanation,
  roled,
  verdict,
} from './explain-feed.ts';
import type { FeedExplanation, FeedSource, StoredAccessRule, Verdict } from './explanation.ts';
import { servedAfter } from './ranked-outlook.ts';
import { type NeverBlocked, neverBlockRule, type RemainingBlocks } from './remaining-blocks.ts';
import { type ExplainOptions, feedSources, isHost, rulesByFeed, touchingRules } from './sources.ts';

export interface Asked {
  readonly workspace: Workspace;
  readonly target: Target;
  readonly action: AccessAction;
  readonly feedIds?: readonly string[];
  /** Reads every rule of the affected feeds. */
  readonly counts: boolean;
  /** Also return `expired` and `never`, for a never-block rule in this list. */
  readonly outlook?: { readonly listId: string };
}

export interface FeedSize {
  readonly entries: number;
  readonly limit: number;
}

export interface Explained {
  readonly source: FeedSource;
  readonly explanation: FeedExplanation;
  readonly size: FeedSize | undefined;
  readonly leftOut: number;
  /** Of the last rule for it and against it, ms; null: none recently. */
  readonly expired?: { readonly in: number | null; readonly out: number | null };
  readonly never?: NeverBlockOutlook;
}

export interface ExplainedTarget {
  readonly feeds: readonly Explained[];
  readonly feedsLeftOut: number;
  /** By `seq` of the rule. */
  readonly origins: ReadonlyMap<number, ChangeOrigin>;
}

/** Runs on the feed thread. */
export interface FeedExplainer {
  explain(asked: Asked): Promise<ExplainedTarget>;
  /** Rejects like `explain`. */
  remainingBlocks(asked: NeverBlocked): Promise<RemainingBlocks>;
}

/** Rules examined per request, and returned per feed. */
export const EXPLAIN_RULES = 100_000;
export const MOST_EXPLAINED = 20;
export const EXPLAIN_UNTOUCHED = 1_000;

/** The workspace's feed, then lists, then composed ones. */
export async function explain(
  { workspace, target, action, feedIds, counts, outlook }: Asked,
  options: ExplainOptions,
): Promise<ExplainedTarget> {
  const { store, geo, now } = options;
  const guard = options.guard(workspace);
  // For a wider target, the history would be every rule the workspace ever had.
  const since = outlook !== undefined && isHost(target) ? now.wall - RULE_RETENTION : now.wall;
  const all = await feedSources(options, workspace);
  const found = await touchingRules(workspace.id, target, all, options, since);
  const [rules, expired] = [true, false].map((wanted) => found.filter((stored) => isActive(stored, secondOf(now.wall)) === wanted));
  const sources = all.filter(({ id }) => feedIds === undefined || (id !== null && feedIds.includes(id)));
  const question = { target, action, asOf: secondOf(now.wall), geo, guard };
  const feeds: Explained[] = [];
  const rulesOf = rulesByFeed(rules);
  const alike = new Map<Family, FeedExplanation>();
  const explanationOf = (source: FeedSource): FeedExplanation => {
    const own = rulesOf(source);
    if (own.length > 0 || source.agreeing !== undefined) return explainFeed(source, own, question);
    const { family } = storedVariant(source.profile);
    const known = alike.get(family) ?? explainFeed(source, own, question);
    alike.set(family, known);
    return known;
  };
  const rankedVerdict = async (source: FeedSource, whole: Verdict, change: Parameters<typeof servedAfter>[3]): Promise<Verdict> => {
    const served = whole === 'out' ? undefined : await servedAfter(options, workspace, source, change);
    return served === undefined ? whole : verdict(addressesOf(target, storedVariant(source.profile).family, geo), served);
  };
  const neverOf = async (source: FeedSource, now: Verdict, listId: string): Promise<NeverBlockOutlook> => {
    const added = neverBlockRule(target, listId);
    const whole = neverBlockOutlook(source, rulesOf(source), added, question);
    const isIgnored = (source.profile.subtractAllow ?? 'off') === 'off';
    const then = isIgnored ? now : await rankedVerdict(source, whole.verdict, { removed: [], added });
    return { verdict: then, subtract: then === 'out' ? null : whole.subtract };
  };
  const ranked = async (source: FeedSource, explanation: FeedExplanation): Promise<FeedExplanation> => {
    if (action !== 'block' || source.agreeing?.quorum.fit !== 'best' || explanation.verdict === 'out') return explanation;
    const asked = addressesOf(target, explanation.family, geo);
    const rankIn = (snapshot: Snapshot) => ({ of: snapshot.head, found: rankInFeed(snapshot, asked, question.asOf, geo, guard.protected) });
    let rank = await options.cached?.withSnapshot(workspace.id, source.id, rankIn);
    // Explanations are about the current rules.
    if (rank === undefined || rank.of.frozenSince !== undefined) {
      const snapshot = await readSnapshot(store, { workspaceId: workspace.id, feedId: source.id }, now);
      rank = snapshot && rankIn(snapshot);
    }
    const found = rank?.found === undefined ? explanation : rankedExplanation(source, explanation, rank.found, question);
    const { removes, verdict: left } = explanation.unblock;
    const then = removes.length === 0 ? found.verdict : await rankedVerdict(source, left, { removed: removes });
    return { ...found, unblock: { removes, verdict: then } };
  };
  let untouched = 0;
  const { mostUntouched = Number.POSITIVE_INFINITY } = options;
  for (const source of sources) {
    await options.pause?.();
    const explanation = await ranked(source, explanationOf(source));
    const isConcerned = explanation.rules.length > 0 || feedIds !== undefined;
    const size = counts && isConcerned ? await feedSize(source, workspace, action, options) : undefined;
    const returned = explanation.rules.slice(0, options.mostReturned);
    const ends = outlook && lastEnds(expired, source, action);
    const isUntouched = explanation.rules.length === 0 && explanation.protectedBy.length === 0 && (ends?.in ?? ends?.out ?? null) === null;
    if (isUntouched) untouched += 1;
    if (isUntouched && untouched > mostUntouched) continue;
    feeds.push({
      source,
      explanation: { ...explanation, rules: returned },
      size,
      leftOut: explanation.rules.length - returned.length,
      ...(ends && { expired: ends }),
      ...(outlook !== undefined &&
        action === 'block' &&
        explanation.verdict !== 'out' && {
          never: await neverOf(source, explanation.verdict, outlook.listId),
        }),
    });
  }
  const listed = new Set(feeds.flatMap(({ explanation }) => explanation.rules.map(({ stored }) => stored.seq)));
  return { feeds, feedsLeftOut: Math.max(0, untouched - mostUntouched), origins: await store.origins(workspace.id, [...listed]) };
}

/** When the last relevant expired rule ended, by role. */
function lastEnds(expired: readonly StoredAccessRule[], source: FeedSource, action: AccessAction): NonNullable<Explained['expired']> {
  const ends = Map.groupBy(roled(expired, source, action), ({ role }) => (role === action ? 'in' : 'out'));
  const last = (of: 'in' | 'out') => ends.get(of)?.reduce((most, { stored }) => Math.max(most, stored.rule.expiresAt!), 0) ?? null;
  return { in: last('in'), out: last('out') };
}

async function feedSize(
  source: FeedSource,
  workspace: Workspace,
  action: AccessAction,
  options: ExplainOptions,
): Promise<FeedSize | undefined> {
  const { store, geo, guard, now } = options;
  const snapshot = await readSnapshot(store, { workspaceId: workspace.id, feedId: source.id }, now);
  if (snapshot === undefined) return undefined;
  const { facts } = contentAsked(snapshot, { action }, secondOf(now.wall), geo, guard);
  return { entries: facts.entryCount, limit: facts.entryLimit };
}
