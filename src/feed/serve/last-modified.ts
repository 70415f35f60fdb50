/** The only place deciding Last-Modified (SPEC D5.15): from the store's record and the content served before. */
import { type Clock, within } from '../../clock.ts';
import type { StoreWrites } from '../../ports/store.ts';
import type { BuildRequest } from '../builder.ts';
import { type DocumentVariant, isRemembered, nameOf } from '../document.ts';
import type { Representation } from './representation.ts';

/** ms. */
const RECORD_LIMIT = 2_000;
/** Maximum wait of a new content for its Last-Modified, s. A date further ahead comes from a wrong clock and must not delay the change. */
export const LONGEST_WAIT = 3;

export interface DocumentRecord {
  readonly hash: string;
  readonly since: number;
}

export interface ServedBefore extends Pick<Representation, 'hash' | 'lastModified' | 'sharesInstant'> {
  /** Its bytes are in memory and no rule in it has expired. */
  readonly servable: boolean;
}

export interface Dated {
  readonly lastModified: number;
  /** Other content was published with the same date: the date alone proves nothing. */
  readonly sharesInstant: boolean;
  /** Clients may see it (SPEC D35.1): the store has answered. After a restart, an unrecorded date could belong to other content. */
  readonly isPublished: boolean;
  /** Serve the previous content until then. */
  readonly waits: boolean;
  /** Infinity, or the recorded second if it is ahead and nothing can be served before: decide again then. */
  readonly settlesAt: number;
}

/** undefined: the variant has no records, or the store accepts no writes. */
export async function recordContent(
  { workspaceId, feedId, variant }: { readonly workspaceId: string; readonly feedId: string | null; readonly variant: DocumentVariant },
  seen: Parameters<StoreWrites['recordDocument']>[2],
  store: Pick<StoreWrites, 'recordDocument'>,
  clock: Clock,
): Promise<DocumentRecord | undefined> {
  if (!isRemembered(variant)) return undefined;
  const recording = store.recordDocument(workspaceId, { feedId, ...nameOf(variant) }, seen);
  return within(recording, RECORD_LIMIT, 'the store', clock).catch(() => undefined);
}

/**
 * Whether the record names this content, without a later Last-Modified (other replicas also write records). A date far ahead of `second` is
 * equivalent to one proving nothing (SPEC D35.3).
 */
export const agrees = (
  record: DocumentRecord | undefined,
  { hash, lastModified, sharesInstant, isPublished }: Pick<Representation, 'hash' | 'lastModified' | 'sharesInstant' | 'isPublished'>,
  second: number,
): boolean =>
  record === undefined ||
  (record.hash === hash && isPublished && (record.since <= lastModified || (sharesInstant && isFarAhead(record, second))));

export const NEVER = Number.POSITIVE_INFINITY;

/**
 * Decides the Last-Modified of content ready at `second`. `record`: the row after recording, if written; `readAt` (ms, store's clock): the
 * snapshot's age. Never decreases within one process.
 */
export function dateContent(
  variant: DocumentVariant,
  hash: string,
  second: number,
  readAt: number,
  record: DocumentRecord | undefined,
  before: ServedBefore | undefined,
): Dated {
  if (isRemembered(variant)) return decideLastModified(hash, second, readAt, record, before);
  // It proves nothing (SPEC D13.4), hence no waiting.
  const lastModified = before?.hash === hash ? before.lastModified : Math.max(second, before?.lastModified ?? 0);
  return { lastModified, sharesInstant: true, isPublished: true, waits: false, settlesAt: NEVER };
}

/** Equal content has an unchanged date; other content a later one, if possible. */
export function decideLastModified(
  hash: string,
  second: number,
  readAt: number,
  record: DocumentRecord | undefined,
  before: ServedBefore | undefined,
): Dated {
  const isOther = before !== undefined && before.hash !== hash;
  const previous = before?.lastModified ?? 0;
  const dated = (lastModified: number, rest?: Partial<Dated>): Dated => {
    const isShared = before?.lastModified === lastModified && (isOther || before.sharesInstant);
    return {
      lastModified,
      sharesInstant: isShared || isFarAhead(record, second),
      isPublished: true,
      waits: false,
      settlesAt: NEVER,
      ...rest,
    };
  };
  const earliest = isOther ? previous + 1 : previous;
  if (record !== undefined && record.hash !== hash) {
    // Another replica has recorded newer content: stay below its date, and above the previous one if possible.
    const older = Math.min(Math.max(Math.floor(readAt / 1000), earliest), record.since - 1, second);
    return dated(Math.max(older, previous), { sharesInstant: true });
  }
  if (record === undefined) {
    if (before?.hash === hash) return dated(previous);
    return dated(Math.max(Math.min(Math.floor(readAt / 1000), second), previous), { sharesInstant: true, isPublished: false });
  }
  const withoutRecord = before === undefined || isOther ? Math.max(second, earliest) : earliest;
  const lastModified = isFarAhead(record, second) ? withoutRecord : Math.max(record.since, earliest);
  if (lastModified <= second) return dated(lastModified);
  // The clock was set back since the previous content: sharing its date is better than waiting.
  if (lastModified > second + LONGEST_WAIT) return dated(previous);
  if (before?.servable) return dated(lastModified, { waits: true });
  // Clients may have the previous content with a date in between.
  return dated(Math.max(Math.min(withoutRecord, second), previous), { sharesInstant: true, settlesAt: lastModified });
}

/** The served content and its end, if the next content must wait for a later second; `second`: now. */
export const servedUntil = (variant: DocumentVariant, before: ServedBefore | undefined, second: number): BuildRequest['before'] =>
  before?.servable && isRemembered(variant) && before.lastModified < second + LONGEST_WAIT
    ? { hash: before.hash, until: before.lastModified + 1 }
    : undefined;

/** The recorded second comes from a wrong clock: clients may have dates proving nothing. */
const isFarAhead = (record: DocumentRecord | undefined, second: number): boolean =>
  record !== undefined && record.since > second + LONGEST_WAIT;
