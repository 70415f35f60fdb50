import type { AddressSet } from '@weir/network/address-set.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import { contentHash, type DocumentText } from '../formats/stamp.ts';
import { FORMATS } from '../formats/table.ts';
import type { Snapshot } from '../held/snapshot.ts';
import { classTable, DEFAULT_LEVEL } from '../levels.ts';
import { entryLimitOf, hostStyleOf, type Variant } from '../variant.ts';
import { tooLargeHint } from './cap-hint.ts';
import { type Content, countWithoutSubtraction, feedContent } from './content.ts';
import { asHosts, bareHint } from './hosts.ts';

interface Counted {
  readonly entryCount: number;
  /** How many of the entries are IPv4; undefined for what is no feed. */
  readonly v4Count?: number | undefined;
  readonly entryLimit: number;
  /** The next second at which a rule of the content expires, so far as the store was not asked for it yet; Infinity when none does. */
  readonly lapsesAt: number;
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

const limitOf = ({ head }: Snapshot) => entryLimitOf(head.profile);
const isBare = ({ head }: Snapshot, { format }: Variant) => FORMATS[format].mayBeBare === true && hostStyleOf(head.profile) === 'bare';

/** The networks that `renderFeed` renders. */
export const contentOfFeed = (
  snapshot: Snapshot,
  variant: Variant,
  asOf: number,
  geo: GeoDatabase,
  guarded: AddressSet | undefined,
): Content => {
  const content = feedContent(snapshot, queryOf(snapshot, variant, asOf, guarded), geo);
  return isBare(snapshot, variant) ? asHosts(content, limitOf(snapshot)) : content;
};

/** How many those are, and the feed's cap. */
export const measureFeed = (...[snapshot, ...rest]: Parameters<typeof contentOfFeed>): Pick<Counted, 'entryCount' | 'entryLimit'> => ({
  entryCount: contentOfFeed(snapshot, ...rest).count,
  entryLimit: limitOf(snapshot),
});

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
  const bare = isBare(snapshot, variant);
  const content = contentOfFeed(snapshot, variant, asOf, geo, guarded);
  const v4Count = content.classes.reduce((sum, { v4 }) => sum + v4.length, 0);
  const counted = { entryCount: content.count, v4Count, entryLimit: limitOf(snapshot), lapsesAt: content.lapsesAt };
  if (counted.entryCount > counted.entryLimit) {
    if (bare)
      return { kind: 'too_large', ...counted, hint: bareHint(feedContent(snapshot, queryOf(snapshot, variant, asOf, guarded), geo)) };
    const cost = counted.entryCount - countWithoutSubtraction(snapshot, queryOf(snapshot, variant, asOf, guarded), geo);
    return { kind: 'too_large', ...counted, hint: tooLargeHint(snapshot, variant, asOf, geo, cost) };
  }
  const text = FORMATS[format].render(
    content,
    { name, description, action, family },
    snapshot.ranges.blocks(`${format} ${family} ${action} ${bare}`, bare),
  );
  return { kind: 'rendered', ...counted, text, hash: contentHash(text) };
}
