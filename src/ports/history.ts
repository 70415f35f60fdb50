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
  /** Packets and requests that bouncers told to have dropped, and bytes (SPEC D31.4); of a workspace, those of no list too. */
  readonly hits: number;
  readonly hitBytes: number;
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

/** What one client has dropped in one window of time. */
export interface HitWindow {
  /** Names it, so that one that comes again is not counted again; null: nothing tells that. */
  readonly digest: string | null;
  /** Of the lists of these names; null: of none. */
  readonly hits: readonly { readonly list: string | null; readonly packets: number; readonly bytes: number }[];
}

/** What a client reported. */
export interface HitReport {
  /** The list that its key is bound to: all is of that one. */
  readonly listId: string | null;
  readonly windows: readonly HitWindow[];
}

/** What was dropped for a list in some days. */
export interface ListHits {
  /** null: all of the workspace, also what is of no list. */
  readonly listId: string | null;
  readonly hits: number;
  readonly bytes: number;
  /** The last day on which something was, since 1970, UTC. */
  readonly lastDay: number;
}

/** How long a window is known that was counted, ms, and how many of a workspace. */
export const WINDOWS_KEPT = { for: 86_400_000, ofWorkspace: 20_000 };

export interface HistoryReads {
  /**
   * The days from `from` to `to` (since 1970, both included) on which something is known of a list, a composed feed or, null, the
   * workspace in all; oldest first. Composed feeds have sizes only. None for a feed that is not the workspace's.
   */
  feedDays(workspaceId: string, feedId: string | null, days: { from: number; to: number }): Promise<FeedDay[]>;
  /** What was dropped from a day on (since 1970, UTC), for each list for which something was, and in all. */
  listHits(workspaceId: string, from: number): Promise<ListHits[]>;
}

export interface HistoryWrites {
  /** Notes sizes: the last one of a day replaces the one before, the largest stays. Those of feeds that are gone are passed over. */
  noteFeedSizes(sizes: readonly FeedSizeOfDay[]): Promise<void>;
  /**
   * Counts what was reported in a workspace, on the day of an instant (ms), but windows that were counted before. A name stands for the
   * oldest list that has it. Returns how many packets and requests were counted of which list, by UUID; null: of none.
   */
  recordHits(workspaceId: string, reports: readonly HitReport[], at: number): Promise<ReadonlyMap<string | null, number>>;
}
