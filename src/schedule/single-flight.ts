import type { ReadStamp } from '../feed/read-stamp.ts';

/** Runs one piece of work at a time and shares its result. */
export class SingleFlight<T> {
  readonly #stamp: () => ReadStamp;
  readonly #maxAge: number;
  #running: { readonly began: ReadStamp; readonly result: Promise<T> } | undefined;

  /** `maxAge`: how long before a caller's arrival shared work may have begun, ms. */
  constructor(stamp: () => ReadStamp, maxAge: number) {
    this.#stamp = stamp;
    this.#maxAge = maxAge;
  }

  get isIdle(): boolean {
    return this.#running === undefined;
  }

  /**
   * Shares work begun after the arrival, or less than `maxAge` before it; otherwise starts new work after the current one. `monotonic`
   * Infinity shares no earlier work.
   */
  async join(arrival: ReadStamp, work: (began: ReadStamp) => Promise<T>): Promise<T> {
    while (this.#running !== undefined) {
      const { began, result } = this.#running;
      if (began.sequence > arrival.sequence || began.monotonic > arrival.monotonic - this.#maxAge) return result;
      await result.catch(() => undefined);
    }
    const began = this.#stamp();
    const result = work(began).finally(() => {
      this.#running = undefined;
    });
    this.#running = { began, result };
    return result;
  }
}
