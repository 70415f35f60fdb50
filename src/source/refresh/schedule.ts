/** SPEC D23.12 to D23.14. All times in ms. */

const MINUTE = 60_000;
const DAY = 86_400_000;

/** Also the pause after "too many requests" without a time. */
const LEAST = 5 * MINUTE;
/** Longest pause granted to a server. */
export const LONGEST_ALONE = 7 * DAY;
/** Of the interval, doubling with each failure. */
const FIRST_TRY = 1 / 8;
/** Of a wait, up to this fraction and `LONGEST`: spreads the load. */
const SPREAD = 1 / 10;
const LONGEST = 10 * MINUTE;

/** No further requests until the source is resumed. */
const STOPPING = [401, 403, 404, 410];

export const stops = (status: number): boolean => STOPPING.includes(status);

/** Pause after this response, for every caller. */
export const leftAlone = (status: number, retryAfter: number | undefined): number =>
  Math.min(retryAfter ?? (status === TOO_MANY ? LEAST : 0), LONGEST_ALONE);
const TOO_MANY = 429;

export interface Interval {
  readonly every: number;
  readonly least: number;
}

/** `random`: [0, 1). */
export function waitAfter({ every, least }: Interval, failures: number, retryAfter: number | undefined, random: number): number {
  const usual = failures === 0 ? every : Math.min(every, every * FIRST_TRY * 2 ** (failures - 1));
  const wait = Math.max(usual, least, LEAST, Math.min(retryAfter ?? 0, LONGEST_ALONE));
  return Math.round(wait + random * Math.min(wait * SPREAD, LONGEST));
}

/** A time further ahead than could be set now comes from a wrong clock and is due. Only failures may wait longer than the interval. */
export function isDueAt(
  { nextAt, failures }: { readonly nextAt: number; readonly failures: number },
  { every, least }: Interval,
  now: number,
): boolean {
  const most = Math.max(every, least, LEAST, failures === 0 ? 0 : LONGEST_ALONE) + LONGEST;
  return nextAt <= now || nextAt - now > most;
}

/** A source due at `nextAt` shares a current download of its address. */
export const goesAlong = (nextAt: number, every: number, now: number): boolean => nextAt - now <= every / 2;
