/** Block feeds still containing a never-block or unblocked target, and the remedy for each (SPEC D10.18). */
import type { AddressSet } from '@weir/network/address-set.ts';
import type { FeedKind } from '../../../account/feed.ts';
import type { SubtractAllow } from '../../../account/list.ts';
import type { Workspace } from '../../../account/workspace.ts';
import { secondOf } from '../../../clock.ts';
import type { AccessRule, Target } from '../../../rule.ts';
import { formatTarget } from '../../../signal/target.ts';
import { FAMILIES, type Family, storedVariant } from '../../variant.ts';
import { addressesOf, contentOf, isActive, isManaged, reaches, roled, subtractionOf, verdict } from './explain-feed.ts';
import type { FeedSource, StoredAccessRule, Verdict } from './explanation.ts';
import { servedAfter } from './ranked-outlook.ts';
import { type ExplainOptions, feedSources, rulesByFeed, touchingRules } from './sources.ts';

/** A never-block target in this list, landed or hypothetical; with `unblock`: a target whose blocks in this list are removed. */
export interface NeverBlocked {
  readonly workspace: Workspace;
  readonly target: Target;
  readonly listId: string;
  readonly how?: 'allow' | 'unblock';
}

/** The single remedy for a feed: subtract never-block rules, or unblock the target in these lists; null: neither suffices. */
export type WayOut =
  | { readonly do: 'subtract_allow'; readonly value: Exclude<SubtractAllow, 'off'> }
  | { readonly do: 'unblock'; readonly listIds: readonly string[] }
  | null;

/** In its stored family. */
export interface KeepingFeed {
  readonly kind: FeedKind;
  readonly id: string | null;
  readonly name: string;
  readonly verdict: Exclude<Verdict, 'out'>;
  readonly wayOut: WayOut;
  readonly by: readonly { readonly target: string; readonly listId: string }[];
}

export interface RemainingBlocks {
  readonly feeds: readonly KeepingFeed[];
  readonly leftOut: number;
}

const MOST_RETURNED = 100;
const MOST_BLOCKING = 3;

/** Builds each feed with the hypothetical never-block rule, or without the unblocked rules. */
export async function remainingBlocks(
  { workspace, target, listId, how = 'allow' }: NeverBlocked,
  options: ExplainOptions,
): Promise<RemainingBlocks> {
  const { geo, now } = options;
  const asOf = secondOf(now.wall);
  const askedOf = Object.fromEntries(FAMILIES.map((family) => [family, addressesOf(target, family, geo)])) as Record<Family, AddressSet>;
  const sources = await feedSources(options, workspace);
  const found = await touchingRules(workspace.id, target, sources, options);
  const isExact = ({ rule }: StoredAccessRule) => rule.action === 'block' && formatTarget(rule.target) === formatTarget(target);
  const active = found.filter((stored) => isActive(stored, asOf));
  const added = how === 'allow' ? neverBlockRule(target, listId) : undefined;
  const removed = how === 'allow' ? [] : active.filter((stored) => stored.listId === listId && isExact(stored));
  const rules = [...active.filter((stored) => !removed.includes(stored)), ...(added === undefined ? [] : [added])];
  // The whole content first: it needs no read of all rules.
  const isOut = async (source: FeedSource, asked: AddressSet, more: readonly StoredAccessRule[] = []) => {
    const served = await servedAfter(options, workspace, source, { removed: [...removed, ...more], added });
    return served !== undefined && verdict(asked, served) === 'out';
  };
  const question = { target, action: 'block', asOf, geo, guard: options.guard(workspace) } as const;
  const feeds: KeepingFeed[] = [];
  const rulesOf = rulesByFeed(rules);
  for (const source of sources) {
    await options.pause?.();
    const { family } = storedVariant(source.profile);
    const asked = askedOf[family];
    const own = rulesOf(source).filter((stored) => reaches(stored, asked, source, question));
    const given = roled(own, source, 'block');
    const isIn = (of: typeof given) => verdict(asked, contentOf(source, of, question, family));
    const now = isIn(given);
    if (now === 'out' || (await isOut(source, asked))) continue;
    const subtraction = how === 'unblock' ? undefined : subtractionOf(source, own, { ...question, asked, family });
    const exact = given.filter(({ stored }) => isExact(stored) && !isManaged(source, stored));
    const unblocked =
      exact.length > 0 &&
      (isIn(given.filter((each) => !exact.includes(each))) === 'out' ||
        (await isOut(
          source,
          asked,
          exact.map(({ stored }) => stored),
        )));
    const wayOut: WayOut =
      subtraction?.verdict === 'out'
        ? { do: 'subtract_allow', value: subtraction.value }
        : unblocked
          ? { do: 'unblock', listIds: [...new Set(exact.map(({ stored }) => stored.listId!))] }
          : null;
    const by = given
      .filter(({ role }) => role === 'block')
      .slice(0, MOST_BLOCKING)
      .map(({ stored }) => ({ target: formatTarget(stored.rule.target), listId: stored.listId! }));
    feeds.push({ kind: source.kind, id: source.id, name: source.profile.name, verdict: now, wayOut, by });
  }
  return { feeds: feeds.slice(0, MOST_RETURNED), leftOut: Math.max(0, feeds.length - MOST_RETURNED) };
}

/** The rule as it would land, but permanent. */
export function neverBlockRule(target: Target, listId: string): StoredAccessRule {
  const nothing = { name: null, reason: null, labels: null, config: null, confidence: null, severity: null };
  const rule: AccessRule = { ...nothing, ruleRef: null, action: 'allow', target, expiresAt: null };
  return { id: -1, seq: 0, kind: 'access_rule', createdAt: 0, updatedAt: 0, listId, rule };
}
