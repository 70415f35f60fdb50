/** Daily history of feeds (SPEC D16.13). */

export const STORED_DAYS = 366;

/** Changes of the access rules of a list or workspace on one day, and the size of its block feed. */
export interface FeedDay {
  /** Days since 1970, UTC. */
  readonly day: number;
  /** Entries that set or renewed a rule. */
  readonly added: number;
  readonly expired: number;
  /** Entries that unblocked or deleted, and rules deleted by id. */
  readonly removed: number;
  readonly undone: number;
  /** Packets, requests and bytes that bouncers reported as dropped (SPEC D31.4); for a workspace, including those without a list. */
  readonly hits: number;
  readonly hitBytes: number;
  /** Networks of the last build of the day, and the maximum; null: no build in that family. */
  readonly v4: FamilySize | null;
  readonly v6: FamilySize | null;
}

export interface FamilySize {
  readonly last: number;
  readonly most: number;
}

/** Size of the block feed of a list, composed feed or workspace (`feedId` null) on a day. */
export interface FeedSizeOfDay {
  readonly workspaceId: string;
  readonly feedId: string | null;
  /** Days since 1970, UTC. */
  readonly day: number;
  readonly v4: FamilySize | null;
  readonly v6: FamilySize | null;
}

export interface HitWindow {
  /** Identifies a repeated report, which is not counted again; null: cannot be identified. */
  readonly digest: string | null;
  /** By list name; null: no list. */
  readonly hits: readonly { readonly list: string | null; readonly packets: number; readonly bytes: number }[];
}

export interface HitReport {
  /** The list of the client's key, which then gets all hits. */
  readonly listId: string | null;
  readonly windows: readonly HitWindow[];
}

export interface ListHits {
  /** null: the total of the workspace, including drops without a list. */
  readonly listId: string | null;
  readonly hits: number;
  readonly bytes: number;
  /** The last day with drops, since 1970, UTC. */
  readonly lastDay: number;
}

/** How long counted windows are remembered (ms), and the limit per workspace. */
export const WINDOW_RETENTION = { for: 86_400_000, ofWorkspace: 20_000 };

/** By how many active access rules a list grew on a day. */
interface NetOfDay {
  readonly listId: string;
  readonly name: string;
  /** Since 1970, UTC. */
  readonly day: number;
  readonly net: number;
}

export interface RuleDays {
  readonly since: number;
  /** Lists with rules. */
  readonly now: readonly { readonly listId: string; readonly name: string; readonly rules: number }[];
  readonly nets: readonly NetOfDay[];
}

/** Changes of the access rules of a workspace in an hour. */
export interface RuleHour {
  /** Since 1970. */
  readonly hour: number;
  readonly added: number;
  readonly renewed: number;
  readonly removed: number;
  readonly expired: number;
}

export interface HistoryReads {
  /** Active access rules of the existing lists, and their growth since a day (since 1970), complete from the day `since` on. */
  ruleDays(workspaceId: string, from: number): Promise<RuleDays>;
  /** The hours with changes, both ends inclusive; stored for seven days. */
  ruleHours(workspaceId: string, hours: { from: number; to: number }): Promise<RuleHour[]>;
  /**
   * The days with data from `from` to `to` (since 1970, inclusive) of a list, a composed feed (sizes only) or the workspace (null), oldest
   * first. None for a feed of another workspace.
   */
  feedDays(workspaceId: string, feedId: string | null, days: { from: number; to: number }): Promise<FeedDay[]>;
  /** Drops since a day (since 1970, UTC), per list and in total. */
  listHits(workspaceId: string, from: number): Promise<ListHits[]>;
}

export interface HistoryWrites {
  /** Records sizes: the last one and the largest one of each day. Skips deleted feeds. */
  noteFeedSizes(sizes: readonly FeedSizeOfDay[]): Promise<void>;
  /**
   * Counts reports on the day of `at` (ms), without windows that were counted before. A name means the oldest list with that name. Returns
   * the counted packets and requests by list UUID; null: no list.
   */
  recordHits(workspaceId: string, reports: readonly HitReport[], at: number): Promise<ReadonlyMap<string | null, number>>;
}
