/** What an operation works with: ports, and who asks for what. The command line and the HTTP layer each make one. */
import type { Author, Caller } from '../account/caller.ts';
import type { Permission } from '../account/permission.ts';
import type { Schemes } from '../expression/scheme.ts';
import type { FeedExplainer } from '../feed/explain/explain.ts';
import type { WatchedFeed } from '../feed/serve/feed-watch.ts';
import type { ChangeOptions, OnceOnly } from '../ports/account-store.ts';
import type { StoreReads, StoreWrites } from '../ports/store.ts';
import type { Message } from '../ports/stream.ts';
import type { Submission } from './submission.ts';

/** What operations ask of the service. What a process does not have is undefined. */
export interface ManagePorts {
  readonly store: StoreReads & StoreWrites;
  /** ms since 1970. */
  readonly now: () => number;
  /** Lists of a workspace; 0 = no limit. */
  readonly maxLists: number;
  /** Appends to the stream; resolves when the messages are durable. */
  publish(messages: readonly Message[]): Promise<void>;
  /** Waits until what is on the stream has landed, for 2 s; how many messages are left. */
  untilLanded(): Promise<number>;
  readonly submission: Submission;
  /** undefined where this process builds no feeds. */
  readonly explainer: FeedExplainer | undefined;
  /** The last known sizes of the feeds of this process. */
  readonly feeds: () => readonly WatchedFeed[];
  readonly schemes: Schemes;
  /** Gives other work of this thread its turn. */
  pause(): Promise<void>;
}

/** One call of an operation. */
export interface ManageContext extends ManagePorts {
  readonly workspaceId: string;
  /** The key that asks. */
  readonly caller: Caller;
  readonly by: Author;
  /** What the caller may do; null: everything (a command). */
  readonly permissions: readonly Permission[] | null;
  /** The states that the caller expects of what is changed; undefined: any. */
  readonly ifMatch: readonly string[] | undefined;
  /** Set when it is to be done once. */
  readonly once: OnceOnly | undefined;
}

/** How the store is told of a change. */
export const changeOptions = ({ by, ifMatch, once }: ManageContext): ChangeOptions => ({ by, ifMatch, once });

/** The author of changes that a command makes. */
export const BY_COMMAND: Author = { keyId: null, actor: null };
