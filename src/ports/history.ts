/** Daily history of feeds (SPEC D16.13). */

export const STORED_DAYS = 366;

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

/** Of the block feed of a list, composed feed or workspace (`feedId` null). */
export interface FeedSizeOfDay {
  readonly workspaceId: string;
  readonly feedId: string | null;
  /** Days since 1970, UTC. */
  readonly day: number;
  readonly v4: FamilySize | null;
  readonly v6: FamilySize | null;
}

export interface HitWindow {
  /** A repeated report is not counted again; null: it cannot be identified. */
  readonly digest: string | null;
  /** By list name; null: no list. */
  readonly hits: readonly { readonly list: string | null; readonly packets: number; readonly bytes: number }[];
}

export interface HitReport {
  /** Of the client's key; it gets all hits. */
  readonly listId: string | null;
  readonly windows: readonly HitWindow[];
}

export interface ListHits {
  /** null: the total of the workspace, including drops without a list. */
  readonly listId: string | null;
  readonly hits: number;
  readonly bytes: number;
  /** With drops, since 1970, UTC. */
  readonly lastDay: number;
}

/** ms, and number per workspace. */
export const WINDOW_RETENTION = { for: 86_400_000, ofWorkspace: 20_000 };

/** Growth of a list in active access rules. */
interface NetOfDay {
  readonly listId: string;
  readonly name: string;
  /** Since 1970, UTC. */
  readonly day: number;
  readonly net: number;
}

export interface RuleDays {
  readonly since: number;
  readonly now: readonly { readonly listId: string; readonly name: string; readonly rules: number }[];
  readonly nets: readonly NetOfDay[];
}

export interface RuleHour {
  /** Since 1970. */
  readonly hour: number;
  readonly added: number;
  readonly renewed: number;
  readonly removed: number;
  readonly expired: number;
}

export interface HistoryReads {
  /** Of existing lists, and their growth since a day (since 1970), complete from the day `since` on. */
  ruleDays(workspaceId: string, from: number): Promise<RuleDays>;
  /** Inclusive; stored for seven days. */
  ruleHours(workspaceId: string, hours: { from: number; to: number }): Promise<RuleHour[]>;
  /**
   * Days with data from `from` to `to` (since 1970, inclusive) of a list, a composed feed (sizes only) or the workspace (null), oldest
   * first. None for another workspace's feed.
   */
  feedDays(workspaceId: string, feedId: string | null, days: { from: number; to: number }): Promise<FeedDay[]>;
  /** Since a day (since 1970, UTC), per list and in total. */
  listHits(workspaceId: string, from: number): Promise<ListHits[]>;
}

export interface HistoryWrites {
  /** The last and the largest of each day. Skips deleted feeds. */
  noteFeedSizes(sizes: readonly FeedSizeOfDay[]): Promise<void>;
  /**
   * Counts on the day of `at` (ms), without windows counted before. A name means the oldest list with it. Returns packets and requests by
   * list UUID; null: no list.
   */
  recordHits(workspaceId: string, reports: readonly HitReport[], at: number): Promise<ReadonlyMap<string | null, number>>;
}
