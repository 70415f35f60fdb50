/**
 * Time and order under a seed: everything that waits for another thread, process or engine waits at a gate here, and the seed says which
 * gate opens next, how late, and whether it brings a fault. Equal seeds give equal runs.
 */
import type { Clock } from '../../src/clock.ts';
import { START } from '../support/feed-world.ts';
import { type Random, seededRandom } from '../support/random.ts';

/** What one run breaks: its seed and step say it again. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

/** A clock of the simulated world. Its wall clock may be set; the monotonic one is that of the world. */
export interface SimulatedClock extends Clock {
  /** Sets the wall clock forward by `ms`, or back. */
  set(ms: number): void;
}

/** The calls of a port, each behind a gate on its way there and another on its way back. */
type Call = (...args: never[]) => Promise<unknown>;

export class Schedule {
  readonly random: Random;
  /** ms since the beginning of the run. */
  now = 0;
  /** Whether gates may bring faults. */
  faulty = true;
  readonly #gates: ((error?: Error) => void)[] = [];
  readonly #timers = new Map<object, { readonly at: number; readonly run: () => void }>();

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  /** Whether one of `n` times. */
  oneIn(n: number): boolean {
    return this.random.below(n) === 0;
  }

  /** How many calls are under way. */
  get underWay(): number {
    return this.#gates.length;
  }

  clock(): SimulatedClock {
    let offset = 0;
    return {
      now: () => START + this.now + offset,
      monotonic: () => this.now,
      after: (ms, run) => {
        const key = {};
        this.#timers.set(key, { at: this.now + ms, run });
        return () => this.#timers.delete(key);
      },
      set: (ms) => {
        offset += ms;
      },
    };
  }

  /** Resolves, or rejects, when the seed says so. */
  gate(): Promise<void> {
    return new Promise((resolve, reject) => this.#gates.push((error) => (error === undefined ? resolve() : reject(error))));
  }

  /** A call of a port: it may fail before it had an effect, and after it. */
  behindGates = <C extends Call>(call: C): C =>
    (async (...args) => {
      await this.gate();
      const result = await call(...args);
      await this.gate();
      return result;
    }) as C;

  /** Opens one gate, seldom with a fault. Nothing where none is closed. */
  async open(): Promise<void> {
    const open = this.#gates.splice(this.random.below(this.#gates.length), 1)[0];
    open?.(this.faulty && this.oneIn(40) ? new Error('the connection broke') : undefined);
    await this.settle();
  }

  /** Opens gates until nothing is under way. */
  async openAll(): Promise<void> {
    while (this.#gates.length > 0) await this.open();
  }

  /** Goes on by `ms`, timer by timer. */
  async pass(ms: number): Promise<void> {
    const end = this.now + ms;
    for (let due = this.#next(end); due !== undefined; due = this.#next(end)) {
      this.#timers.delete(due[0]);
      this.now = Math.max(this.now, due[1].at);
      due[1].run();
      await this.settle();
    }
    this.now = end;
  }

  /** Lets everything that waits for no gate and no time come to rest. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 4; turn++) await new Promise(setImmediate);
  }

  #next(end: number) {
    let first: [object, { readonly at: number; readonly run: () => void }] | undefined;
    for (const timer of this.#timers) if (timer[1].at <= end && (first === undefined || timer[1].at < first[1].at)) first = timer;
    return first;
  }
}
