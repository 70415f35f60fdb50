/** What happens in workspaces, minute by minute for a day and hour by hour for a month, of all processes (SPEC D18.11). */

/** Counts of a span of time. */
export interface ActivityCounts {
  /** Entries of signals that were accepted, and that failed. */
  accepted: number;
  failed: number;
  /** Entries that landed, of whichever kind of rule; the landing itself counts them. */
  landed: number;
  /** Polls of feeds and other documents, and those of them that were answered 304, or refused (4xx). */
  pulls: number;
  notModified: number;
  refused: number;
}

export const ACTIVITY_FIELDS = [
  'accepted',
  'failed',
  'landed',
  'pulls',
  'notModified',
  'refused',
] as const satisfies readonly (keyof ActivityCounts)[];

export const NO_ACTIVITY: ActivityCounts = { accepted: 0, failed: 0, landed: 0, pulls: 0, notModified: 0, refused: 0 };

/** How long slots of so many minutes are kept, minutes: a day and a month, and a little. */
export const ACTIVITY_STEPS: readonly (readonly [step: number, kept: number])[] = [
  [1, 1500],
  [60, 31 * 1440],
];
/** Minutes that can be told minute by minute, and in all. */
export const ACTIVITY_MINUTES = 1440;
export const MOST_ACTIVITY = 30 * 1440;

/** A slot of `step` minutes, counted from 1970. */
export interface ActivitySlot extends ActivityCounts {
  readonly slot: number;
}

/** What one process has counted of a workspace in a minute (since 1970). */
export interface NotedActivity extends ActivityCounts {
  readonly workspaceId: string;
  readonly minute: number;
}

export interface ActivityStoreReads {
  /** The slots of `step` minutes (of ACTIVITY_STEPS) from one to another (included) in which something happened, oldest first. */
  activity(workspaceId: string, of: { readonly step: number; readonly from: number; readonly to: number }): Promise<ActivitySlot[]>;
}

export interface ActivityStoreWrites {
  /** Adds what was counted, in one transaction; workspaces that are gone are passed over. */
  noteActivity(counts: readonly NotedActivity[]): Promise<void>;
}

/** What this process has counted and not written yet. */
export interface ActivityReads {
  /** ms since 1970 */
  readonly since: number;
  of(workspaceId: string): ActivityCounts;
}

export interface ActivityCounter {
  entries(workspaceId: string, accepted: number, failed: number): void;
  poll(workspaceId: string, status: number): void;
}
