/** Last-Modified (SPEC D5.15) is decided here and nowhere else: from the store's record and what this process has served before. */
import { type Clock, within } from '../../clock.ts';
import type { StoreWrites } from '../../ports/store.ts';
import type { BuildRequest } from '../builder.ts';
import { type DocumentVariant, isRemembered, nameOf } from '../document.ts';
import type { Representation } from './representation.ts';

/** How long the store may take to record a content, ms. */
const RECORD_LIMIT = 2_000;
/**
 * How many seconds a content may wait for its beginning, so far as its Last-Modified lies ahead. An instant further ahead comes from
 * a clock that was wrong or was set, and must not hold a change back.
 */
export const LONGEST_WAIT = 3;

/** What the store remembers of a variant. */
export interface DocumentRecord {
  readonly hash: string;
  /** Whole seconds: the Last-Modified of the content. */
  readonly since: number;
}

/** The content of a variant whose date this process told last. */
export interface ServedBefore extends Pick<Representation, 'hash' | 'lastModified' | 'sharesInstant'> {
  /** Whether what is served can be served for another moment: its bytes are in memory, and no rule in it has expired. */
  readonly servable: boolean;
}

/** When a content first appeared. Whole seconds. */
export interface Dated {
  readonly lastModified: number;
  /** Whether other content was shown with it too, so that the date does not tell which one a client has. */
  readonly sharesInstant: boolean;
  /**
   * Whether clients may know it (SPEC D35.1): the store has answered. A date that it does not know of could be that of another content
   * after a restart.
   */
  readonly isPublished: boolean;
  /** Whether what was served before is to be served on until that second has come. */
  readonly waits: boolean;
  /** The recorded second where that lies ahead and nothing can be served until then: it is decided again when it has come. Else Infinity. */
  readonly settlesAt: number;
}

/**
 * Tells the store of the content of a variant of a document, and resolves to its record then. undefined where the store remembers none of this variant, and while it
 * takes no writes: Last-Modified then lives in memory.
 */
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
 * Whether a record is of this content, with no later Last-Modified; another replica may have recorded otherwise. One that lies far ahead of
 * `second` says nothing that a date which proves nothing does not say (SPEC D35.3).
 */
export const agrees = (
  record: DocumentRecord | undefined,
  { hash, lastModified, sharesInstant, isPublished }: Pick<Representation, 'hash' | 'lastModified' | 'sharesInstant' | 'isPublished'>,
  second: number,
): boolean =>
  record === undefined ||
  (record.hash === hash && isPublished && (record.since <= lastModified || (sharesInstant && isFarAhead(record, second))));

/** Never, in seconds. */
export const NEVER = Number.POSITIVE_INFINITY;

/**
 * The Last-Modified of the content `hash` of a variant, which is ready at `second`. `record` is the store's row after it was told of
 * this content, undefined when it took no write; `readAt` (ms, the store's clock) is the age of the snapshot. In one process the result
 * never goes back.
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
  // It proves nothing (SPEC D13.4), so nothing waits for it.
  const lastModified = before?.hash === hash ? before.lastModified : Math.max(second, before?.lastModified ?? 0);
  return { lastModified, sharesInstant: true, isPublished: true, waits: false, settlesAt: NEVER };
}

/** The same content keeps its second, another one gets a later second where there is room. */
export function decideLastModified(
  hash: string,
  second: number,
  readAt: number,
  record: DocumentRecord | undefined,
  before: ServedBefore | undefined,
): Dated {
  const isOther = before !== undefined && before.hash !== hash;
  const shown = before?.lastModified ?? 0;
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
  /** The earliest that may follow what was served before. */
  const earliest = isOther ? shown + 1 : shown;
  if (record !== undefined && record.hash !== hash) {
    // Another replica has recorded newer content: this one has to look older than that, and newer than the one before if there is room.
    const older = Math.min(Math.max(Math.floor(readAt / 1000), earliest), record.since - 1, second);
    return dated(Math.max(older, shown), { sharesInstant: true });
  }
  if (record === undefined) {
    if (before?.hash === hash) return dated(shown);
    return dated(Math.max(Math.min(Math.floor(readAt / 1000), second), shown), { sharesInstant: true, isPublished: false });
  }
  const withoutRecord = before === undefined || isOther ? Math.max(second, earliest) : earliest;
  const lastModified = isFarAhead(record, second) ? withoutRecord : Math.max(record.since, earliest);
  if (lastModified <= second) return dated(lastModified);
  // The clock was set back after the content before had begun: the new one shares its instant rather than wait.
  if (lastModified > second + LONGEST_WAIT) return dated(shown);
  if (before?.servable) return dated(lastModified, { waits: true });
  // Clients may hold the content before with a date between the two.
  return dated(Math.max(Math.min(withoutRecord, second), shown), { sharesInstant: true, settlesAt: lastModified });
}

/** What is served until another content of a variant may begin, where that lies ahead and can be waited for; `second`: now. */
export const heldUntil = (variant: DocumentVariant, before: ServedBefore | undefined, second: number): BuildRequest['before'] =>
  before?.servable && isRemembered(variant) && before.lastModified < second + LONGEST_WAIT
    ? { hash: before.hash, until: before.lastModified + 1 }
    : undefined;

/** Whether the recorded second comes from a clock that was wrong or was set: clients may hold dates that prove nothing. */
const isFarAhead = (record: DocumentRecord | undefined, second: number): boolean =>
  record !== undefined && record.since > second + LONGEST_WAIT;
