/** Until when bouncers are told to hold a network, and when it is told again (SPEC D14.5). Instants are whole seconds. */
import type { NetworkKey } from './network-key.ts';

/** How long ahead bouncers are told to hold a network at most, s: the timeouts of kernels end at 24.8 days. What expires sooner is told until then. */
export const LONGEST_LEASE = 14 * 86_400;
/** What stays longer is told until one of these instants, each network at its own, so that few are told again at a time, s. */
const PERIOD = LONGEST_LEASE / 2;
const SLOT = 600;
/**
 * How long before the end that was told a network that stays is told again, s, or half of what was told where that is less: the next build,
 * the pull and thousands of other changes of it are to be over by then.
 */
const AHEAD = 300;

/**
 * For how long a network is told whose telling could not be noted in the store, s (SPEC D35.5): after a start nobody knows that bouncers hold
 * it, and it may be unblocked then.
 */
export const LONGEST_UNRECORDED_LEASE = 3_600;
/** When it is tried again to note it, s. */
export const RECORD_RETRY = 60;

/** Until when a network that expires then is told. */
export const leaseUntil = (lapse: number, key: NetworkKey, second: number): number =>
  lapse - second <= LONGEST_LEASE ? lapse : nextPeriod(key, second);

/** When it is told again if it stays for longer; `second` is when it was told, where that is known. */
export const renewAt = (until: number, second = Number.NEGATIVE_INFINITY): number =>
  until - Math.min(AHEAD, Math.floor((until - second) / 2));

/** The instant, of one a period for each network, until which a bouncer is told to hold it: at least one period ahead. */
function nextPeriod(key: NetworkKey, second: number): number {
  let phase = 0;
  for (let i = 0; i < key.length; i++) phase = (Math.imul(phase, 31) + key.charCodeAt(i)) >>> 0;
  phase = (phase % (PERIOD / SLOT)) * SLOT;
  const earliest = second + PERIOD;
  return earliest - ((((earliest - phase) % PERIOD) + PERIOD) % PERIOD) + PERIOD;
}
