/** The past of feeds, day by day (SPEC D16.13). Types, and how long it is kept; `storeConformance` is run by every driver. */

/** Days that are kept. */
export const KEPT_DAYS = 366;

/** What happened to the access rules of a list on one day, or to those of a whole workspace, and how large the block feed was. */
export interface FeedDay {
  /** Days since 1970, UTC. */
  readonly day: number;
  /** Entries that set a rule, those that renewed one included. */
  readonly added: number;
  /** Rules whose expiry passed. */
  readonly expired: number;
  /** Entries that unblocked or deleted, and rules that were deleted by their ids. */
  readonly removed: number;
  /** Rules that undoing a batch removed or put back. */
  readonly undone: number;
  /** Networks of the block feed as it was built last that day, and at most; null where it was not built in that family. */
  readonly v4: FamilySize | null;
  readonly v6: FamilySize | null;
}

export interface FamilySize {
  readonly last: number;
  readonly most: number;
}

/** How large the block feed of a list, a composed feed or a workspace (`feedId` null) was on a day. */
export interface FeedSizeOfDay {
  readonly workspaceId: string;
  readonly feedId: string | null;
  /** Days since 1970, UTC. */
  readonly day: number;
  readonly v4: FamilySize | null;
  readonly v6: FamilySize | null;
}

export interface HistoryReads {
  /**
   * The days from `from` to `to` (since 1970, both included) on which something is known of a list, a composed feed or, null, the
   * workspace in all; oldest first. Composed feeds have sizes only. None for a feed that is not the workspace's.
   */
  feedDays(workspaceId: string, feedId: string | null, days: { from: number; to: number }): Promise<FeedDay[]>;
}

export interface HistoryWrites {
  /** Notes sizes: the last one of a day replaces the one before, the largest stays. Those of feeds that are gone are passed over. */
  noteFeedSizes(sizes: readonly FeedSizeOfDay[]): Promise<void>;
}
