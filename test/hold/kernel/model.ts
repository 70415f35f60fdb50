/** What the kernel must have, and for how long it may differ. Times are ms of `performance.now()`. */

type State = 'in' | 'out' | 'either';

export interface Difference {
  readonly missing: readonly string[];
  readonly extra: readonly string[];
  /** How long the oldest of them has been so. */
  readonly age: number;
}

export class KernelModel {
  readonly #states = new Map<string, { readonly state: State; readonly since: number }[]>();
  /** While something is broken that the kernel depends on, nothing is expected. */
  #brokenBy = 0;
  #ableSince = 0;

  /** From `since` on; later states replace those that were expected after it. */
  expect(network: string, state: State, since = performance.now()): void {
    const states = (this.#states.get(network) ?? []).filter((each) => each.since < since);
    this.#states.set(network, [...states.slice(-2), { state, since }]);
  }

  /** Breaks something, and waits until the system is able to answer again. */
  async while(broken: () => Promise<unknown>): Promise<void> {
    this.#brokenBy += 1;
    try {
      await broken();
    } finally {
      this.#brokenBy -= 1;
      this.#ableSince = performance.now();
    }
  }

  /** Compares with a set that was read from `at` on; undefined while something is broken, or was when the reading began. */
  compare(kernel: ReadonlySet<string>, at: number): Difference | undefined {
    if (this.#brokenBy > 0 || this.#ableSince > at) return undefined;
    let since = at;
    const wrong = (states: readonly { readonly state: State; readonly since: number }[], has: boolean) => {
      // Its state when the reading began; what has changed since may be there or not.
      const current = states.findLast((each) => each.since <= at);
      if (current === undefined || states.at(-1) !== current || current.state === 'either' || (current.state === 'in') === has)
        return false;
      since = Math.min(since, Math.max(current.since, this.#ableSince));
      return true;
    };
    const missing: string[] = [];
    const extra = [...kernel].filter((network) => !this.#states.has(network));
    if (extra.length > 0) since = Math.min(since, this.#ableSince);
    for (const [network, states] of this.#states) {
      if (wrong(states, kernel.has(network))) (kernel.has(network) ? extra : missing).push(network);
    }
    return { missing, extra, age: at - since };
  }

  /** Networks that are expected now. */
  get size(): number {
    return this.#states.values().reduce((sum, states) => sum + (states.at(-1)!.state === 'in' ? 1 : 0), 0);
  }
}
