import type { Instant } from '../clock.ts';

/** A point in time; `sequence` is for order, also within one millisecond. Of a read: that of the request for which it was made. */
export interface ReadStamp extends Instant {
  readonly sequence: number;
}

/** Earlier than every moment that a context hands out. */
export const BEFORE_ALL: ReadStamp = { wall: Number.NEGATIVE_INFINITY, monotonic: Number.NEGATIVE_INFINITY, sequence: -1 };

/** Whether a read at `at` began before another one; not where there is none. */
export const isBefore = (at: ReadStamp, other: ReadStamp | undefined): boolean => other !== undefined && at.monotonic < other.monotonic;
