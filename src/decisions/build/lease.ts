/** Until when bouncers keep a network, and when it is announced again (SPEC D14.5). All times in whole seconds. */
import type { NetworkKey } from './network-key.ts';

/** Kernel timeouts end at 24.8 days. A network that expires sooner has a lease until then. */
export const LONGEST_LEASE = 14 * 86_400;
/** Longer leases come in steps of this period, each network at its own offset, so few are announced at a time, s. */
const PERIOD = LONGEST_LEASE / 2;
const SLOT = 600;
/** Announced again this long before the lease ends, s (at most half of it): enough for the next build, fetch and large responses. */
const AHEAD = 300;

/** The lease of a network whose announcement could not be stored, s (SPEC D35.5): after a restart nobody knows that bouncers keep it. */
export const LONGEST_UNRECORDED_LEASE = 3_600;
/** Interval between attempts to store it, s. */
export const RECORD_RETRY = 60;

export const leaseUntil = (expires: number, key: NetworkKey, second: number): number =>
  expires - second <= LONGEST_LEASE ? expires : nextPeriod(key, second);

/** When to announce a network again if it outlives its lease; `second`: announced at, if known. */
export const renewAt = (until: number, second = Number.NEGATIVE_INFINITY): number =>
  until - Math.min(AHEAD, Math.floor((until - second) / 2));

/** On the network's own schedule, at least one period ahead. */
function nextPeriod(key: NetworkKey, second: number): number {
  let phase = 0;
  for (let i = 0; i < key.length; i++) phase = (Math.imul(phase, 31) + key.charCodeAt(i)) >>> 0;
  phase = (phase % (PERIOD / SLOT)) * SLOT;
  const earliest = second + PERIOD;
  return earliest - ((((earliest - phase) % PERIOD) + PERIOD) % PERIOD) + PERIOD;
}
