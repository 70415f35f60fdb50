/**
 * What one process of many does, under a seeded schedule: real holders of a lease, whose claims are early, late, lost or failed, also after they
 * had their effect, while processes work, end and are killed. Whoever is told that he has the lease has it, and what he writes later is refused.
 */
import { holdLease, type OwnedLease } from '../../src/runtime/sources/lease.ts';
import { Schedule, type SimulatedClock, Violation } from './schedule.ts';

const PROCESSES = 3;
const NAME = 'sources';
/** How long the lease is without a holder at most when all is well, ms: as long as it is held, and a look. */
const REST = 45_000;

interface Process {
  readonly name: string;
  readonly lease: OwnedLease;
  readonly clock: SimulatedClock;
  isBusy: boolean;
  isGone: boolean;
}

/** What a run consisted of. */
export interface SimulatedLease {
  readonly steps: number;
  readonly claims: number;
  readonly written: number;
  readonly refused: number;
}

/** Rejects with a `Violation`. */
export async function simulateLease(seed: number, steps: number): Promise<SimulatedLease> {
  const schedule = new Schedule(seed);
  const { random } = schedule;
  const counts = { steps, claims: 0, written: 0, refused: 0 };
  /** As both stores hold it. */
  let held: { readonly holder: string; readonly fence: number; readonly until: number } | undefined;
  let down = false;
  let started = 0;
  let broken: Violation | undefined;
  const processes = Array.from({ length: PROCESSES }, start);
  let step = 0;

  function start(): Process {
    const name = `process-${++started}`;
    const clock = schedule.clock();
    const store = {
      claimLease: schedule.behindGates(async (_: string, holder: string, ms: number) => {
        if (down) throw new Error('the store is away');
        if (held !== undefined && held.holder !== holder && held.until > schedule.now) return undefined;
        held = { holder, fence: held?.holder === holder ? held.fence : (held?.fence ?? 0) + 1, until: schedule.now + ms };
        return held.fence;
      }),
      releaseLease: schedule.behindGates(async (_: string, holder: string) => {
        if (down) throw new Error('the store is away');
        if (held?.holder === holder) held = { ...held, until: 0 };
      }),
    };
    return { name, clock, lease: holdLease(store, NAME, name, clock.monotonic), isBusy: false, isGone: false };
  }

  const write = schedule.behindGates(async (fence: number) => {
    if (down) throw new Error('the store is away');
    const isHeld = held?.fence === fence;
    counts[isHeld ? 'written' : 'refused'] += 1;
    return isHeld;
  });

  /** One look of a process: it claims, and works where it may. */
  async function look(process: Process): Promise<void> {
    process.isBusy = true;
    try {
      const lease = await process.lease.claim();
      counts.claims += 1;
      if (lease === undefined || process.isGone) return;
      if (held?.holder !== process.name || held.fence !== lease.fence || held.until <= schedule.now) {
        throw new Violation(`${process.name} is told that it has the lease, and ${held?.holder ?? 'nobody'} has it`);
      }
      if (!(await write(lease.fence))) process.lease.lost();
    } catch (error) {
      if (error instanceof Violation) broken ??= error;
    } finally {
      process.isBusy = false;
    }
  }

  function end(isKilled: boolean): void {
    const at = random.below(PROCESSES);
    const process = processes[at]!;
    process.isGone = true;
    if (!isKilled) process.lease.release().catch(() => {});
    processes[at] = start();
  }

  /** With everything up, somebody has it, and only one. */
  async function rest(): Promise<void> {
    down = false;
    schedule.faulty = false;
    for (let passed = 0; passed < REST; passed += 1_000) {
      for (const process of processes) if (!process.isBusy) void look(process);
      await schedule.openAll();
      await schedule.pass(1_000);
    }
    const having = processes.filter(({ name }) => name === held?.holder && held.until > schedule.now);
    if (having.length !== 1) throw new Violation('all is well, and nobody of those who are there has the lease');
    schedule.faulty = true;
  }

  const acts: readonly (readonly [weight: number, act: () => unknown])[] = [
    [40, () => schedule.open()],
    [25, () => schedule.pass(random.pick([1, 100, 1_000, 2_000, 5_000, 12_000, 31_000]))],
    [
      30,
      () => {
        const process = random.pick(processes);
        if (!process.isBusy) void look(process);
        return schedule.settle();
      },
    ],
    [1, () => (down = schedule.oneIn(3))],
    [1, () => end(schedule.oneIn(2))],
  ];
  const table = acts.flatMap(([weight, act]) => Array.from({ length: weight }, () => act));
  try {
    for (; step < steps; step++) {
      await random.pick(table)();
      if (step % 2_000 === 1_999) await rest();
      if (broken !== undefined) throw broken;
    }
  } catch (error) {
    throw new Violation(`lease, seed ${seed}, step ${step}: ${(error as Error).message}`, { cause: error });
  }
  return counts;
}
