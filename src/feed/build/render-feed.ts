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

/** A whole feed but for the instant at which its content first appeared. */
export interface RenderedDocument extends Counted {
  readonly kind: 'rendered';
  readonly text: DocumentText;
  readonly hash: string;
}

/** More entries than the cap allows: nothing was rendered (spec 4.6). */
export interface OverCap extends Counted {
  readonly kind: 'too_large';
  readonly hint: string;
}

/** Which rules of a snapshot make a variant, without those that expire at the second `asOf` or before. */
function queryOf({ head }: Snapshot, { format, family, action }: Variant, asOf: number, guarded: AddressSet | undefined) {
  const { confidence, severity } = head.profile;
  const levels = { confidence: confidence ?? DEFAULT_LEVEL, severity: severity ?? DEFAULT_LEVEL };
  return { family, action, asOf, classes: FORMATS[format].rated ? classTable(levels) : undefined, guarded };
}

const limitOf = ({ head }: Snapshot, { format }: Variant) => entryLimitOf(head.profile, format);

/** How many entries networks are in a variant: those of each family. */
const entriesOf = (
  { head }: Snapshot,
  { format }: Variant,
  { classes, count }: FeedNetworks,
): { readonly v4: number; readonly v6: number } => {
  if (isBare(head.profile, format)) return hostCounts(classes);
  const v4 = classes.reduce((sum, each) => sum + each.v4.length, 0);
  return { v4, v6: count - v4 };
};

/** The variants that have the same entries have the same name. */
export const trimKey = ({ head }: Pick<Snapshot, 'head'>, { format, family }: Variant): string =>
  `${family}${FORMATS[format].rated ? ' rated' : ''}${isBare(head.profile, format) ? ' bare' : ''}`;

/** The networks of a feed, with its cap, and how many entries they are as it writes them; what it leaves out to keep within it is chosen. */
export function contentOfFeed(
  snapshot: Snapshot,
  variant: Variant,
  asOf: number,
  geo: GeoDatabase,
  guarded: AddressSet | undefined,
): Content & Pick<Counted, 'entryCount' | 'entryLimit' | 'fitted'> & { readonly v4Count: number } {
  const query = queryOf(snapshot, variant, asOf, guarded);
  const entryLimit = limitOf(snapshot, variant);
  // A rule of what is left out may expire, too.
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

/** How many those are, and the feed's cap. */
export function measureFeed(
  ...of: Parameters<typeof contentOfFeed>
): Pick<Counted, 'entryCount' | 'entryLimit' | 'fitted'> & { readonly v4Count: number } {
  const { entryCount, v4Count, entryLimit, fitted } = contentOfFeed(...of);
  return { entryCount, v4Count, entryLimit, fitted };
}

/** How many entries a feed would have if no never-block rules were cut out of it. */
function entriesWithoutSubtraction(...[snapshot, variant, asOf, geo, guarded]: Parameters<typeof contentOfFeed>): number {
  const query = { ...queryOf(snapshot, variant, asOf, guarded), cut: keptCut(snapshot.head, trimKey(snapshot, variant)) };
  const { v4, v6 } = entriesOf(snapshot, variant, withoutSubtraction(snapshot, query, geo));
  return v4 + v6;
}

/**
 * The text of a feed without the rules that expire at the second `asOf` or before, or why there is none. `guarded` are the addresses that
 * no block feed contains.
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
