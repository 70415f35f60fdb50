import type { WorkspaceDirectory } from '../../ports/snapshot.ts';
import type { BuildSource } from '../builder.ts';
import { BEFORE_ALL, type ReadStamp } from '../read-stamp.ts';

export interface Read {
  /** When the store was asked. `sequence` is from before the wait for landing. */
  readonly at: ReadStamp;
  readonly readAt: number;
  /** Served without another read until then; ms, monotonic. */
  readonly freshUntil: number;
}

export interface WorkspaceRead extends Read {
  /** undefined before the first read, and for a deleted workspace. */
  readonly revision: number | undefined;
  /** The key revision before the read. Changes on deletion of a list or feed: names are resolved again. */
  readonly keyRevision: number | undefined;
  /** `freshUntil` is then the time of the next attempt, and the rest describes the last good read. */
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

/** undefined: unknown workspace. */
export const goodRead = (
  found: Pick<WorkspaceDirectory, 'revision' | 'readAt'> | undefined,
  read: Pick<WorkspaceRead, 'at' | 'freshUntil' | 'keyRevision'>,
): WorkspaceRead => ({ ...read, readAt: found?.readAt ?? 0, revision: found?.revision, failed: false });

/** The read is fresh, or began after the request. */
export const isFreshFor = ({ at, freshUntil }: Read, arrival: ReadStamp): boolean =>
  at.sequence > arrival.sequence || arrival.monotonic < freshUntil;

export interface DocumentRead extends WorkspaceRead {
  readonly revision: number;
}

/** The main thread's knowledge of a snapshot; the rules are on the feed thread. */
export interface KnownSnapshot {
  readonly revision: number;
  /** When the rules were read; `sequence`: of the workspace read. The feed thread reads again for a higher one. */
  readonly at: ReadStamp;
  /** Initially the snapshot's own. */
  readonly confirmed: Read;
}

/** The snapshot of a build: the known one, or a new one, fresh for `interval` (ms). */
export function snapshotOf({ at, readAt, revision }: BuildSource, known: KnownSnapshot | undefined, interval: number): KnownSnapshot {
  if (known !== undefined && isOf(known, at)) return known;
  return { revision, at, confirmed: { at, readAt, freshUntil: at.monotonic + interval } };
}

export const isOf = ({ at }: KnownSnapshot, moment: ReadStamp): boolean =>
  at.sequence === moment.sequence && at.monotonic === moment.monotonic;

/** Confirms the snapshot if the document's revision is unchanged. */
export const confirmedBy = (known: KnownSnapshot, read: DocumentRead): KnownSnapshot =>
  hasSeen(known, read) && read.revision === known.revision && read.freshUntil >= known.confirmed.freshUntil
    ? { ...known, confirmed: read }
    : known;

/**
 * Whether to read the rules again at `now` (ms, monotonic): the revision has changed, and the last read is at least `interval` (ms) old.
 */
export const isOutdated = (known: KnownSnapshot, read: DocumentRead, now: number, interval: number): boolean =>
  hasSeen(known, read) && read.revision !== known.revision && now >= known.at.monotonic + interval;

export const reaches = (known: KnownSnapshot | undefined, urgent: DocumentRead | undefined): boolean =>
  urgent === undefined || (known !== undefined && (known.revision === urgent.revision || known.at.sequence >= urgent.at.sequence));

const hasSeen = ({ at }: KnownSnapshot, read: DocumentRead): boolean => read.at.sequence > at.sequence;
