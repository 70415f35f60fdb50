/** The seam between the thread that serves feeds and the thread that builds them. */
import type { Variant } from './variant.ts';

/** The last content of a representation that this replica has shown. */
export interface Shown {
  readonly hash: string;
  /** Whole seconds. */
  readonly lastModified: number;
  /** Whether other content was shown with this instant before. */
  readonly sharesInstant: boolean;
  /** Whether its bytes are still here and hold no lapsed rule, so that they can be served a little longer. */
  readonly usable: boolean;
}

/** Asks for one representation of one feed (`listId` null: the workspace's). Times are ms since 1970. */
export interface BuildRequest {
  readonly workspaceId: string;
  readonly listId: string | null;
  readonly variant: Variant;
  /** A snapshot of an earlier generation is read anew, and then is of this one. */
  readonly generation: number;
  /** The store's clock when the snapshot's revision was last found unmoved; 0 when it never was. */
  readonly confirmedAt: number;
  /** The store does not answer: build from the last snapshot without asking it anything. */
  readonly offline: boolean;
  readonly shown: Shown | undefined;
}

/** The snapshot that a build was made from. */
interface BuildSource {
  readonly revision: number;
  readonly generation: number;
  /** When its read began by this machine's clock, ms. */
  readonly readAt: number;
  /** The store's clock when it was read or last confirmed, ms. */
  readonly takenAt: number;
  readonly geoVersion: string;
  readonly entryCount: number;
  readonly entryLimit: number;
  /** Whole seconds: from then on this build must not be served. Infinity when nothing in it ends. */
  readonly until: number;
}

/** A whole representation. */
export interface BuiltFeed extends BuildSource {
  readonly kind: 'feed';
  /** The identity body. Its buffer is its own, so that it can be handed from thread to thread. */
  readonly bytes: Uint8Array;
  /** MD5 of `bytes`, lowercase hexadecimal. */
  readonly md5: string;
  /** Names the content: SHA-256 of `bytes` without the line that says when they were generated. */
  readonly hash: string;
  /** Whole seconds. */
  readonly lastModified: number;
  /** Other content was shown with this instant too. */
  readonly sharesInstant: boolean;
  /** Whole seconds: lies ahead when what was shown before is to be served until then. */
  readonly begins: number;
  /** Whether `lastModified` had to be brought forward: nothing is to be built before `until`. */
  readonly provisional: boolean;
}

/** More entries than the feed's cap (spec 4.6). */
interface TooLargeFeed extends BuildSource {
  readonly kind: 'too_large';
  readonly hint: string;
}

export type BuildResult =
  | BuiltFeed
  | TooLargeFeed
  /** Workspace or list is gone. */
  | { readonly kind: 'gone' }
  /** Nothing in memory to build from while offline. */
  | { readonly kind: 'no_snapshot' };

/** Builds feeds. Rejects when the store does not answer. */
export interface FeedBuilder {
  build(request: BuildRequest): Promise<BuildResult>;
  /** Drops the snapshot of a feed that nobody asks for any more. */
  forget(workspaceId: string, listId: string | null): Promise<void>;
}
