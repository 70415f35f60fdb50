/** When a message is tried again, and for how long (SPEC D27.6). */
import { DAY } from '../clock.ts';

const [FIRST, LONGEST] = [10_000, 3_600_000];

/** Changes are gathered for so long after a message, ms. */
export const GATHER = 60_000;

/** When a message that was tried `tries` times is tried again, ms; null: it is given up, a day after it was made. */
export function nextTry({ at, tries }: { readonly at: number; readonly tries: number }, now: number, retryAfter = 0): number | null {
  const next = now + Math.min(LONGEST, Math.max(FIRST * 2 ** Math.min(tries - 1, 20), retryAfter));
  return next >= at + DAY ? null : next;
}
