/** What an operation works with: ports, and who asks for what. The command line and the HTTP layer each make one. */
import type { Author } from '../account/caller.ts';
import type { Permission } from '../account/permission.ts';
import type { ChangeOptions, OnceOnly } from '../ports/account-store.ts';
import type { StoreReads, StoreWrites } from '../ports/store.ts';

/** What operations ask of the service. What a process does not have is undefined. */
export interface ManagePorts {
  readonly store: StoreReads & StoreWrites;
  /** ms since 1970. */
  readonly now: () => number;
  /** Lists of a workspace; 0 = no limit. */
  readonly maxLists: number;
}

/** One call of an operation. */
export interface ManageContext extends ManagePorts {
  readonly workspaceId: string;
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
