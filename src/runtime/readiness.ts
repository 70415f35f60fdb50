import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { timeUntil, within } from '../clock.ts';
import type { Check } from '../ports/health.ts';
import type { StoreReads } from '../ports/store.ts';
import type { Stream } from '../ports/stream.ts';
import { shared } from '../serial.ts';
import type { LandingReport } from './consumer-role.ts';

/** How far this machine's clock and the store's may differ, ms: expiry and Last-Modified rest on both. */
const CLOCK_LIMIT = 2000;
/** How long an engine may take to answer, ms. */
const PATIENCE = 3000;
/** How long a thread of ours may take, ms: it may have much to do, which is no fault. */
const BUSY = 60_000;
/**
 * How long after its beginning a check is waited for, ms; then the answer is what is known from before. An answer may take 100 ms, and
 * the main thread has other work.
 */
const WAIT = 25;

/** What readiness looks at. Absent is what this process does not use. */
export interface ReadinessParts {
  readonly store: Pick<StoreReads, 'ping'>;
  readonly stream?: Pick<Stream, 'ping'> | undefined;
  readonly landing: (() => Promise<LandingReport>) | undefined;
  /** How many messages have not landed. */
  readonly lag?: (() => Promise<number>) | undefined;
  /** The thread that builds feeds. */
  readonly feeds?: { ping(): Promise<void> } | undefined;
  readonly draining: () => boolean;
  readonly now: () => number;
}

type Ask<T> = () => Promise<T>;

/**
 * What `/readyz` shows: each part by name, with the reason when one is not ready. Everything is looked at anew for each answer, but
 * an answer takes 100 ms at most: what has not answered by then is as it was last known.
 */
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

/** The check of landing with its lag, in messages and in seconds since the oldest one of them was accepted. */
function withLag({ oldest, ...check }: Check, messages: number | undefined, now: number): Check {
  if (messages === undefined) return check;
  if (messages === 0) return { ...check, lag_messages: 0, lag_seconds: 0 };
  return {
    ...check,
    lag_messages: messages,
    ...(typeof oldest === 'number' && { lag_seconds: Math.max(0, Math.round((now - oldest) / 1000)) }),
  };
}

/** A check that throws, or takes more than `patience` ms, is red with the reason. The process has just opened what it looks at: green. */
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
 * Asks one question at a time. Resolves with its answer, or when 25 ms have passed since it was asked with the last one; with `first`
 * before there was one. Who asks while an answer is overdue does not wait for it.
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
    await Promise.race([answered, sleep(left, undefined, { ref: false }).then(() => turn())]);
    return known;
  };
}
