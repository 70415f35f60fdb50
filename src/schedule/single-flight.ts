import type { ReadStamp } from '../feed/read-stamp.ts';

/** Runs one piece of work at a time and shares its result with everybody who may have it. */
export class SingleFlight<T> {
  readonly #moment: () => ReadStamp;
  readonly #maxAge: number;
  #running: { readonly began: ReadStamp; readonly result: Promise<T> } | undefined;

  /** `moment` gives the present moment; `maxAge` (ms) is how long before an arrival shared work may have begun. */
  constructor(moment: () => ReadStamp, maxAge: number) {
    this.#moment = moment;
    this.#maxAge = maxAge;
  }

  /** Whether no work is running. */
  get isIdle(): boolean {
    return this.#running === undefined;
  }

  /**
   * The result of the running work, if it began after the arrival or less than `maxAge` before it; otherwise of new work, which
   * begins when the running work has ended. An arrival with `monotonic` Infinity takes no work that began before it.
   */
  async join(arrival: ReadStamp, work: (began: ReadStamp) => Promise<T>): Promise<T> {
    while (this.#running !== undefined) {
      const { began, result } = this.#running;
      if (began.sequence > arrival.sequence || began.monotonic > arrival.monotonic - this.#maxAge) return result;
      await result.catch(() => undefined);
    }
    const began = this.#moment();
    const result = work(began).finally(() => {
      this.#running = undefined;
    });
    this.#running = { began, result };
    return result;
  }
}
