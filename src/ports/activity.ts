/** What happened in a workspace in the last day, minute by minute, as one process has seen it. */

/** Counts of a span of time. */
export interface ActivityCounts {
  /** Entries of signals that were accepted, and that failed. */
  accepted: number;
  failed: number;
  /** Entries for access rules that landed, whichever process took them. */
  landed: number;
  /** Polls of feeds and other documents, and those of them that were answered 304. */
  pulls: number;
  notModified: number;
}

export const ACTIVITY_FIELDS = [
  'accepted',
  'failed',
  'landed',
  'pulls',
  'notModified',
] as const satisfies readonly (keyof ActivityCounts)[];

/** Minutes that are kept. */
export const ACTIVITY_MINUTES = 1440;

export interface ActivityReads {
  /** When counting began, ms since 1970. */
  readonly since: number;
  /** The counts of each of the last `minutes`, oldest first; the last one is the minute that runs. */
  of(workspaceId: string, minutes: number): ActivityCounts[];
}

export interface ActivityCounter {
  entries(workspaceId: string, accepted: number, failed: number): void;
  poll(workspaceId: string, status: number): void;
}
