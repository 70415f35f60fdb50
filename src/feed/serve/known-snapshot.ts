import type { Instant } from '../../clock.ts';
import type { BuildSource } from '../builder.ts';
import type { FeedRead } from './workspace-read.ts';

/**
 * What the main thread knows of a feed's snapshot; the rules themselves are on the feed thread.
 * A record is never changed: each build and each read of the workspace may replace it.
 */
export interface KnownSnapshot {
  /** The sequence of the read of the workspace that asked for it. The feed thread reads the rules anew for a higher one. */
  readonly generation: number;
  /** Of the list, or of the workspace for its feed. */
  readonly revision: number;
  /** When its read began. */
  readonly readAt: Instant;
  /** The store's clock when it was read or last confirmed, ms. */
  readonly takenAt: number;
  /** When it was last known to be current. */
  readonly currentAt: Instant;
  /** Until then it counts as current; ms, monotonic. */
  readonly freshUntil: number;
}

/** The snapshot that a build was made from: the known one, or a new one. `interval` (ms) is how long a new one is fresh. */
export function snapshotOf(source: BuildSource, known: KnownSnapshot | undefined, interval: number): KnownSnapshot {
  const { generation, revision, readAt, takenAt } = source;
  if (known?.generation === generation && known.readAt.monotonic === readAt.monotonic) return known;
  return { generation, revision, readAt, takenAt, currentAt: readAt, freshUntil: readAt.monotonic + interval };
}

/** The snapshot after a read of the workspace: as current as that read when the feed's revision has not moved since. */
export function confirmed(known: KnownSnapshot, read: FeedRead): KnownSnapshot {
  if (read.began.sequence <= known.generation || read.revision !== known.revision) return known;
  return {
    ...known,
    takenAt: read.takenAt,
    currentAt: read.readAt.monotonic > known.currentAt.monotonic ? read.readAt : known.currentAt,
    freshUntil: Math.max(known.freshUntil, read.freshUntil),
  };
}

/** Whether the rules have to be read anew at `now` (ms, monotonic): the revision has moved, and the last read is `interval` (ms) ago. */
export function isOutdated(known: KnownSnapshot, read: FeedRead, now: number, interval: number): boolean {
  return read.began.sequence > known.generation && read.revision !== known.revision && now >= known.readAt.monotonic + interval;
}
