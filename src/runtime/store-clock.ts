/** The clock of processes that share a store: their own, unless the store's says that it is ahead (SPEC D37.1). */
import { type Clock, systemClock, within } from '../clock.ts';
import type { StoreReads } from '../ports/store.ts';

/** How far the clock of a machine may be ahead before it is not gone by, ms: as far as `/readyz` lets it differ. */
const AHEAD = 2_000;
/** How often the store is asked, how soon again while the clock is ahead, and how slow an answer may be that says what time it is, ms. */
const EVERY = 5_000;
const SOON = 100;
const SLOWEST = 1_000;

/** What all threads of a process know of the store's clock: by how much it is ahead of the monotonic one, ms; Infinity: nothing. */
export type ClockBase = SharedArrayBuffer;

export function newClockBase(): ClockBase {
  const base = new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT);
  new Float64Array(base)[0] = Number.POSITIVE_INFINITY;
  return base;
}

/**
 * The clock of this machine; while that is ahead of the store's, the store's as it was told last, which goes on with the monotonic clock. So
 * it is wherever the clock was right and is set ahead, from that moment on. `onAhead` is told of it each time.
 */
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

/** Asks the store what time it is. An answer that was long on its way, or none, says nothing. */
async function ask(store: Pick<StoreReads, 'ping'>, base: ClockBase, system: Clock): Promise<void> {
  const sent = system.monotonic();
  const told = await within(store.ping(), SLOWEST, 'the store', system).catch(() => undefined);
  const got = system.monotonic();
  if (told === undefined) return;
  // It may have been told at any moment between: it is no later now.
  new Float64Array(base)[0] = Math.min(system.now(), told + (got - sent)) - got;
}

/** Follows the clock of a store that several processes share; resolves when it was asked once. */
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
