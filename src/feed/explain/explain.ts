/** Explains the feeds of a workspace: reads what concerns a target, and nothing else where that can be found (SPEC D10). */
import { workspaceProfile } from '../../account/feed.ts';
import type { BlockGuard, GuardRails } from '../../account/guard-rails.ts';
import type { Workspace } from '../../account/workspace.ts';
import { type Instant, secondOf } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { RuleMatch, RuleOrigin } from '../../ports/rule-store.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { AccessAction, Target } from '../../rule.ts';
import { renderFeed } from '../build/render.ts';
import { readSnapshot } from '../build/snapshot.ts';
import { storedVariant, variantOf } from '../variant.ts';
import { addressesOf, explainFeed, type FeedExplanation, type FeedSource, type StoredAccessRule, touches } from './explain-feed.ts';

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
}

/** What is asked; without `feedIds` about every feed. */
export interface Asked {
  readonly workspace: Workspace;
  readonly target: Target;
  readonly action: AccessAction;
  /** Feeds by their id. */
  readonly feedIds?: readonly string[];
  /** Whether to count entries, which reads every rule of the feeds that the target concerns. */
  readonly counts: boolean;
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
}

export interface ExplainedTarget {
  readonly feeds: readonly Explained[];
  /** By `seq` of the rules, as far as it is known. */
  readonly origins: ReadonlyMap<number, RuleOrigin>;
}

/** Explains on the feed thread, where the serving of requests does not wait for it. */
export interface FeedExplainer {
  /** Rejects with REFUSED where more than EXPLAIN_RULES rules would have to be looked at. */
  explain(asked: Asked): Promise<ExplainedTarget>;
}

/** Rules that are looked at for one request at most, and that are told of each feed. */
export const EXPLAIN_RULES = 100_000;
export const EXPLAIN_TOLD = 20;

/** Explains the workspace's feed, those of its lists and the composed ones, in this order. */
export async function explain({ workspace, target, action, feedIds, counts }: Asked, options: ExplainOptions): Promise<ExplainedTarget> {
  const { store, geo, now } = options;
  const guard = options.guard(workspace);
  const rules = await touchingRules(workspace.id, target, options);
  const sources = (await feedSources(store, workspace)).filter(({ id }) => feedIds === undefined || (id !== null && feedIds.includes(id)));
  const question = { target, action, asOf: secondOf(now.wall), geo, guard };
  const feeds: Explained[] = [];
  for (const source of sources) {
    const explanation = explainFeed(source, rules, question);
    const isConcerned = explanation.rules.length > 0 || feedIds !== undefined;
    const size = counts && isConcerned ? await feedSize(source, workspace, action, options) : undefined;
    const told = explanation.rules.slice(0, options.mostTold);
    feeds.push({ source, explanation: { ...explanation, rules: told }, size, leftOut: explanation.rules.length - told.length });
  }
  const shown = new Set(feeds.flatMap(({ explanation }) => explanation.rules.map(({ stored }) => stored.seq)));
  return { feeds, origins: await store.origins(workspace.id, [...shown]) };
}

/** The active access rules of a workspace that have an address in common with a target. */
async function touchingRules(
  workspaceId: string,
  target: Target,
  { store, geo, now, mostRules }: ExplainOptions,
): Promise<StoredAccessRule[]> {
  let looked = 0;
  const asked = addressesOf(target, 'both', geo);
  const find = async (match?: RuleMatch, isMeant: (rule: StoredAccessRule) => boolean = () => true) => {
    const found: StoredAccessRule[] = [];
    for await (const rule of store.rules(workspaceId, { kind: 'access_rule', now: now.wall, ...(match && { match }) })) {
      looked += 1;
      if (looked > (mostRules ?? Number.POSITIVE_INFINITY)) throw tooManyRules(looked - 1);
      if (isMeant(rule as StoredAccessRule)) found.push(rule as StoredAccessRule);
    }
    return found;
  };
  const isTouching = ({ rule }: StoredAccessRule) => touches(rule.target, asked, geo);
  if (target.kind !== 'ip') return find(undefined, isTouching);
  const { network } = target;
  const isHost = network.prefix === (network.family === 4 ? 32 : 128);
  const found = [
    ...(await find({ how: 'covering', network })),
    ...(isHost ? [] : await find({ how: 'covered', network })),
    ...(await find({ how: 'geo' }, isTouching)),
  ];
  // A rule on exactly this network covers it and lies in it.
  return [...new Map(found.map((stored) => [stored.id, stored])).values()];
}

const tooManyRules = (most: number) =>
  new WeirError('REFUSED', `more than ${most} rules would have to be looked at; ask about an address or a smaller network`);

/** All feeds of a workspace. */
async function feedSources(store: Pick<StoreReads, 'directory' | 'feeds'>, workspace: Workspace): Promise<FeedSource[]> {
  const lists = (await store.directory(workspace.id))?.lists ?? [];
  const composed = await store.feeds(workspace.id);
  return [
    { kind: 'workspace', id: null, profile: workspaceProfile(workspace), lists: null },
    ...lists.map((list): FeedSource => ({ kind: 'list', id: list.id, profile: list, lists: new Set([list.id]) })),
    ...composed.map((feed): FeedSource => ({ kind: 'composed', id: feed.id, profile: feed, lists: feed.lists && new Set(feed.lists) })),
  ];
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
