/** When is a source fetched next (SPEC D23.12 to D23.14)? All times in ms. */

const MINUTE = 60_000;
const DAY = 86_400_000;

/** Nothing is fetched more often, and what says "too many" without a time is left alone so long. */
const LEAST = 5 * MINUTE;
/** A server may ask to be left alone for so long. */
export const LONGEST_ALONE = 7 * DAY;
/** The first failure is tried again after this part of the interval; each further one in a row after twice the time before. */
const FIRST_TRY = 1 / 8;
/** A wait is longer by up to this part of it, and by no more than `LONGEST`: sources do not all ask at once. */
const SPREAD = 1 / 10;
const LONGEST = 10 * MINUTE;

/** Statuses that mean "not you" or "not any more": nothing is asked until somebody resumes the source. */
const STOPPING = [401, 403, 404, 410];

export const stops = (status: number): boolean => STOPPING.includes(status);

/** How long nobody asks what was answered so, whoever wants it. */
export const leftAlone = (status: number, retryAfter: number | undefined): number =>
  Math.min(retryAfter ?? (status === TOO_MANY ? LEAST : 0), LONGEST_ALONE);
const TOO_MANY = 429;

export interface Interval {
  readonly every: number;
  /** Between two downloads from its host; 0: not known. */
  readonly least: number;
}

/** How long to wait behind a fetch with which `failures` in a row have failed. `random`: at least 0 and under 1. */
export function waitAfter({ every, least }: Interval, failures: number, retryAfter: number | undefined, random: number): number {
  const usual = failures === 0 ? every : Math.min(every, every * FIRST_TRY * 2 ** (failures - 1));
  const wait = Math.max(usual, least, LEAST, Math.min(retryAfter ?? 0, LONGEST_ALONE));
  return Math.round(wait + random * Math.min(wait * SPREAD, LONGEST));
}

/**
 * Whether a fetch is due. An instant that lies further ahead than it can have been set from now comes from a clock that was wrong, and
 * is due as well. Only a failure may have been told to wait for longer than the interval.
 */
export function isDueAt(
  { nextAt, failures }: { readonly nextAt: number; readonly failures: number },
  { every, least }: Interval,
  now: number,
): boolean {
  const most = Math.max(every, least, LEAST, failures === 0 ? 0 : LONGEST_ALONE) + LONGEST;
  return nextAt <= now || nextAt - now > most;
}

/** Whether one that is due at `nextAt` goes along with a download of its address: what asks the same of the same server asks together. */
export const goesAlong = (nextAt: number, every: number, now: number): boolean => nextAt - now <= every / 2;
