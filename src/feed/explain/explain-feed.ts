/** Why addresses are in a feed, or are not (SPEC D10): the feed's own content, made from the rules that concern them. */

import { type AddressSet, addressSet, difference, intersection, isEmpty, overlaps, pushNetworks } from '@weir/network/address-set.ts';
import type { FeedKind, FeedProfile } from '../../account/feed.ts';
import type { BlockGuard } from '../../account/guard-rails.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { StoredRule } from '../../ports/rule-store.ts';
import type { AccessAction, AccessRule, RuleRole, Target } from '../../rule.ts';
import { formatTarget } from '../../signal/target.ts';
import { exceptionsOf, feedContent } from '../build/content.ts';
import { expiryOf, ruleTables } from '../build/snapshot.ts';
import { type Family, storedVariant } from '../variant.ts';

/** A feed with its stored settings, and the lists whose rules it holds (null: all of the workspace). */
export interface FeedSource {
  readonly kind: FeedKind;
  /** null: the workspace's. */
  readonly id: string | null;
  readonly profile: FeedProfile;
  readonly lists: ReadonlySet<string> | null;
}

/** An access rule as the store has it. */
export interface StoredAccessRule extends StoredRule {
  readonly rule: AccessRule;
}

/** What is asked about which feeds, and with what they are made. */
export interface Question {
  readonly target: Target;
  readonly action: AccessAction;
  /** Whole seconds: rules that expire at this second or before count no more. */
  readonly asOf: number;
  readonly geo: GeoDatabase;
  /** Of the feeds' workspace. */
  readonly guard: BlockGuard;
}

/** Whether all addresses asked for are in a feed, some, or none. */
export type Verdict = 'in' | 'partly' | 'out';

/**
 * How a rule's target lies to the one that is asked for: the same, a network around it, one inside it, a country or an ASN with
 * addresses of it; `overlapping`: a network with addresses of the country or ASN that is asked for.
 */
export type Relation = 'exact' | 'covering' | 'covered' | 'country' | 'asn' | 'overlapping';

export interface ExplainedRule {
  readonly stored: StoredAccessRule;
  /** Whether it puts addresses that are asked for into the feed, or keeps them out. */
  readonly effect: 'in' | 'out';
  readonly relation: Relation;
}

export interface FeedExplanation {
  readonly verdict: Verdict;
  /** The families that the feed publishes where a request says nothing; others are not explained. */
  readonly family: Family;
  readonly rules: readonly ExplainedRule[];
  /** Protected networks that keep addresses out. */
  readonly protectedBy: readonly string[];
  /** What removing the rules on exactly this target, from all lists of the feed, would do: how many there are, and the verdict then. */
  readonly unblock: { readonly removes: readonly StoredAccessRule[]; readonly verdict: Verdict };
}

/** The addresses behind a target, of these families. */
export function addressesOf(target: Target, family: Family, geo: GeoDatabase): AddressSet {
  const isAsked = (of: Family) => family === 'both' || family === of;
  if (target.kind === 'ip') return addressSet(isAsked(target.network.family === 4 ? 'v4' : 'v6') ? [target.network] : []);
  const found = geo.ranges(target);
  const set = addressSet([]);
  if (isAsked('v4')) set.v4.pushAll(found.v4);
  if (isAsked('v6')) set.v6.pushAll(found.v6);
  return set;
}

/** Whether a target has an address of the set. */
export const touches = (target: Target, set: AddressSet, geo: GeoDatabase): boolean =>
  target.kind === 'ip' ? overlaps(set, target.network) : !isEmpty(intersection(set, addressesOf(target, 'both', geo)));

/** Explains one feed. `rules` are all rules of the workspace that have an address in common with the target, whatever their action. */
export function explainFeed(feed: FeedSource, rules: readonly StoredAccessRule[], question: Question): FeedExplanation {
  const { target, action, asOf, geo, guard } = question;
  const { family } = storedVariant(feed.profile);
  const asked = addressesOf(target, family, geo);
  const exceptions = action === 'block' ? exceptionsOf({ head: feed }) : undefined;
  const given = rules.flatMap((stored) => rolesOf(stored, feed).map((role) => ({ stored, role })));
  const active = given.filter(
    ({ stored, role }) => (role === action || role === exceptions) && isActive(stored, asOf) && touches(stored.rule.target, asked, geo),
  );
  const verdictOf = (of: typeof active) => (of.length === 0 ? 'out' : verdict(asked, contentOf(feed, of, question, family)));

  const explained = active.map(({ stored, role }): ExplainedRule => {
    return { stored, effect: role === action ? 'in' : 'out', relation: relationOf(stored.rule.target, target) };
  });
  const [removed, left] = [true, false].map((isRemoved) =>
    active.filter((_, i) => isRemoved === (explained[i].effect === 'in' && explained[i].relation === 'exact')),
  );
  const now = verdictOf(active);
  return {
    verdict: now,
    family,
    rules: explained,
    protectedBy: action === 'block' ? guard.within(asked) : [],
    unblock: { removes: removed.map(({ stored }) => stored), verdict: removed.length === 0 ? now : verdictOf(left) },
  };
}

/** What a rule is for a feed: nothing, when it is of none of its lists. */
function rolesOf({ listId, rule }: StoredAccessRule, { profile, lists }: FeedSource): RuleRole[] {
  const isOwn = lists === null || lists.has(listId!);
  const isException = profile.subtractAllow === 'workspace' && rule.action === 'allow';
  return [...(isOwn ? [rule.action] : []), ...(isException ? (['exception'] as const) : [])];
}

function isActive(stored: StoredAccessRule, asOf: number): boolean {
  const expires = expiryOf(stored);
  return expires === 0 || expires > asOf;
}

/** What these rules publish in the feed. */
function contentOf(
  { profile }: FeedSource,
  rules: readonly { readonly stored: StoredAccessRule; readonly role: RuleRole }[],
  { action, asOf, geo, guard }: Question,
  family: Family,
): AddressSet {
  const tables = ruleTables(
    rules.map(({ stored, role }) => ({ id: stored.id, role, target: stored.rule.target, expires: expiryOf(stored) })),
    asOf,
  );
  const query = { family, action, asOf, classes: undefined, guarded: guard.protected };
  const { classes } = feedContent({ parts: [{ rules: tables, levels: 0 }], head: { profile } }, query, geo);
  const set = addressSet([]);
  for (const networks of classes) pushNetworks(set, networks);
  return set;
}

function verdict(asked: AddressSet, content: AddressSet): Verdict {
  const found = intersection(asked, content);
  if (isEmpty(found)) return 'out';
  return isEmpty(difference(asked, found)) ? 'in' : 'partly';
}

function relationOf(rule: Target, asked: Target): Relation {
  if (formatTarget(rule) === formatTarget(asked)) return 'exact';
  if (rule.kind !== 'ip') return rule.kind;
  if (asked.kind !== 'ip') return 'overlapping';
  return rule.network.prefix < asked.network.prefix ? 'covering' : 'covered';
}
