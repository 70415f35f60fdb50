import { LONGEST_WAIT, type PreviousContent } from '../builder.ts';

/** What the store remembers of a variant. */
export interface FeedRecord {
  readonly hash: string;
  /** Whole seconds: the Last-Modified of the content. */
  readonly since: number;
}

/** A Last-Modified, and when the content may be served with it. Whole seconds. */
export interface LastModified {
  readonly lastModified: number;
  /** While this second lies ahead, the previous content is to be served. */
  readonly servableFrom: number;
  /** When `lastModified` is to be decided again, because it is earlier than recorded; Infinity when it is final. */
  readonly provisionalUntil: number;
}

/**
 * Decides the Last-Modified of the content `hash`, which is ready at `second` (SPEC D5.15). `record` is the store's row after it was
 * told of this content, undefined when it took no write; `takenAt` (ms, the store's clock) is the age of the snapshot. On one replica
 * the result never goes back: the same content keeps its second, another one gets a later second where there is room.
 */
export function decideLastModified(
  hash: string,
  second: number,
  takenAt: number,
  record: FeedRecord | undefined,
  previous: PreviousContent | undefined,
): LastModified {
  const final = { servableFrom: second, provisionalUntil: Number.POSITIVE_INFINITY };
  const earliest = earliestAfter(previous, hash);
  const shown = previous?.lastModified ?? 0;
  if (record !== undefined && record.hash !== hash) {
    // Another replica has recorded newer content: this one has to look older than that, and newer than the previous if there is room.
    const older = Math.min(Math.max(Math.floor(takenAt / 1000), earliest), record.since - 1, second);
    return { ...final, lastModified: Math.max(older, shown) };
  }
  const withoutRecord = previous?.hash === hash ? earliest : Math.max(second, earliest);
  const lastModified = record !== undefined && !isFarAhead(record, second) ? Math.max(record.since, earliest) : withoutRecord;
  if (lastModified <= second) return { ...final, lastModified };
  // The clock was set back after the previous content had begun: the new one shares its instant rather than wait.
  if (lastModified > second + LONGEST_WAIT) return { ...final, lastModified: shown };
  if (previous?.servable) return { ...final, lastModified, servableFrom: lastModified };
  return { lastModified: Math.max(Math.min(withoutRecord, second), shown), servableFrom: second, provisionalUntil: lastModified };
}

/** Whether the recorded Last-Modified comes from a clock that was wrong or was set: clients may hold dates that prove nothing. */
export const isFarAhead = (record: FeedRecord | undefined, second: number): boolean =>
  record !== undefined && record.since > second + LONGEST_WAIT;

/** Whether this replica has served other content with the same Last-Modified, so that the date does not tell which one a client has. */
export function isInstantShared(hash: string, lastModified: number, previous: PreviousContent | undefined): boolean {
  return previous?.lastModified === lastModified && (previous.hash !== hash || previous.sharesInstant);
}

/** The earliest Last-Modified that may follow the previous content. */
function earliestAfter(previous: PreviousContent | undefined, hash: string): number {
  if (previous === undefined) return 0;
  return previous.hash === hash ? previous.lastModified : previous.lastModified + 1;
}
