import type { AddressSet } from '@weir/network/address-set.ts';
import type { BlockGuard, GuardRails } from '../../account/guard-rails.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import { type FeedFacts, feedFacts } from '../facts.ts';
import { contentHash, type DocumentText } from '../formats/stamp.ts';
import { FORMATS } from '../formats/table.ts';
import type { Snapshot } from '../index/snapshot.ts';
import { classTable, DEFAULT_LEVEL } from '../levels.ts';
import { entryLimitOf, isBare, storedVariant, type Variant, variantOf } from '../variant.ts';
import { tooLargeHint } from './cap-hint.ts';
import { type Content, feedContent, type ListCut, withoutSubtraction } from './content.ts';
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

/** Selects the variant's rules, excluding those expiring at `asOf` (whole seconds) or before. */
function queryOf({ head }: Snapshot, { format, family, action }: Variant, asOf: number, guarded: AddressSet | undefined) {
  const { confidence, severity } = head.profile;
  const levels = { confidence: confidence ?? DEFAULT_LEVEL, severity: severity ?? DEFAULT_LEVEL };
  const classes = FORMATS[format].rated ? classTable(levels) : undefined;
  return { family, action, asOf, classes, guarded, asSent: isBare(head.profile, format) };
}

/** Variants with equal entries share a key. */
export const trimKey = ({ head }: Pick<Snapshot, 'head'>, { format, family }: Variant): string =>
  `${family}${FORMATS[format].rated ? ' rated' : ''}${isBare(head.profile, format) ? ' bare' : ''}`;

/** The networks of a feed after trimming, and their facts. */
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
  const content = contentAt(chosen?.cut);
  const facts = feedFacts(head.profile, variant, { ...content, nextExpiry }, chosen?.trimmed);
  return { content, facts: { ...facts, ...(head.canary !== undefined && { canary: head.canary }) } };
}

/** The networks as last trimmed, and the places of the lists left out. */
export function servedContent(
  snapshot: Snapshot,
  variant: Variant,
  asOf: number,
  geo: GeoDatabase,
  guarded: AddressSet | undefined,
): { readonly content: Content; readonly left: readonly number[] } {
  const cut = variant.action === 'block' ? storedCut(snapshot.head, trimKey(snapshot, variant)) : undefined;
  return { content: feedContent(snapshot, { ...queryOf(snapshot, variant, asOf, guarded), cut }, geo), left: cut?.left ?? [] };
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

/**
 * Excludes rules expiring at `asOf` (whole seconds) or before, and the addresses of `guarded`. Returns the text, or the reason for having
 * none.
 */
export function renderFeed(
  snapshot: Snapshot,
  variant: Variant,
  asOf: number,
  geo: GeoDatabase,
  guarded: AddressSet | undefined,
): RenderedDocument | OverCap {
  const { name, description } = snapshot.head.profile;
  const { format, family, action } = variant;
  const bare = isBare(snapshot.head.profile, format);
  const { content, facts } = contentOfFeed(snapshot, variant, asOf, geo, guarded);
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
