import type { FeedProfile } from '../account/feed.ts';
import { hostCounts } from './build/hosts.ts';
import type { FeedNetworks } from './formats/format.ts';
import type { TrimResult } from './trim.ts';
import { entryLimitOf, isBare, type Variant } from './variant.ts';

/** Facts of a built document: made with its content on the feed thread, and passed on as one object to headers, 413s and monitoring. */
export interface FeedFacts {
  readonly entryCount: number;
  /** undefined for other documents than feeds. */
  readonly v4Count?: number | undefined;
  readonly entryLimit: number;
  /** Whole seconds, Infinity: never. */
  readonly nextExpiry: number;
  /** undefined: no trimmable lists. */
  readonly trimmed?: TrimResult | undefined;
  /** Networks whose blocks are only reported (SPEC D62.6); undefined: none. */
  readonly warned?: readonly string[] | undefined;
  readonly canary?: string | undefined;
}

export function feedFacts(
  profile: FeedProfile,
  { format }: Variant,
  { classes, count, nextExpiry }: FeedNetworks & Pick<FeedFacts, 'nextExpiry'>,
  trimmed?: TrimResult,
): FeedFacts & { readonly v4Count: number } {
  const v4 = classes.reduce((sum, each) => sum + each.v4.length, 0);
  const entries = isBare(profile, format) ? hostCounts(classes) : { v4, v6: count - v4 };
  return { entryCount: entries.v4 + entries.v6, v4Count: entries.v4, entryLimit: entryLimitOf(profile, format), nextExpiry, trimmed };
}

/** Rounded down. */
export const capPercent = ({ entryCount, entryLimit }: FeedFacts): number => Math.floor((entryCount / entryLimit) * 100);
