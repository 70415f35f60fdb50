import type { Log } from '../ports/log.ts';

/** `retrying` continues automatically; `halted` needs a person. */
export type LandingStatus = { readonly state: 'running' } | LandingFault;

export interface LandingFault {
  readonly state: 'retrying' | 'halted';
  readonly reason: string;
}

/** By part: the stream as a whole, or a partition. */
export interface LandingFaults {
  /** Logs it only if it is new. */
  report(part: string, fault: LandingFault): void;
  /** Logs the recovery. */
  clear(part: string): void;
  status(): LandingStatus;
}

export function landingFaults(log: Log): LandingFaults {
  const faults = new Map<string, LandingFault>();
  return {
    report(part, fault) {
      const known = faults.get(part);
      faults.set(part, fault);
      if (known?.state === fault.state && known.reason === fault.reason) return;
      log('error', `landing ${fault.state === 'halted' ? 'has stopped' : 'is blocked'} (${part}): ${fault.reason}`);
    },
    clear(part) {
      if (faults.delete(part)) log('info', `landing continues (${part})`);
    },
    status() {
      const all = [...faults.values()];
      return all.find(({ state }) => state === 'halted') ?? all[0] ?? { state: 'running' };
    },
  };
}
