import type { Instant } from '../../clock.ts';
import type { WorkspaceDirectory } from '../../ports/rule-store.ts';
import { Directory } from './directory.ts';
import { BEFORE_ALL, type Moment } from './moment.ts';

/** How a workspace's directory was last read. A record is never changed: each read replaces it. */
export interface DirectoryRead {
  /** undefined before the first read, and when the workspace is gone. */
  readonly directory: Directory | undefined;
  /** When the read was asked for. */
  readonly began: Moment;
  /** When the store was asked, after landing had caught up. */
  readonly readAt: Instant;
  /** Until then the directory is served from without another read; ms, monotonic. */
  readonly freshUntil: number;
  /** Whether the last attempt failed; the directory is then that of the last good read. */
  readonly failed: boolean;
}

export const NEVER_READ: DirectoryRead = {
  directory: undefined,
  began: BEFORE_ALL,
  readAt: BEFORE_ALL,
  freshUntil: BEFORE_ALL.monotonic,
  failed: false,
};

/** The record after the store has answered. `found` is undefined for an unknown workspace; `interval` (ms) is how long it is fresh. */
export const goodRead = (found: WorkspaceDirectory | undefined, began: Moment, readAt: Instant, interval: number): DirectoryRead => ({
  directory: found && new Directory(found),
  began,
  readAt,
  freshUntil: readAt.monotonic + interval,
  failed: false,
});

/** The record after an attempt that failed: the last directory is kept, and the store is left alone until `retryAt` (ms, monotonic). */
export const failedRead = (last: DirectoryRead, retryAt: number): DirectoryRead => ({ ...last, freshUntil: retryAt, failed: true });
