/** Explains why addresses are in a feed or not (SPEC D10), by building it from the rules concerned. */

import { type AddressSet, addressSet, difference, intersection, isEmpty, overlaps } from '@weir/network/address-set.ts';
import { firstReaching } from '@weir/network/search.ts';
import type { GeoDatabase } from '../../../ports/geo.ts';
import type { AccessAction, RuleRole, Target } from '../../../rule.ts';
import { formatTarget } from '../../../signal/target.ts';
import { addressesIn, exceptionsOf, feedContent } from '../../build/content.ts';
import type { RankInFeed } from '../../build/render-feed.ts';
import { expiryOf, ruleTables } from '../../index/snapshot.ts';
import { type Family, storedVariant } from '../../variant.ts';
import { Widening } from '../../widening.ts';
import type {
  ExplainedRule,
  FeedExplanation,
  FeedSource,
  FoundQuorum,
  Idle,
  Question,
  Relation,
  StoredAccessRule,
  Subtraction,
  Verdict,
} from './explanation.ts';

export interface NeverBlockOutlook {
  readonly verdict: Verdict;
  readonly subtract: Subtraction | null;
}

export function neverBlockOutlook(
  feed: FeedSource,
  rules: readonly StoredAccessRule[],
  never: StoredAccessRule,
  question: Question,
): NeverBlockOutlook {
  const { family } = storedVariant(feed.profile);
  const asked = addressesOf(question.target, family, question.geo);
  const touching = [...rules.filter((stored) => isActive(stored, question.asOf) && reaches(stored, asked, feed, question)), never];
  const now = verdict(asked, contentOf(feed, roled(touching, feed, 'block'), question, family));
  return { verdict: now, subtract: now === 'out' ? null : subtractionOf(feed, touching, { ...question, asked, family }) };
}

export function addressesOf(target: Target, family: Family, geo: GeoDatabase): AddressSet {
  const isAsked = (of: Family) => family === 'both' || family === of;
  if (target.kind === 'ip') return addressSet(isAsked(target.network.family === 4 ? 'v4' : 'v6') ? [target.network] : []);
  const found = geo.ranges(target);
  const set = addressSet([]);
  if (isAsked('v4')) set.v4.pushAll(found.v4);
  if (isAsked('v6')) set.v6.pushAll(found.v6);
  return set;
}

export const touches = (target: Target, set: AddressSet, geo: GeoDatabase): boolean =>
  target.kind === 'ip' ? overlaps(set, target.network) : !isEmpty(intersection(set, addressesOf(target, 'both', geo)));

/** The target as the feed serves it: a host may be widened. */
export function servedTarget({ listId, rule }: StoredAccessRule, { hosts }: FeedSource, { guard }: Pick<Question, 'guard'>): Target {
  const { target, action } = rule;
  const own = action === 'block' ? hosts?.get(listId ?? '') : undefined;
  if (own === undefined || target.kind !== 'ip') return target;
  return { kind: 'ip', network: new Widening(own, guard.protected).served(target.network) };
}

export const reaches = (stored: StoredAccessRule, set: AddressSet, feed: FeedSource, question: Pick<Question, 'guard' | 'geo'>): boolean =>
  touches(servedTarget(stored, feed, question), set, question.geo);

function widened(stored: StoredAccessRule, feed: FeedSource, { guard }: Question): Pick<ExplainedRule, 'servedAs' | 'notWidened'> {
  const [sent, served] = [stored.rule.target, servedTarget(stored, feed, { guard })];
  if (served !== sent && formatTarget(served) !== formatTarget(sent)) return { servedAs: served, notWidened: [] };
  const wanted = servedTarget(stored, feed, { guard: { ...guard, protected: undefined } });
  if (formatTarget(wanted) === formatTarget(sent) || wanted.kind !== 'ip') return { servedAs: null, notWidened: [] };
  const { network } = wanted;
  const least = guard.protected?.least?.[network.family === 4 ? 'v4' : 'v6'] ?? 0;
  const tooWide = network.prefix < least ? [`wider than /${least}`] : [];
  return { servedAs: null, notWidened: [...tooWide, ...guard.within(addressSet([network]))] };
}

/** `rules`: all workspace rules overlapping the target or having it as target, with any action. */
export function explainFeed(feed: FeedSource, rules: readonly StoredAccessRule[], question: Question): FeedExplanation {
  const { target, action, geo, guard } = question;
  const { family } = storedVariant(feed.profile);
  const asked = addressesOf(target, family, geo);
  const active = rules.filter((stored) => isActive(stored, question.asOf));
  const touching = active.filter((stored) => reaches(stored, asked, feed, question));
  const given = roled(touching, feed, action);
  const verdictOf = (of: readonly RoledRule[]) => (of.length === 0 ? 'out' : verdict(asked, contentOf(feed, of, question, family)));
  const now = verdictOf(given);
  const isExact = ({ rule }: StoredAccessRule) => formatTarget(rule.target) === formatTarget(target);
  const isOwn = ({ listId }: StoredAccessRule) => holds(feed, listId);
  const isRemovable = (stored: StoredAccessRule) => isExact(stored) && !isManaged(feed, stored);

  const used = new Set(given.map(({ stored }) => stored.id));
  const without = active.filter(({ id }) => !used.has(id));
  const uncut = action === 'block' ? touching.filter(({ id, rule }) => rule.action === 'allow' && !used.has(id)) : [];
  // Rules of other lists are relevant only as a remedy.
  const relevant = uncut.filter((stored) => isOwn(stored) || now !== 'out');
  const empty = without.filter((stored) => stored.rule.action === action && isExact(stored) && isOwn(stored));
  const agreed = agreedOf(feed, given, { ...question, asked, family });
  const leftOut = action === 'block' ? leftLists(feed) : new Set();
  const explained = [
    ...given.map(({ stored, role }) => ({
      stored,
      ...effectOf(stored, role === action, leftOut.has(stored.listId), agreed, feed, question),
    })),
    ...empty.map((stored) => ({ stored, effect: 'none' as const, idle: emptyBecause(target, geo) })),
    ...relevant.map((stored) => ({ stored, effect: 'none' as const, idle: 'not_cut_out' as const })),
  ].map(({ stored, ...each }): ExplainedRule => {
    const serving = widened(stored, feed, question);
    return { stored, ...each, relation: relationOf(stored.rule.target, target, serving.servedAs), ...serving };
  });

  const [removed, left] = [true, false].map((isRemoved) =>
    given.filter(({ stored, role }) => isRemoved === (role === action && isRemovable(stored))),
  );
  return {
    verdict: now,
    family,
    rules: explained,
    protectedBy: action === 'block' ? guard.within(asked) : [],
    rank: null,
    quorum: action === 'block' ? foundAgreement(feed, given, { ...question, asked, family }) : null,
    unblock: {
      removes: [...removed.map(({ stored }) => stored), ...empty.filter(isRemovable)],
      verdict: removed.length === 0 ? now : verdictOf(left),
    },
    subtract: now === 'out' || uncut.length === 0 ? null : subtractionOf(feed, touching, { ...question, asked, family }),
  };
}

export function rankedExplanation(
  feed: FeedSource,
  explanation: FeedExplanation,
  { served, rank, limit }: RankInFeed,
  question: Question,
): FeedExplanation {
  const asked = addressesOf(question.target, explanation.family, question.geo);
  const found = intersection(asked, served);
  const rules = explanation.rules.map((each) =>
    each.effect !== 'in' || reaches(each.stored, found, feed, question)
      ? each
      : { ...each, effect: 'none' as const, idle: 'left_out' as const },
  );
  return { ...explanation, verdict: verdict(asked, found), rules, rank: { rank, limit } };
}

type QuestionOfFamily = Question & { readonly asked: AddressSet; readonly family: Family };

/** The requested addresses with a quorum, before subtraction; undefined without one. */
function agreedOf(feed: FeedSource, given: readonly RoledRule[], { asked, family, ...question }: QuestionOfFamily): AddressSet | undefined {
  if (feed.agreeing === undefined || question.action !== 'block') return undefined;
  const uncut = { ...feed, profile: { ...feed.profile, subtractAllow: null } };
  const blocking = given.filter(({ role }) => role === 'block');
  return intersection(asked, contentOf(uncut, blocking, { ...question, guard: { ...question.guard, protected: undefined } }, family));
}

function effectOf(
  stored: StoredAccessRule,
  isIn: boolean,
  isLeft: boolean,
  agreed: AddressSet | undefined,
  feed: FeedSource,
  question: Question,
) {
  if (!isIn) return { effect: 'out' as const, idle: null };
  if (isLeft) return { effect: 'none' as const, idle: 'left_out' as const };
  const isIdle = agreed !== undefined && !reaches(stored, agreed, feed, question);
  return isIdle ? { effect: 'none' as const, idle: 'too_few_lists' as const } : { effect: 'in' as const, idle: null };
}

const leftLists = ({ agreeing }: FeedSource): ReadonlySet<string | null> =>
  new Set(agreeing?.cut.left.map((place) => agreeing.lists[place]!.id));

function foundAgreement(feed: FeedSource, given: readonly RoledRule[], question: QuestionOfFamily): FoundQuorum | null {
  const { agreeing } = feed;
  if (agreeing === undefined) return null;
  const { quorum, lists, cut } = agreeing;
  if (cut.least < 2) return null;
  const having = new Set(given.filter(({ role }) => role === 'block').map(({ stored }) => stored.listId));
  const places = lists.flatMap(({ id }, place) => (having.has(id) && !cut.left.includes(place) ? [place] : []));
  if (places.length === 0) return null;
  // `always` lists would hide the number of lists.
  const asking = (least: number) => ({
    ...feed,
    agreeing: { lists, quorum: { ...quorum, always: quorum.always.map(() => false) }, cut: { ...cut, least } },
  });
  const tooMany = firstReaching(places.length + 1, (least) => isEmpty(agreedOf(asking(least), given, question)!), 2);
  return {
    minSources: cut.least,
    found: tooMany - 1,
    lists: places.map((place) => ({
      name: lists[place]!.name,
      always: quorum.always[place]!,
      copies: quorum.copies[place]!.flatMap((other) => (places.includes(other) ? [lists[other]!.name] : [])),
    })),
  };
}

const emptyBecause = (target: Target, geo: GeoDatabase): Idle => (isEmpty(addressesOf(target, 'both', geo)) ? 'no_ranges' : 'other_family');

interface RoledRule {
  readonly stored: StoredAccessRule;
  readonly role: RuleRole;
}

export function roled(rules: readonly StoredAccessRule[], feed: FeedSource, action: AccessAction): RoledRule[] {
  const exceptions = action === 'block' ? exceptionsOf({ head: feed }) : undefined;
  return rules.flatMap((stored) =>
    rolesOf(stored, feed)
      .filter((role) => role === action || role === exceptions)
      .map((role) => ({ stored, role })),
  );
}

/** The narrowest `subtract_allow` value removing the addresses from a block feed, else the one leaving the fewest. */
export function subtractionOf(
  feed: FeedSource,
  rules: readonly StoredAccessRule[],
  { asked, family, ...question }: QuestionOfFamily,
): Subtraction | null {
  const now = feed.profile.subtractAllow ?? 'off';
  const values = (feed.kind === 'workspace' ? (['on'] as const) : (['on', 'workspace'] as const)).filter((value) => value !== now);
  const tried = values.map((value) => {
    const set = { ...feed, profile: { ...feed.profile, subtractAllow: value } };
    return { value, verdict: verdict(asked, contentOf(set, roled(rules, set, 'block'), question, family)) };
  });
  return tried.find((each) => each.verdict === 'out') ?? tried.findLast((each) => each.verdict === 'partly') ?? null;
}

export const isManaged = ({ managed }: FeedSource, { listId }: StoredAccessRule): boolean =>
  listId !== null && managed?.has(listId) === true;

const holds = ({ lists }: FeedSource, listId: string | null): boolean => lists === null || lists.has(listId!);

/** Empty for rules of other lists. */
export function rolesOf({ listId, rule }: StoredAccessRule, feed: FeedSource): RuleRole[] {
  const isException = feed.profile.subtractAllow === 'workspace' && rule.action === 'allow';
  return [...(holds(feed, listId) ? [rule.action] : []), ...(isException ? (['exception'] as const) : [])];
}

export function isActive(stored: StoredAccessRule, asOf: number): boolean {
  const expires = expiryOf(stored);
  return expires === 0 || expires > asOf;
}

export function contentOf(
  { profile, agreeing, hosts }: FeedSource,
  rules: readonly RoledRule[],
  { action, asOf, geo, guard }: Omit<Question, 'target'>,
  family: Family,
): AddressSet {
  // Lists with quorum or widened hosts separately, then all other rules.
  const widening = () => new Set(rules.flatMap(({ stored: { listId } }) => (listId !== null && hosts?.has(listId) ? [listId] : [])));
  const separate = agreeing?.lists.map(({ id }) => id) ?? (hosts === undefined ? [] : [...widening()]);
  const places = new Map(separate.map((id, place) => [id, place]));
  const groups = Map.groupBy(rules, ({ stored: { listId } }) => places.get(listId ?? '') ?? places.size);
  const parts = Array.from({ length: places.size + 1 }, (_, place) => ({
    hosts: hosts?.get(separate[place] ?? ''),
    rules: ruleTables(
      (groups.get(place) ?? []).map(({ stored, role }) => ({
        id: stored.id,
        role,
        target: stored.rule.target,
        expires: expiryOf(stored),
      })),
      asOf,
    ),
    levels: 0,
  }));
  const query = { family, action, asOf, classes: undefined, guarded: guard.protected, cut: agreeing?.cut };
  return addressesIn(feedContent({ parts, head: { profile, quorum: agreeing?.quorum } }, query, geo));
}

export function verdict(asked: AddressSet, content: AddressSet): Verdict {
  const found = intersection(asked, content);
  if (isEmpty(found)) return 'out';
  return isEmpty(difference(asked, found)) ? 'in' : 'partly';
}

function relationOf(sent: Target, asked: Target, servedAs: Target | null): Relation {
  if (formatTarget(sent) === formatTarget(asked)) return 'exact';
  const rule = servedAs ?? sent;
  if (rule.kind !== 'ip') return rule.kind;
  if (asked.kind !== 'ip') return 'overlapping';
  return rule.network.prefix <= asked.network.prefix ? 'covering' : 'covered';
}
