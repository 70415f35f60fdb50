/**
 * Time: what reads it takes a clock, and tests hold their own. Expiry and all instants that are stored or shown are of the wall
 * clock, which may be set at any moment; how long something has lasted is measured on the monotonic clock.
 */
import { WeirError } from './errors.ts';

export interface Clock {
  /** The wall clock, ms since 1970. */
  now(): number;
  /** The monotonic clock, ms: never set, equal in all threads of the process, and meaningless outside of it. */
  monotonic(): number;
  /** Runs `run` once after `ms`; the returned function calls it off. */
  after(ms: number, run: () => void): () => void;
}

/** One point in time on both clocks, ms. */
export interface Instant {
  readonly wall: number;
  readonly monotonic: number;
}

/** The clocks that tell an instant. */
export type Clocks = Pick<Clock, 'now' | 'monotonic'>;

/** The present instant. */
export const instantOf = (clock: Clocks): Instant => ({ wall: clock.now(), monotonic: clock.monotonic() });

/** The time of this machine. */
export const systemClock: Clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, Math.max(0, ms));
    return () => clearTimeout(timer);
  },
};

/** How long it is until an instant, ms; 0 where it has passed: Node warns of a timer whose delay is negative (SPEC D46.9). */
export const timeUntil = (at: number, now: number): number => Math.max(0, at - now);

/** Resolves in a later turn of the event loop: others get on. */
export const turnOf = (clock: Pick<Clock, 'after'>): Promise<void> => new Promise((resolve) => void clock.after(0, resolve));

/** The last instant of the year 9999, ms: what comes after it has no common form. */
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * ISO 8601 time for people and programs, or null. Messages of other producers may have brought an instant before 1970 or after 9999,
 * or none at all: it is shown as the nearest one between, none as the first.
 */
export const isoTime = (ms: number | null): string | null => (ms === null ? null : new Date(ms > 0 ? Math.min(ms, LAST) : 0).toISOString());

const INSTANT = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?:Z|([+-]\d\d):?(\d\d))?)?$/;

/**
 * The instant that a text says in ISO 8601, ms since 1970; undefined where it says none. Without a zone it is of UTC, whatever the
 * machine's zone is; a day has to exist.
 */
export function readInstant(text: unknown): number | undefined {
  const [, day, time = '00:00', hours = '+00', minutes = '00'] = (typeof text === 'string' && INSTANT.exec(text)) || [];
  // `Date.parse` takes the 30th of February for the 2nd of March.
  const first = Date.parse(`${day}T00:00Z`);
  if (Number.isNaN(first) || !new Date(first).toISOString().startsWith(day!)) return undefined;
  const at = Date.parse(`${day}T${time}${hours}:${minutes}`);
  return Number.isNaN(at) ? undefined : at;
}

/** In ms. */
export const DAY = 86_400_000;

/** Whole days since 1970, in UTC. */
export const dayOf = (ms: number): number => Math.floor(ms / DAY);

/** Whole seconds since 1970. */
export const secondOf = (ms: number): number => Math.floor(ms / 1000);

/** The promise, or a rejection with TIMEOUT after `ms`; the work itself goes on. `who` is the one that does not answer. */
export const within = <T>(promise: Promise<T>, ms: number, who: string, clock: Clock = systemClock): Promise<T> =>
  new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => reject(new WeirError('TIMEOUT', `${who} did not answer within ${ms / 1000} s`)));
    promise.then(resolve, reject).finally(cancel);
  });
