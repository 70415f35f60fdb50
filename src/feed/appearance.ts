/** The last content of a representation that this replica has shown. */
export interface Shown {
  readonly hash: string;
  /** Whole seconds. */
  readonly lastModified: number;
  /** Whether its bytes are still here and hold no lapsed rule, so that they can be served a little longer. */
  readonly usable: boolean;
}

/** What the store remembers of a representation. */
export interface FeedRecord {
  readonly hash: string;
  /** Whole seconds. */
  readonly since: number;
}

/** When a content appears (decisions on Last-Modified). Whole seconds. */
export interface Appearance {
  readonly lastModified: number;
  /** The content may be served from this second on; until then what was shown before. */
  readonly begins: number;
  /** Infinity, or the second at which `lastModified` is to be set again, because it had to be brought forward. */
  readonly settles: number;
}

/** How far ahead a beginning is waited for. Beyond it a clock is wrong somewhere, which must not hold a change back. */
const LONGEST_WAIT = 10;

/**
 * When the content `hash`, ready at `second`, appears. `record` is the store's row after this content was shown to it, undefined
 * when the store could not be written; `takenAt` (ms, the store's clock) is the age of the snapshot behind the content.
 * On one replica `lastModified` never goes back, and grows with every other content.
 */
export function appearance(
  hash: string,
  second: number,
  takenAt: number,
  record: FeedRecord | undefined,
  shown: Shown | undefined,
): Appearance {
  const least = shown === undefined ? 0 : shown.hash === hash ? shown.lastModified : shown.lastModified + 1;
  const unaided = shown?.hash === hash ? least : Math.max(second, least);
  let since = Math.max(recorded(), least);
  if (since > second + LONGEST_WAIT) since = unaided;
  if (since <= second || shown?.usable) return { lastModified: since, begins: since, settles: Number.POSITIVE_INFINITY };
  return { lastModified: Math.min(unaided, second), begins: second, settles: since };

  function recorded(): number {
    if (record === undefined) return unaided;
    if (record.hash === hash) return record.since;
    // Another replica has a newer content already: this one must look older than that.
    return Math.min(Math.floor(takenAt / 1000), record.since - 1, second);
  }
}
