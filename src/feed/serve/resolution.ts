import { feedRevision } from '../../account/feed.ts';
import type { FoundFeed, NamedDirectory } from '../../ports/snapshot.ts';
import type { Revisions } from '../document.ts';
import { DEFAULT_VARIANT, storedVariant, type Variant } from '../variant.ts';

export interface NamedFeed extends Revisions {
  readonly kind: 'named';
  readonly feedId: string | null;
  /** Defaults for requests (spec 4.4.3). */
  readonly defaults: Variant;
}

export type Resolution = NamedFeed | { readonly kind: 'unknown_list' } | { readonly kind: 'ambiguous'; readonly lists: readonly string[] };

/** Resolves a name to one of these lists or composed feeds (spec 4.4, SPEC D8.3). */
export function resolutionOf({ lists, feeds, ...revisions }: Pick<NamedDirectory, 'lists' | 'feeds'> & Revisions): Resolution {
  const found = [...lists, ...feeds];
  if (found.length === 0) return { kind: 'unknown_list' };
  return found.length === 1 ? namedFeed(found[0], revisions) : { kind: 'ambiguous', lists: found.map(({ id }) => id).sort() };
}

export const workspaceFeed = ({ revision, expressionRevision }: Revisions): NamedFeed => ({
  kind: 'named',
  feedId: null,
  revision,
  expressionRevision,
  defaults: DEFAULT_VARIANT,
});

const namedFeed = (feed: FoundFeed, { revision, expressionRevision }: Revisions): NamedFeed => ({
  kind: 'named',
  feedId: feed.id,
  revision: feedRevision(feed, feed.revision, revision),
  expressionRevision,
  defaults: storedVariant(feed),
});
