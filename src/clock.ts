/** Time: what reads it takes a clock, and tests hold their own. */
import { WeirError } from './errors.ts';

export interface Clock {
  /** ms since 1970. */
  now(): number;
  /** Runs `run` once after `ms`; the returned function calls it off. */
  after(ms: number, run: () => void): () => void;
}

/** The time of this machine. */
export const systemClock: Clock = {
  now: Date.now,
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** Whole seconds since 1970. */
export const secondOf = (ms: number): number => Math.floor(ms / 1000);

/** The promise, or a rejection with TIMEOUT after `ms`; the work itself goes on. `who` is the one that does not answer. */
export function within<T>(promise: Promise<T>, ms: number, who: string, clock: Clock = systemClock): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => reject(new WeirError('TIMEOUT', `${who} did not answer within ${ms / 1000} s`)));
    promise.then(resolve, reject).finally(cancel);
  });
}
