import type { Instant } from '../clock.ts';

/** `sequence` orders reads, even within one millisecond: the sequence of the request behind the read. */
export interface ReadStamp extends Instant {
  readonly sequence: number;
}

export const BEFORE_ALL: ReadStamp = { wall: Number.NEGATIVE_INFINITY, monotonic: Number.NEGATIVE_INFINITY, sequence: -1 };

export const isBefore = (at: ReadStamp, other: ReadStamp | undefined): boolean => other !== undefined && at.monotonic < other.monotonic;
