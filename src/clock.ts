import type { Clock } from './feed/clock.ts';

/** The time of this machine. */
export const systemClock: Clock = {
  now: Date.now,
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
