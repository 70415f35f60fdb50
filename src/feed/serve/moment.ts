/** A point in time: `at` (ms since 1970) is for ages, `sequence` for order, also within one millisecond. */
export interface Moment {
  readonly at: number;
  readonly sequence: number;
}

/** Earlier than every moment that a context hands out. */
export const BEFORE_ALL: Moment = { at: Number.NEGATIVE_INFINITY, sequence: -1 };
