import type { Shown } from '../builder.ts';

/** What the store remembers of a representation. */
interface FeedRecord {
  readonly hash: string;
  /** Whole seconds. */
  readonly since: number;
}

/** When a content appears (decisions on Last-Modified). Whole seconds. */
interface LastModified {
  readonly lastModified: number;
  /** The content may be served from this second on; until then what was shown before. */
  readonly begins: number;
  /** Infinity, or the second at which `lastModified` is to be set again, because it had to be brought forward. */
  readonly settles: number;
}

/** How far ahead a beginning is waited for, seconds. Beyond it a clock is wrong somewhere, which must not hold a change back. */
const LONGEST_WAIT = 3;

/**
 * When the content `hash`, ready at `second`, appears. `record` is the store's row after this content was shown to it, undefined
 * when the store could not be written; `takenAt` (ms, the store's clock) is the age of the snapshot behind the content.
 * On one replica `lastModified` never goes back.
 */
export function decideLastModified(
  hash: string,
  second: number,
  takenAt: number,
  record: FeedRecord | undefined,
  shown: Shown | undefined,
): LastModified {
  const settled = { begins: second, settles: Number.POSITIVE_INFINITY };
  const least = leastAfter(shown, hash);
  if (record !== undefined && record.hash !== hash) {
    // Another replica has newer content already: this one must look older than that, and newer than what was shown where there is room.
    const older = Math.min(Math.max(Math.floor(takenAt / 1000), least), record.since - 1, second);
    return { ...settled, lastModified: Math.max(older, shown?.lastModified ?? 0) };
  }
  // What one would say without the store.
  const unaided = shown?.hash === hash ? least : Math.max(second, least);
  const isUsable = record !== undefined && record.since <= second + LONGEST_WAIT;
  const since = isUsable ? Math.max(record.since, least) : unaided;
  if (since <= second) return { ...settled, lastModified: since };
  if (shown?.usable) return { ...settled, lastModified: since, begins: since };
  return { lastModified: Math.min(unaided, second), begins: second, settles: since };
}

/** Whether this replica has shown other content with the same instant, so that the instant tells nobody whether he has this one. */
export function isInstantShared(hash: string, lastModified: number, shown: Shown | undefined): boolean {
  return shown?.lastModified === lastModified && (shown.hash !== hash || shown.sharesInstant);
}

/** The least that may follow what was shown: the same content keeps its second, another one has a later one. */
function leastAfter(shown: Shown | undefined, hash: string): number {
  if (shown === undefined) return 0;
  return shown.hash === hash ? shown.lastModified : shown.lastModified + 1;
}
