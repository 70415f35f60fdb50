/** Which networks changed in each version of what the bouncers of a feed are told (SPEC D14.3, D14.16). */
import type { DecisionKey } from './network-key.ts';

/**
 * How many changes are known by their version: those of as much as everything is, twice, within these. Who is further behind is told
 * everything, which is less then than what he has missed.
 */
const [LEAST_CHANGES, MOST_CHANGES] = [4096, 262_144];

export class LogVersions {
  #version = 0;
  /** The version before the first change that is known, and the changes since. */
  #known = 0;
  #changes: (readonly DecisionKey[])[] = [];
  #size = 0;

  get version(): number {
    return this.#version;
  }

  /** How many changes are held. */
  get size(): number {
    return this.#size;
  }

  /** Begins a version in which these networks were told, told again, or went; `everything`: how many networks are known. */
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

  /** The networks that have changed since a version; undefined when that is not known. */
  since(version: number): Set<DecisionKey> | undefined {
    if (version < this.#known || version > this.#version) return undefined;
    const keys = new Set<DecisionKey>();
    for (const touched of this.#changes.slice(version - this.#known)) for (const key of touched) keys.add(key);
    return keys;
  }
}
