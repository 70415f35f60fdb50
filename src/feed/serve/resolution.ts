import { feedRevision } from '../../account/feed.ts';
import type { FoundFeed, NamedDirectory } from '../../ports/snapshot.ts';
import type { Revisions } from '../document.ts';
import { DEFAULT_VARIANT, storedVariant, type Variant } from '../variant.ts';

export interface NamedFeed extends Revisions {
  readonly kind: 'named';
  readonly feedId: string | null;
  readonly name: string;
  readonly signingSecret: Uint8Array | null;
  /** Defaults for requests (spec 4.4.3). */
  readonly defaults: Variant;
  /** Ids of the keys that have the current content of a frozen feed. */
  readonly canaries?: readonly string[] | undefined;
}

export type Resolution = NamedFeed | { readonly kind: 'unknown_list' } | { readonly kind: 'ambiguous'; readonly lists: readonly string[] };

type Found = Pick<NamedDirectory, 'name' | 'signingSecret' | 'freezes'> & Revisions;

/** Resolves a name to one of these lists or composed feeds (spec 4.4, SPEC D8.3). */
export function resolutionOf({ lists, feeds, ...found }: Pick<NamedDirectory, 'lists' | 'feeds'> & Found): Resolution {
  const all = [...lists, ...feeds];
  if (all.length === 0) return { kind: 'unknown_list' };
  return all.length === 1 ? namedFeed(all[0], found) : { kind: 'ambiguous', lists: all.map(({ id }) => id).sort() };
}

export const workspaceFeed = ({ name, signingSecret, revision, expressionRevision, freezes }: Found): NamedFeed => ({
  kind: 'named',
  feedId: null,
  name,
  signingSecret,
  revision,
  expressionRevision,
  frozenRevision: frozenIn(freezes, null)?.revision,
  canaries: frozenIn(freezes, null)?.canary?.keys,
  defaults: DEFAULT_VARIANT,
});

const frozenIn = (freezes: Found['freezes'], feedId: string | null) => freezes?.find((each) => each.feedId === feedId);

const namedFeed = (feed: FoundFeed, { signingSecret, revision, expressionRevision, freezes }: Found): NamedFeed => ({
  kind: 'named',
  feedId: feed.id,
  name: feed.name,
  signingSecret,
  revision: feedRevision(feed, feed.revision, revision),
  expressionRevision,
  frozenRevision: frozenIn(freezes, feed.id)?.revision,
  canaries: frozenIn(freezes, feed.id)?.canary?.keys,
  defaults: storedVariant(frozenIn(freezes, feed.id)?.profile ?? feed),
});
