/** A moment in the order of things: `at` (ms) for ages, `sequence` to tell what began after what within one millisecond. */
export interface Moment {
  readonly at: number;
  readonly sequence: number;
}

/** One piece of work for all who wait for it. */
export class SingleFlight<T> {
  readonly #begin: () => Moment;
  /** How old work may be when somebody joins it, ms. */
  readonly #age: number;
  #running: { readonly begun: Moment; readonly result: Promise<T> } | undefined;

  /** `begin` stamps the beginning of work. */
  constructor(begin: () => Moment, age: number) {
    this.#begin = begin;
    this.#age = age;
  }

  /** The result of work that began after `arrival` by sequence, or less than `age` before it by time (`at` Infinity: never); starts it unless it runs. */
  async join(arrival: Moment, work: (begun: Moment) => Promise<T>): Promise<T> {
    while (this.#running !== undefined) {
      const { begun, result } = this.#running;
      if (begun.sequence > arrival.sequence || begun.at > arrival.at - this.#age) return result;
      await result.catch(() => undefined);
    }
    const begun = this.#begin();
    const result = work(begun).finally(() => {
      this.#running = undefined;
    });
    this.#running = { begun, result };
    return result;
  }
}
