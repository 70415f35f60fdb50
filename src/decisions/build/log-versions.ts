/** Networks changed in each version (SPEC D14.3, D14.16). */
import type { DecisionKey } from './network-key.ts';

/** At most two full sets' worth of changes, within these limits. A client further behind gets a full resync. */
const [LEAST_CHANGES, MOST_CHANGES] = [4096, 262_144];

export class LogVersions {
  #version = 0;
  /** The version before the oldest stored change. */
  #known = 0;
  #changes: (readonly DecisionKey[])[] = [];
  #size = 0;

  get version(): number {
    return this.#version;
  }

  /** Number of stored changes. */
  get size(): number {
    return this.#size;
  }

  /** Starts a version in which these networks were announced or deleted. `everything`: networks in the log. */
  move(touched: readonly DecisionKey[], everything: number): void {
    if (touched.length === 0) return;
    this.#version += 1;
    this.#changes.push(touched);
    this.#size += touched.length;
    const most = Math.min(MOST_CHANGES, Math.max(LEAST_CHANGES, 2 * everything));
    while (this.#size > most && this.#changes.length > 1) {
      this.#size -= this.#changes.shift()!.length;
      this.#known += 1;
    }
  }

  /** undefined: the history does not reach back that far. */
  since(version: number): Set<DecisionKey> | undefined {
    if (version < this.#known || version > this.#version) return undefined;
    const keys = new Set<DecisionKey>();
    for (const touched of this.#changes.slice(version - this.#known)) for (const key of touched) keys.add(key);
    return keys;
  }
}
