import type { Instant } from '../../clock.ts';
import type { WorkspaceDirectory } from '../../ports/rule-store.ts';
import { BEFORE_ALL, type Moment } from './moment.ts';

/** How a workspace was last read. A record is never changed: each read replaces it. */
export interface WorkspaceRead {
  /** Moves with any of its lists and rules; undefined before the first read, and when the workspace is gone. */
  readonly revision: number | undefined;
  /** The store's clock at the read, ms. */
  readonly takenAt: number;
  /** When the read was asked for. */
  readonly began: Moment;
  /** When the store was asked. */
  readonly readAt: Instant;
  /** Until then what was read is served without another read; ms, monotonic. */
  readonly freshUntil: number;
  /** Whether the last attempt failed; the rest is then of the last good read. */
  readonly failed: boolean;
}

export const NEVER_READ: WorkspaceRead = {
  revision: undefined,
  takenAt: 0,
  began: BEFORE_ALL,
  readAt: BEFORE_ALL,
  freshUntil: BEFORE_ALL.monotonic,
  failed: false,
};

type Found = Pick<WorkspaceDirectory, 'revision' | 'takenAt'>;

/** The record after the store has answered. `found` is undefined for an unknown workspace; `interval` (ms) is how long it is fresh. */
export const goodRead = (found: Found | undefined, began: Moment, readAt: Instant, interval: number): WorkspaceRead => ({
  revision: found?.revision,
  takenAt: found?.takenAt ?? 0,
  began,
  readAt,
  freshUntil: readAt.monotonic + interval,
  failed: false,
});

/** The record after an attempt that failed: what was read last is kept, and the store is left alone until `retryAt` (ms, monotonic). */
export const failedRead = (last: WorkspaceRead, retryAt: number): WorkspaceRead => ({ ...last, freshUntil: retryAt, failed: true });

/** Whether a request may be served from a read: it is fresh, or began after the request. */
export const isFreshFor = ({ began, freshUntil }: WorkspaceRead, arrival: Moment): boolean =>
  began.sequence > arrival.sequence || arrival.monotonic < freshUntil;

/** What a read says of one feed. */
export interface FeedRead extends WorkspaceRead {
  /** Moves with everything that the feed shows. */
  readonly revision: number;
}
