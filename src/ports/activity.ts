/** Of all processes: per minute for a day, per hour for a month (SPEC D18.11). */

export interface ActivityCounts {
  accepted: number;
  failed: number;
  landed: number;
  /** Polls of feeds and other documents; those answered 304; those refused (4xx). */
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

/** Both in minutes. */
export const ACTIVITY_STEPS: readonly (readonly [step: number, retention: number])[] = [
  [1, 1500],
  [60, 31 * 1440],
];
/** Minutes: in slots of a minute, and in all. */
export const ACTIVITY_MINUTES = 1440;
export const MOST_ACTIVITY = 30 * 1440;

/** Counted from 1970. */
export interface ActivitySlot extends ActivityCounts {
  readonly slot: number;
}

export interface NotedActivity extends ActivityCounts {
  readonly workspaceId: string;
  readonly minute: number;
}

export interface ActivityStoreReads {
  /** Non-empty slots of `step` minutes (of ACTIVITY_STEPS) from `from` to `to` (inclusive), oldest first. */
  activity(workspaceId: string, of: { readonly step: number; readonly from: number; readonly to: number }): Promise<ActivitySlot[]>;
}

export interface ActivityStoreWrites {
  /** In one transaction; skips deleted workspaces. */
  noteActivity(counts: readonly NotedActivity[]): Promise<void>;
}

export interface ActivityReads {
  /** ms */
  readonly since: number;
  of(workspaceId: string): ActivityCounts;
}

export interface ActivityCounter {
  entries(workspaceId: string, accepted: number, failed: number): void;
  poll(workspaceId: string, status: number): void;
}
