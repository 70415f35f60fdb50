/** SPEC D27.6. */
import { DAY } from '../clock.ts';

const [FIRST, LONGEST] = [10_000, 3_600_000];

/** Delay after a message, to combine changes, ms. */
export const GATHER = 60_000;

/** Time of the next attempt after `tries` attempts, ms; null: give up, a day after the message. */
export function nextTry({ at, tries }: { readonly at: number; readonly tries: number }, now: number, retryAfter = 0): number | null {
  const next = now + Math.min(LONGEST, Math.max(FIRST * 2 ** Math.min(tries - 1, 20), retryAfter));
  return next >= at + DAY ? null : next;
}
