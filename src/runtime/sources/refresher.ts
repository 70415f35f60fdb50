/** Refreshes sources in one process, with shared downloads (SPEC D23.10 to D23.21). A failure leaves the list unchanged. */
import { isCounted, isExpiring } from '../../account/source-state.ts';
import { hasCode } from '../../errors.ts';
import type { Lease } from '../../ports/stored/source-store.ts';
import { inTurns, shared } from '../../serial.ts';
import { downloads } from './downloads.ts';
import { type Known, type KnownSources, readSources } from './known.ts';
import type { RefresherPorts } from './ports.ts';
import { sourceSteps } from './steps.ts';

export interface Refresher {
  /** `isFresh`: includes requests just made in this process. */
  tick(isFresh?: boolean): Promise<void>;
  idle(): Promise<void>;
  /** Empty unless this process refreshes. */
  readonly known: ReadonlyMap<string, Readonly<Known>>;
  /** Aborts running work and releases the lease. */
  stop(): Promise<void>;
}

/** Also the write interval of minor changes, ms. */
const LOOK = 2000;
const WRITTEN = 60_000;
/** Delay after an internal failure, ms. */
const HOLD_OFF = 15_000;

/** Comparisons, each of another workspace. */
const COMPARED = 2;

export function refresher(ports: RefresherPorts): Refresher {
  const { store, lease: election, apply, log, monotonic } = ports;
  const { now } = apply;
  const known: KnownSources = new Map();
  const stopping = new AbortController();
  const ticking = shared<void>();
  const inTurn = inTurns(COMPARED);
  const running = new Set<Promise<void>>();
  let lease: Lease | undefined;
  let revision = -1;
  let [lookedAt, writtenAt] = [Number.NEGATIVE_INFINITY, now()];

  function work(sources: readonly Known[], what: () => Promise<void>): void {
    for (const each of sources) each.isBusy = true;
    const done = what()
      .catch((error: unknown) => holdOff(sources, error).catch(() => undefined))
      .finally(() => {
        for (const each of sources) each.isBusy = false;
        running.delete(done);
      });
    running.add(done);
  }

  async function holdOff(sources: readonly Known[], error: unknown): Promise<void> {
    if (stopping.signal.aborted) return;
    for (const each of sources) each.delayedUntil = monotonic() + HOLD_OFF;
    // Changed source or other process: reads again.
    if (hasCode(error, 'CHANGED')) {
      revision = -1;
      return;
    }
    const isBusy = hasCode(error, 'REFUSED') || hasCode(error, 'LIMITED');
    const wait = { for: isBusy ? `its list: ${error.message}` : 'the service, which failed', until: Number.POSITIVE_INFINITY };
    await steps.wait(sources, wait);
    if (!isBusy) log('warn', `the source ${sources[0]!.record.source.name} could not be refreshed: ${(error as Error).message}`);
  }

  async function write(sources: readonly Known[]): Promise<boolean> {
    const updates = sources.flatMap(({ unwritten }) => unwritten ?? []);
    if (updates.length === 0) return true;
    if (lease === undefined) return false;
    const written = await store.writeSources(lease, updates);
    if (written === undefined) {
      election.lost();
      lease = undefined;
      known.clear();
      return false;
    }
    for (const each of sources) if (updates.includes(each.unwritten!)) each.unwritten = undefined;
    return written.length === updates.length;
  }

  const steps = sourceSteps({ ...ports, write, inTurn, signal: stopping.signal });
  const fetching = downloads({ ...ports, known, work, steps, signal: stopping.signal });

  async function read(isFresh: boolean): Promise<void> {
    if (!isFresh && now() - lookedAt < LOOK && now() >= lookedAt) return;
    lookedAt = now();
    const found = await store.sourceRevision();
    if (found === revision) return;
    fetching.recall(await readSources(store, known, { now, monotonic }));
    revision = found;
  }

  /** Whether the current failure is logged. */
  let isSilent = false;

  async function begin(isFresh: boolean): Promise<void> {
    if (stopping.signal.aborted) return;
    const claimed = await election.claim();
    if (claimed?.fence !== lease?.fence) {
      known.clear();
      revision = -1;
      if (claimed !== undefined) ports.begin();
    }
    lease = claimed;
    if (lease === undefined) return;
    await read(isFresh);
    for (const one of known.values()) {
      const step = one.isBusy || one.delayedUntil > monotonic() ? undefined : stepOf(one);
      if (step !== undefined) work([one], () => step(one));
    }
    const waiting = fetching.begin();
    if (waiting.length > 0) await write(waiting);
    if (now() - writtenAt < WRITTEN && now() >= writtenAt) return;
    writtenAt = now();
    await write([...known.values()].filter(({ isBusy, unwritten }) => !isBusy && unwritten !== undefined));
  }

  /** Work other than fetching. */
  function stepOf({ record: { source, asked }, state }: Known): ((one: Known) => Promise<void>) | undefined {
    if (state.applying !== null) return steps.goOn;
    if (asked?.what === 'accept') return steps.accept;
    if (asked?.what === 'discard') return steps.discard;
    if (!isCounted(state)) return steps.recount;
    return isExpiring(source, state, now()) ? steps.expire : undefined;
  }

  return {
    known,
    tick: (isFresh = false) =>
      ticking(() => begin(isFresh)).then(
        () => {
          isSilent = false;
        },
        (error: unknown) => {
          if (!stopping.signal.aborted && !isSilent) log('warn', `sources could not be checked: ${(error as Error).message}`);
          isSilent = true;
        },
      ),
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
    async stop() {
      stopping.abort();
      await Promise.all(running);
      await write([...known.values()].filter(({ unwritten }) => unwritten !== undefined)).catch(() => undefined);
      await election.release().catch(() => undefined);
    },
  };
}
