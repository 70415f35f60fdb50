import type { Clock } from '../clock.ts';
import { FatalLanding } from './fatal-landing.ts';
import type { LandingFaults } from './landing-status.ts';

/** Pauses, ms: doubled each time, up to the longest. A halt is checked again after the longest: a person may have acted. */
const BACKOFF = { first: 100, longest: 5000 };

/** Works until it returns or `stop` aborts, again after a pause if it throws. Reports faults under the part's name. */
export async function retrying(
  part: string,
  work: () => Promise<void>,
  faults: LandingFaults,
  clock: Clock,
  stop: AbortSignal,
): Promise<void> {
  for (let wait = BACKOFF.first; !stop.aborted; wait = Math.min(wait * 2, BACKOFF.longest)) {
    const begun = clock.monotonic();
    try {
      await work();
      faults.clear(part);
      return;
    } catch (error) {
      const halted = error instanceof FatalLanding;
      faults.report(part, { state: halted ? 'halted' : 'retrying', reason: (error as Error).message });
      // After a while without faults, pauses are short again.
      if (clock.monotonic() - begun > BACKOFF.longest) wait = BACKOFF.first;
      await pause(halted ? BACKOFF.longest : wait, clock, stop);
    }
  }
}

/** Resolves after `ms`, or when `stop` aborts. */
export const pause = (ms: number, clock: Clock, stop: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      cancel();
      stop.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    stop.addEventListener('abort', end);
    if (stop.aborted) end();
  });
