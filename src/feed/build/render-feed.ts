import type { AddressSet } from '@weir/network/address-set.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { BuildSource } from '../builder.ts';
import type { FeedNetworks } from '../formats/format.ts';
import { contentHash, type DocumentText } from '../formats/stamp.ts';
import { FORMATS } from '../formats/table.ts';
import type { Snapshot } from '../index/snapshot.ts';
import { classTable, DEFAULT_LEVEL } from '../levels.ts';
import { entryLimitOf, isBare, type Variant } from '../variant.ts';
import { tooLargeHint } from './cap-hint.ts';
import { type Content, feedContent, type ListCut, withoutSubtraction } from './content.ts';
import { asHosts, bareHint, hostCounts } from './hosts.ts';
import { chosenCut, keptCut } from './trim.ts';
import type { TakenCounts } from './versioned-content.ts';

interface Counted extends TakenCounts {
  readonly v4Count?: BuildSource['v4Count'];
}

export interface RenderedDocument extends Counted {
  readonly kind: 'rendered';
  readonly text: DocumentText;
  readonly hash: string;
}

export interface OverCap extends Counted {
  readonly kind: 'too_large';
  readonly hint: string;
}

/** Selects the variant's rules, excluding those expiring at `asOf` (whole seconds) or before. */
function queryOf({ head }: Snapshot, { format, family, action }: Variant, asOf: number, guarded: AddressSet | undefined) {
  const { confidence, severity } = head.profile;
  const levels = { confidence: confidence ?? DEFAULT_LEVEL, severity: severity ?? DEFAULT_LEVEL };
  return { family, action, asOf, classes: FORMATS[format].rated ? classTable(levels) : undefined, guarded };
}

const limitOf = ({ head }: Snapshot, { format }: Variant) => entryLimitOf(head.profile, format);

const entriesOf = (
  { head }: Snapshot,
  { format }: Variant,
  { classes, count }: FeedNetworks,
): { readonly v4: number; readonly v6: number } => {
  if (isBare(head.profile, format)) return hostCounts(classes);
  const v4 = classes.reduce((sum, each) => sum + each.v4.length, 0);
  return { v4, v6: count - v4 };
};

/** Variants with equal entries share a key. */
export const trimKey = ({ head }: Pick<Snapshot, 'head'>, { format, family }: Variant): string =>
  `${family}${FORMATS[format].rated ? ' rated' : ''}${isBare(head.profile, format) ? ' bare' : ''}`;

/** The networks of a feed after trimming, its entries as rendered, and its cap. */
export function contentOfFeed(
  snapshot: Snapshot,
  variant: Variant,
  asOf: number,
  geo: GeoDatabase,
  guarded: AddressSet | undefined,
): Content & Pick<Counted, 'entryCount' | 'entryLimit' | 'fitted'> & { readonly v4Count: number } {
  const query = queryOf(snapshot, variant, asOf, guarded);
  const entryLimit = limitOf(snapshot, variant);
  // Rules of excluded lists expire too.
  let nextExpiry = Number.POSITIVE_INFINITY;
  const contentAt = (cut?: ListCut) => {
    const content = feedContent(snapshot, { ...query, cut }, geo);
    const { v4, v6 } = entriesOf(snapshot, variant, content);
    nextExpiry = Math.min(nextExpiry, content.nextExpiry);
    return { ...content, entryCount: v4 + v6, v4Count: v4 };
  };
  const chosen =
    variant.action === 'block'
      ? chosenCut(snapshot.head, trimKey(snapshot, variant), entryLimit, (cut) => contentAt(cut).entryCount)
      : undefined;
  const content = contentAt(chosen?.cut);
  return { ...content, nextExpiry, entryLimit, fitted: chosen?.fitted };
}

export function measureFeed(
  ...of: Parameters<typeof contentOfFeed>
): Pick<Counted, 'entryCount' | 'entryLimit' | 'fitted'> & { readonly v4Count: number } {
  const { entryCount, v4Count, entryLimit, fitted } = contentOfFeed(...of);
  return { entryCount, v4Count, entryLimit, fitted };
}

export function entriesWithoutSubtraction(...[snapshot, variant, asOf, geo, guarded]: Parameters<typeof contentOfFeed>): number {
  const query = { ...queryOf(snapshot, variant, asOf, guarded), cut: keptCut(snapshot.head, trimKey(snapshot, variant)) };
  const { v4, v6 } = entriesOf(snapshot, variant, withoutSubtraction(snapshot, query, geo));
  return v4 + v6;
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
  const content = contentOfFeed(snapshot, variant, asOf, geo, guarded);
  const { entryCount, v4Count, entryLimit, nextExpiry, classes, fitted } = content;
  const counted = { entryCount, v4Count, entryLimit, nextExpiry, fitted };
  if (entryCount > entryLimit) {
    if (bare) return { kind: 'too_large', ...counted, hint: bareHint(classes) };
    const cost = entryCount - entriesWithoutSubtraction(snapshot, variant, asOf, geo, guarded);
    return { kind: 'too_large', ...counted, hint: tooLargeHint(snapshot, variant, asOf, geo, cost) };
  }
  const text = FORMATS[format].render(
    bare ? { classes: asHosts(classes), count: entryCount } : content,
    { name, description, action, family, leftOut: fitted?.leftOut },
    snapshot.ranges.blocks(`${format} ${family} ${action} ${bare}`, bare),
  );
  return { kind: 'rendered', ...counted, text, hash: contentHash(text) };
}
