/** What the main thread knows by reads of the store: of a workspace, and of the snapshot behind a document. Records are never changed, only replaced. */
import type { WorkspaceDirectory } from '../../ports/snapshot.ts';
import type { BuildSource } from '../builder.ts';
import { BEFORE_ALL, type ReadStamp } from '../read-stamp.ts';

/** A read of the store by which something was found to be as it is. */
export interface Read {
  /** When the store was asked. Its `sequence` is of the moment before the read waited for landing. */
  readonly at: ReadStamp;
  /** The store's clock then, ms. */
  readonly readAt: number;
  /** Until then what it found is served without another read; ms, monotonic. */
  readonly freshUntil: number;
}

/** The last read of a workspace. */
export interface WorkspaceRead extends Read {
  /** Moves with any of its lists and rules; undefined before the first read, and when the workspace is gone. */
  readonly revision: number | undefined;
  /** The key revision before the read began. It moves when a list or feed is deleted: names are then asked for again. */
  readonly keyRevision: number | undefined;
  /** Whether the last attempt failed; `freshUntil` is then when the store is asked again, and the rest is of the last good read. */
  readonly failed: boolean;
}

export const NEVER_READ: WorkspaceRead = {
  at: BEFORE_ALL,
  readAt: 0,
  freshUntil: BEFORE_ALL.monotonic,
  revision: undefined,
  keyRevision: undefined,
  failed: false,
};

/** The record after the store has answered; undefined for an unknown workspace. */
export const goodRead = (
  found: Pick<WorkspaceDirectory, 'revision' | 'readAt'> | undefined,
  read: Pick<WorkspaceRead, 'at' | 'freshUntil' | 'keyRevision'>,
): WorkspaceRead => ({ ...read, readAt: found?.readAt ?? 0, revision: found?.revision, failed: false });

/** Whether a request may be served from a read: it is fresh, or began after the request. */
export const isFreshFor = ({ at, freshUntil }: Read, arrival: ReadStamp): boolean =>
  at.sequence > arrival.sequence || arrival.monotonic < freshUntil;

/** What a read of the workspace says of one document. */
export interface DocumentRead extends WorkspaceRead {
  /** Moves with everything that the document shows. */
  readonly revision: number;
}

/** What is known of the snapshot behind a document; the rules themselves are on the feed thread. */
export interface KnownSnapshot {
  readonly revision: number;
  /** When its rules were read, for the read of the workspace with this `sequence`. The feed thread reads them anew for a higher one. */
  readonly at: ReadStamp;
  /** The latest read that found that nothing had moved since; its own to begin with. */
  readonly confirmed: Read;
}

/** The snapshot that a build was made from: the known one, or a new one, which is fresh for `interval` (ms). */
export function snapshotOf({ at, readAt, revision }: BuildSource, known: KnownSnapshot | undefined, interval: number): KnownSnapshot {
  if (known !== undefined && isOf(known, at)) return known;
  return { revision, at, confirmed: { at, readAt, freshUntil: at.monotonic + interval } };
}

/** Whether the rules of a snapshot were read at this moment. */
export const isOf = ({ at }: KnownSnapshot, moment: ReadStamp): boolean =>
  at.sequence === moment.sequence && at.monotonic === moment.monotonic;

/** The snapshot after a read of the workspace: confirmed when the document's revision has not moved since. */
export const confirmedBy = (known: KnownSnapshot, read: DocumentRead): KnownSnapshot =>
  hasSeen(known, read) && read.revision === known.revision && read.freshUntil >= known.confirmed.freshUntil
    ? { ...known, confirmed: read }
    : known;

/** Whether the rules have to be read anew at `now` (ms, monotonic): the revision has moved, and the last read is `interval` (ms) ago. */
export const isOutdated = (known: KnownSnapshot, read: DocumentRead, now: number, interval: number): boolean =>
  hasSeen(known, read) && read.revision !== known.revision && now >= known.at.monotonic + interval;

/** Whether a read of the workspace began after the one for which the snapshot was read. */
const hasSeen = ({ at }: KnownSnapshot, read: DocumentRead): boolean => read.at.sequence > at.sequence;
