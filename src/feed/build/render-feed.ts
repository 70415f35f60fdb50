import { type AddressSet, difference, intersection } from '@weir/network/address-set.ts';
import type { BlockGuard, GuardRails } from '../../account/guard-rails.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import { type FeedFacts, feedFacts } from '../facts.ts';
import type { FeedNetworks, NetworkClass } from '../formats/format.ts';
import { contentHash, type DocumentText } from '../formats/stamp.ts';
import { FORMATS } from '../formats/table.ts';
import { activeParts } from '../index/feed-ranges.ts';
import type { Snapshot } from '../index/snapshot.ts';
import { classTable, DEFAULT_LEVEL } from '../levels.ts';
import { entryLimitOf, isBare, storedVariant, type Variant, variantOf } from '../variant.ts';
import { bestEntries, bestRank, type Ranked } from './best.ts';
import { tooLargeHint } from './cap-hint.ts';
import { addressesIn, type Content, feedContent, type ListCut, withoutSubtraction } from './content.ts';
import { asHosts, bareHint } from './hosts.ts';
import { chosenCut, storedCut } from './trim.ts';

export interface RenderedDocument {
  readonly kind: 'rendered';
  readonly facts: FeedFacts;
  readonly text: DocumentText;
  readonly hash: string;
}

export interface OverCap {
  readonly kind: 'too_large';
  readonly facts: FeedFacts;
  readonly hint: string;
}

function queryOf({ head }: Snapshot, { format, family, action }: Variant, asOf: number, guarded: AddressSet | undefined) {
  const { confidence, severity } = head.profile;
  const levels = { confidence: confidence ?? DEFAULT_LEVEL, severity: severity ?? DEFAULT_LEVEL };
  const classes = FORMATS[format].rated ? classTable(levels) : undefined;
  return { family, action, asOf, classes, guarded, asSent: isBare(head.profile, format) };
}

/** Variants with equal entries share a key. */
export const trimKey = ({ head }: Pick<Snapshot, 'head'>, { format, family }: Variant): string =>
  `${family}${FORMATS[format].rated ? ' rated' : ''}${isBare(head.profile, format) ? ' bare' : ''}`;

export function contentOfFeed(
  snapshot: Snapshot,
  variant: Variant,
  asOf: number,
  geo: GeoDatabase,
  guarded: AddressSet | undefined,
): { readonly content: Content; readonly facts: ReturnType<typeof feedFacts> } {
  const query = queryOf(snapshot, variant, asOf, guarded);
  const { head } = snapshot;
  // Rules of excluded lists expire too.
  let nextExpiry = Number.POSITIVE_INFINITY;
  const contentAt = (cut?: ListCut) => {
    const content = feedContent(snapshot, { ...query, cut }, geo);
    nextExpiry = Math.min(nextExpiry, content.nextExpiry);
    return content;
  };
  const entriesAt = (cut: ListCut) => feedFacts(head.profile, variant, contentAt(cut)).entryCount;
  const limit = entryLimitOf(head.profile, variant.format);
  const chosen = variant.action === 'block' ? chosenCut(head, trimKey(snapshot, variant), limit, entriesAt) : undefined;
  const whole = contentAt(chosen?.cut);
  const best = bestContent(snapshot, variant, whole, query, geo);
  const content = best?.content ?? whole;
  const facts = feedFacts(head.profile, variant, { ...content, nextExpiry }, best?.trimmed ?? chosen?.trimmed);
  return { content, facts: { ...facts, ...(head.canary !== undefined && { canary: head.canary }) } };
}

export interface RankInFeed {
  readonly served: AddressSet;
  /** The place of the best address left out, from 1. */
  readonly rank: number;
  readonly limit: number;
}

/** The stored variant's addresses, and how far some of them are from it; undefined: none is left out by its rank. */
export function rankInFeed(
  snapshot: Snapshot,
  asked: AddressSet,
  asOf: number,
  geo: GeoDatabase,
  guarded: AddressSet | undefined,
): RankInFeed | undefined {
  const variant = storedVariant(snapshot.head.profile);
  const query = queryOf(snapshot, variant, asOf, guarded);
  const whole = feedContent(snapshot, query, geo);
  const of = ranked(snapshot, variant, whole, query, geo);
  const served = addressesIn(bestContent(snapshot, variant, whole, query, geo)?.content ?? whole);
  const rank = of && bestRank(of, difference(intersection(asked, addressesIn(whole)), served));
  return rank === undefined ? undefined : { served, rank, limit: entryLimitOf(snapshot.head.profile, variant.format) };
}

/** undefined: the feed is not trimmed in this way. */
function ranked(
  { head, parts }: Pick<Snapshot, 'head' | 'parts'>,
  variant: Variant,
  { classes }: Content,
  query: ReturnType<typeof queryOf>,
  geo: GeoDatabase,
): Ranked | undefined {
  if (variant.action !== 'block' || head.quorum?.fit !== 'best') return undefined;
  return { head, parts: activeParts(parts, query, geo), classes, isSingle: isBare(head.profile, variant.format) };
}

function bestContent(...[snapshot, variant, whole, query, geo]: Parameters<typeof ranked>) {
  const { profile } = snapshot.head;
  const of = ranked(snapshot, variant, whole, query, geo);
  const { entryCount, entryLimit } = feedFacts(profile, variant, whole);
  const best = of && bestEntries(of, entryCount, entryLimit);
  return best && { content: { ...whole, ...networksOf(best.classes) }, trimmed: best.trimmed };
}

const networksOf = (classes: readonly NetworkClass[]): FeedNetworks => ({
  classes,
  count: classes.reduce((sum, { v4, v6 }) => sum + v4.length + v6.length, 0),
});

export function servedContent(
  snapshot: Snapshot,
  variant: Variant,
  asOf: number,
  geo: GeoDatabase,
  guarded: AddressSet | undefined,
): { readonly content: Content; readonly left: readonly number[] } {
  const cut = variant.action === 'block' ? storedCut(snapshot.head, trimKey(snapshot, variant)) : undefined;
  const query = { ...queryOf(snapshot, variant, asOf, guarded), cut };
  const whole = feedContent(snapshot, query, geo);
  return { content: bestContent(snapshot, variant, whole, query, geo)?.content ?? whole, left: cut?.left ?? [] };
}

/** The stored variant with other parts. `guard`: by the workspace's guard rails. */
export function contentAsked(
  snapshot: Snapshot,
  asked: Partial<Variant>,
  asOf: number,
  geo: GeoDatabase,
  guard: (own: GuardRails) => Pick<BlockGuard, 'protected'>,
): ReturnType<typeof contentOfFeed> {
  const { profile, guardRails } = snapshot.head;
  return contentOfFeed(snapshot, variantOf(asked, storedVariant(profile)), asOf, geo, guard(guardRails).protected);
}

function entriesWithoutSubtraction(...[snapshot, variant, asOf, geo, guarded]: Parameters<typeof contentOfFeed>): number {
  const query = { ...queryOf(snapshot, variant, asOf, guarded), cut: storedCut(snapshot.head, trimKey(snapshot, variant)) };
  return feedFacts(snapshot.head.profile, variant, withoutSubtraction(snapshot, query, geo)).entryCount;
}

/** Excludes rules expiring by `asOf` (whole seconds), and protected addresses. Returns the text, or the reason for none. */
export function renderFeed(
  snapshot: Snapshot,
  variant: Variant,
  asOf: number,
  geo: GeoDatabase,
  { protected: guarded, warned }: Pick<BlockGuard, 'protected' | 'warned'>,
): RenderedDocument | OverCap {
  const { name, description } = snapshot.head.profile;
  const { format, family, action } = variant;
  const bare = isBare(snapshot.head.profile, format);
  const { content, facts: counted } = contentOfFeed(snapshot, variant, asOf, geo, guarded);
  const found = action === 'block' && warned.protected !== undefined ? warned.within(addressesIn(content)) : [];
  const facts = found.length === 0 ? counted : { ...counted, warned: found };
  if (facts.entryCount > facts.entryLimit) {
    if (bare) return { kind: 'too_large', facts, hint: bareHint(content.classes) };
    const cost = facts.entryCount - entriesWithoutSubtraction(snapshot, variant, asOf, geo, guarded);
    return { kind: 'too_large', facts, hint: tooLargeHint(snapshot, variant, asOf, geo, cost) };
  }
  const text = FORMATS[format].render(
    bare ? { classes: asHosts(content.classes), count: facts.entryCount } : content,
    { name, description, action, family, leftOut: facts.trimmed?.leftOut },
    snapshot.ranges.blocks(`${format} ${family} ${action} ${bare}`, bare),
  );
  return { kind: 'rendered', facts, text, hash: contentHash(text) };
}
