import { within } from '../clock.ts';
import type { Check } from '../ports/health.ts';
import type { StoreReads } from '../ports/store.ts';
import type { Stream } from '../ports/stream.ts';
import type { LandingStatus } from '../stream/landing-status.ts';

/** How far this machine's clock and the store's may differ, ms: expiry and Last-Modified rest on both. */
const CLOCK_LIMIT = 2000;
/** How long an engine may take to answer, ms. */
const PATIENCE = 3000;

/** What readiness looks at. */
export interface ReadinessParts {
  readonly store: Pick<StoreReads, 'ping'>;
  readonly stream: Pick<Stream, 'ping'>;
  /** Absent where this process does not land. */
  readonly landing: (() => Promise<LandingStatus>) | undefined;
  readonly draining: () => boolean;
  readonly now: () => number;
}

/** What `/readyz` shows: each engine and landing by name, with the reason when one is not ready. */
export function readiness({ store, stream, landing, draining, now }: ReadinessParts): () => Promise<Record<string, Check>> {
  return async () => {
    const checks: Record<string, Promise<Check>> = {
      store: checked('the store', checkStore()),
      stream: checked(
        'the stream',
        stream.ping().then(() => ({})),
      ),
    };
    if (landing !== undefined) checks.landing = checked('landing', checkLanding(landing));
    if (draining()) checks.process = Promise.resolve({ ok: false, reason: 'the process is stopping' });
    const names = Object.keys(checks);
    const values = await Promise.all(Object.values(checks));
    return Object.fromEntries(names.map((name, i) => [name, values[i]]));
  };

  async function checkStore(): Promise<Partial<Check>> {
    const before = now();
    const clock = await store.ping();
    const difference = Math.round(clock - (before + now()) / 2);
    if (Math.abs(difference) <= CLOCK_LIMIT) return { clock_difference_ms: difference };
    return {
      ok: false,
      clock_difference_ms: difference,
      reason: `the clock of the store differs by ${difference} ms, more than ${CLOCK_LIMIT}`,
    };
  }
}

async function checkLanding(landing: () => Promise<LandingStatus>): Promise<Partial<Check>> {
  const status = await landing();
  return status.state === 'running' ? {} : { ok: false, state: status.state, reason: status.reason };
}

/** A check that throws or takes too long is red, with the reason. */
async function checked(name: string, work: Promise<Partial<Check>>): Promise<Check> {
  try {
    return { ok: true, ...(await within(work, PATIENCE, name)) };
  } catch (error) {
    return { ok: false, reason: (error as Error).message };
  }
}
