/** Feeds served as of a moment until they are thawed (SPEC D60). */
import type { Author } from '../../account/caller.ts';
import type { FeedProfile } from '../../account/feed.ts';
import { WeirError } from '../../errors.ts';
import type { Canary, QuorumSettings, SnapshotHead, SnapshotList } from '../snapshot.ts';
import type { ChangeOptions } from './account-store.ts';

export const MOST_FREEZES = 20;
export const MOST_FROZEN_RULES = 4_000_000;

/** As JSON. `counts`: rules of each list, then of the never-block rules of other lists. */
export interface FrozenHead extends Pick<SnapshotHead, 'kind' | 'guardRails'> {
  readonly lists: readonly Omit<SnapshotList, 'key'>[];
  readonly quorum: Omit<QuorumSettings, 'fits'> | null;
  readonly counts: readonly number[];
}

/** A feed read at one moment. `feedId` null: the workspace's feed. */
export interface FrozenContent {
  readonly feedId: string | null;
  readonly profile: FeedProfile;
  readonly head: FrozenHead;
  readonly fits: string | null;
  readonly rules: number;
  /** Compressed rules; `part` is the place of the list. */
  readonly pieces: readonly { readonly part: number; readonly rules: Uint8Array }[];
}

/** Outside the main thread. TOO_LARGE; LIMITED: the queue is full. */
export type FeedFreezer = (workspaceId: string, feedId: string | null) => Promise<FrozenContent>;

export interface Freeze {
  readonly feedId: string | null;
  readonly name: string;
  readonly rules: number;
  readonly reason: string | null;
  readonly by: Author;
  /** ms */
  readonly since: number;
  /** null: a person froze the feed. */
  readonly canary: Canary | null;
}

/** The fault of freezing it again. A thaw would serve the change of a canary to all keys. */
export const alreadyFrozen = (canary: Canary | null) =>
  new WeirError(
    'REFUSED',
    canary === null
      ? 'the feed is frozen: thaw it first'
      : 'a large change of the feed waits for its canaries, and other keys keep the feed: stop the canary instead',
  );

export interface FreezeReads {
  /** Oldest first. */
  freezes(workspaceId: string): Promise<Freeze[]>;
}

export interface FreezeWrites {
  /** REFUSED: frozen, or at the limits; NOT_FOUND: deleted. */
  freezeFeed(workspaceId: string, content: FrozenContent, reason: string | null, change?: ChangeOptions): Promise<Freeze>;
  /** The others keep the frozen feed until a person thaws it. Throws REFUSED without a canary. */
  stopCanary(workspaceId: string, feedId: string | null, reason: string | null, change?: ChangeOptions): Promise<Freeze>;
  /** Throws REFUSED if the feed is not frozen. */
  thawFeed(workspaceId: string, feedId: string | null, reason: string | null, change?: ChangeOptions): Promise<Freeze>;
}
