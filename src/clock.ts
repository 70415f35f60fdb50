/**
 * Clocks are arguments, so that tests can set them. Expiry and all stored or displayed instants use the wall clock, which may be set at any
 * time; durations use the monotonic clock.
 */
import { WeirError } from './errors.ts';

export interface Clock {
  /** ms since 1970. */
  now(): number;
  /** ms; equal in all threads of the process, meaningless outside. */
  monotonic(): number;
  /** Runs `run` once; the returned function cancels it. */
  after(ms: number, run: () => void): () => void;
}

/** One instant on both clocks, ms. */
export interface Instant {
  readonly wall: number;
  readonly monotonic: number;
}

export type Clocks = Pick<Clock, 'now' | 'monotonic'>;

export const instantOf = (clock: Clocks): Instant => ({ wall: clock.now(), monotonic: clock.monotonic() });

export const systemClock: Clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, Math.max(0, ms));
    return () => clearTimeout(timer);
  },
};

/** ms; 0 for the past, because Node warns of negative delays (SPEC D46.9). */
export const timeUntil = (at: number, now: number): number => Math.max(0, at - now);

/** Yields to other work in the event loop. */
export const turnOf = (clock: Pick<Clock, 'after'>, ms = 0): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));

/** End of the year 9999, ms: later instants have no common form. */
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * ISO 8601, or null. Messages of other producers may contain invalid instants: values before 1970 or missing become the first, values after
 * 9999 the last.
 */
export const isoTime = (ms: number | null): string | null => (ms === null ? null : new Date(ms > 0 ? Math.min(ms, LAST) : 0).toISOString());

const INSTANT = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?:Z|([+-]\d\d):?(\d\d))?)?$/;

/** ISO 8601 to ms since 1970; undefined: invalid. UTC unless a zone is given; the day must exist. */
export function readInstant(text: unknown): number | undefined {
  const [, day, time = '00:00', hours = '+00', minutes = '00'] = (typeof text === 'string' && INSTANT.exec(text)) || [];
  // `Date.parse` reads 30 February as 2 March.
  const first = Date.parse(`${day}T00:00Z`);
  if (Number.isNaN(first) || !new Date(first).toISOString().startsWith(day!)) return undefined;
  const at = Date.parse(`${day}T${time}${hours}:${minutes}`);
  return Number.isNaN(at) ? undefined : at;
}

/** ms. */
export const DAY = 86_400_000;

/** Days since 1970, UTC. */
export const dayOf = (ms: number): number => Math.floor(ms / DAY);

/** Seconds since 1970. */
export const secondOf = (ms: number): number => Math.floor(ms / 1000);

/** Rejects with TIMEOUT after `ms`; the work continues. `subject`: of the message. */
export const within = <T>(promise: Promise<T>, ms: number, subject: string, clock: Clock = systemClock): Promise<T> =>
  new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => reject(new WeirError('TIMEOUT', `${subject} did not answer within ${ms / 1000} s`)));
    promise.then(resolve, reject).finally(cancel);
  });

/** Undefined after `ms`; the work continues. */
export const before = <T>(promise: Promise<T>, ms: number): Promise<T | undefined> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
