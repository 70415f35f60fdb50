import { setImmediate as turn } from 'node:timers/promises';
import { before, timeUntil, within } from '../clock.ts';
import type { Check } from '../ports/health.ts';
import type { StoreReads } from '../ports/store.ts';
import type { Stream } from '../ports/stream.ts';
import { shared } from '../serial.ts';
import type { LandingReport } from './consumer-role.ts';

/** Tolerated difference to the store, ms: expiry and Last-Modified use both. */
const CLOCK_LIMIT = 2000;
/** Timeout of an engine, ms. */
const PATIENCE = 3000;
/** Timeout of own threads, ms, which may be busy without a fault. */
const BUSY = 60_000;
/** Until a request returns the last known result, ms. A response may take 100 ms. */
const WAIT = 25;

/** Absent: not used by this process. */
export interface ReadinessParts {
  readonly store: Pick<StoreReads, 'ping'>;
  readonly stream?: Pick<Stream, 'ping'> | undefined;
  readonly landing: (() => Promise<LandingReport>) | undefined;
  /** Messages not landed. */
  readonly lag?: (() => Promise<number>) | undefined;
  readonly feeds?: { ping(): Promise<void> } | undefined;
  readonly draining: () => boolean;
  readonly now: () => number;
}

type Ask<T> = () => Promise<T>;

/** A response takes up to 100 ms; overdue checks return their last known result. */
export function readiness({ store, stream, landing, lag, feeds, draining, now }: ReadinessParts): () => Promise<Record<string, Check>> {
  const checks: [string, Ask<Check>][] = [['store', checked('the store', PATIENCE, () => checkStore(store, now))]];
  if (stream !== undefined) checks.push(['stream', checked('the stream', PATIENCE, () => stream.ping().then(() => ({})))]);
  if (landing !== undefined) {
    const state = checked('landing', BUSY, async () => checkLanding(await landing()));
    const messages = lag && lastKnown<number | undefined>(() => lag().catch(() => undefined), undefined);
    checks.push(['landing', async () => withLag(...(await Promise.all([state(), messages?.()])), now())]);
  }
  if (feeds !== undefined) checks.push(['feeds', checked('the feed thread', BUSY, () => feeds.ping().then(() => ({})))]);

  return async () => {
    const known = await Promise.all(checks.map(async ([name, check]) => [name, await check()] as const));
    return { ...Object.fromEntries(known), ...(draining() && { process: { ok: false, reason: 'the process is stopping' } }) };
  };
}

async function checkStore(store: ReadinessParts['store'], now: () => number): Promise<Partial<Check>> {
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

function checkLanding({ oldest, landed: _landed, ...status }: LandingReport): Partial<Check> {
  const waiting = oldest === undefined ? {} : { oldest };
  return status.state === 'running' ? waiting : { ok: false, state: status.state, reason: status.reason, ...waiting };
}

/** In messages, and in seconds since the oldest was accepted. */
function withLag({ oldest, ...check }: Check, messages: number | undefined, now: number): Check {
  if (messages === undefined) return check;
  if (messages === 0) return { ...check, lag_messages: 0, lag_seconds: 0 };
  return {
    ...check,
    lag_messages: messages,
    ...(typeof oldest === 'number' && { lag_seconds: Math.max(0, Math.round((now - oldest) / 1000)) }),
  };
}

/** Red with the reason if it throws or exceeds `patience` ms; initially green. */
const checked = (name: string, patience: number, ask: Ask<Partial<Check>>): Ask<Check> =>
  lastKnown<Check>(
    () =>
      within(ask(), patience, name).then(
        (found) => ({ ok: true, ...found }),
        (error: Error) => ({ ok: false, reason: error.message }),
      ),
    { ok: true },
  );

/**
 * One call at a time. Resolves with its result or, 25 ms after its start, with the previous one (initially `first`). An overdue call is not
 * awaited.
 */
function lastKnown<T>(ask: Ask<T>, first: T): Ask<T> {
  let known = first;
  const asking = shared<void>();
  let begun = 0;
  const askNow = async () => {
    begun = performance.now();
    known = await ask();
  };
  return async () => {
    const answered = asking(askNow);
    const left = timeUntil(begun + WAIT, performance.now());
    await before(answered, left);
    await turn();
    return known;
  };
}
