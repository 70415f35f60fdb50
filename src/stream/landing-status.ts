import type { Log } from '../ports/log.ts';

/** What landing is doing: `retrying` goes on by itself; `halted` needs a person, and goes on when one has acted. */
export type LandingStatus = { readonly state: 'running' } | LandingFault;

/** Why landing stands still. */
export interface LandingFault {
  readonly state: 'retrying' | 'halted';
  readonly reason: string;
}

/** The faults of one consumer, by the part that has them: the stream as a whole, or a partition. */
export interface LandingFaults {
  /** Notes the part's fault. Logs it only when it is new, however often it is met again. */
  report(part: string, fault: LandingFault): void;
  /** Notes that the part works; logs it when it had a fault. */
  clear(part: string): void;
  /** The worst fault of all parts, or `running`. */
  status(): LandingStatus;
}

/** No faults yet. */
export function landingFaults(log: Log): LandingFaults {
  const faults = new Map<string, LandingFault>();
  return {
    report(part, fault) {
      const known = faults.get(part);
      faults.set(part, fault);
      if (known?.state === fault.state && known.reason === fault.reason) return;
      log('error', `landing ${fault.state === 'halted' ? 'has stopped' : 'is held up'} (${part}): ${fault.reason}`);
    },
    clear(part) {
      if (faults.delete(part)) log('info', `landing goes on (${part})`);
    },
    status() {
      const all = [...faults.values()];
      return all.find(({ state }) => state === 'halted') ?? all[0] ?? { state: 'running' };
    },
  };
}
