/** Own clock of processes with a shared store, unless ahead of the store's (SPEC D37.1). */
import { type Clock, systemClock, within } from '../clock.ts';
import type { StoreReads } from '../ports/store.ts';

/** Tolerated lead, ms; as in `/readyz`. */
const AHEAD = 2_000;
/** Query interval, also while ahead, and limit of a useful answer, ms. */
const EVERY = 5_000;
const SOON = 100;
const SLOWEST = 1_000;

/** Lead of the store's clock over the monotonic one, ms; Infinity: unknown. */
export type ClockBase = SharedArrayBuffer;

export function newClockBase(): ClockBase {
  const base = new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT);
  new Float64Array(base)[0] = Number.POSITIVE_INFINITY;
  return base;
}

/** While ahead of the store's, the last store time plus monotonic time. Calls `onAhead` each time. */
export function clockBeside(
  base: ClockBase,
  { system = systemClock, onAhead = () => {} }: { system?: Clock; onAhead?: () => void } = {},
): Clock {
  const known = new Float64Array(base);
  return {
    ...system,
    now() {
      const [wall, steady] = [system.now(), system.monotonic() + known[0]!];
      if (wall - steady <= AHEAD) return wall;
      onAhead();
      return steady;
    },
  };
}

/** Ignores slow or missing answers. */
async function ask(store: Pick<StoreReads, 'ping'>, base: ClockBase, system: Clock): Promise<void> {
  const sent = system.monotonic();
  const storeTime = await within(store.ping(), SLOWEST, 'the store', system).catch(() => undefined);
  const got = system.monotonic();
  if (storeTime === undefined) return;
  // Sampled at any time in between: an upper bound.
  new Float64Array(base)[0] = Math.min(system.now(), storeTime + (got - sent)) - got;
}

/** Resolves after the first query. */
export async function followClock(
  store: Pick<StoreReads, 'ping'>,
  system: Clock = systemClock,
): Promise<{ readonly clock: Clock; readonly base: ClockBase; stop(): void }> {
  const base = newClockBase();
  let [asking, askedAt] = [false, Number.NEGATIVE_INFINITY];
  const askNow = async () => {
    [asking, askedAt] = [true, system.monotonic()];
    await ask(store, base, system).finally(() => (asking = false));
  };
  const askUnless = (within: number) => {
    if (!asking && system.monotonic() - askedAt >= within) askNow().catch(() => {});
  };
  await askNow();
  const timer = setInterval(() => askUnless(SOON), EVERY);
  timer.unref();
  return { clock: clockBeside(base, { system, onAhead: () => askUnless(SOON) }), base, stop: () => clearInterval(timer) };
}
