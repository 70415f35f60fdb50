import { feedRevision } from '../../account/feed.ts';
import type { FoundFeed, NamedDirectory } from '../../ports/snapshot.ts';
import type { Revisions } from '../document.ts';
import { DEFAULT_VARIANT, storedVariant, type Variant } from '../variant.ts';

/** The feed that a name stands for: the workspace's (`feedId` null), a list's or a composed one. */
export interface NamedFeed extends Revisions {
  readonly kind: 'named';
  readonly feedId: string | null;
  /** What applies where a request says nothing (spec 4.4.3). */
  readonly defaults: Variant;
}

/** What a name stands for in a workspace. */
export type Resolution =
  | NamedFeed
  | { readonly kind: 'unknown_list' }
  /** The UUIDs of the lists that have the name. */
  | { readonly kind: 'ambiguous'; readonly lists: readonly string[] };

/** What a name stands for that these lists and composed feeds have (spec 4.4, SPEC D8.3), in a workspace of this revision. */
export function resolutionOf({ lists, feeds, ...revisions }: Pick<NamedDirectory, 'lists' | 'feeds'> & Revisions): Resolution {
  const found = [...lists, ...feeds];
  if (found.length === 0) return { kind: 'unknown_list' };
  return found.length === 1 ? namedFeed(found[0], revisions) : { kind: 'ambiguous', lists: found.map(({ id }) => id).sort() };
}

/** The workspace's own feed. */
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
