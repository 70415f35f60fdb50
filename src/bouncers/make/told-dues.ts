/** Instants at which networks are told again because some bouncers hold them until then and no longer (SPEC D14.5). Whole seconds. */
import type { ToldKey } from './network-key.ts';

export class Dues {
  readonly #keys = new Map<number, Set<ToldKey>>();

  /** The earliest of them; Infinity where there is none. */
  get next(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const due of this.#keys.keys()) if (due < next) next = due;
    return next;
  }

  add(second: number, key: ToldKey): void {
    this.#keys.set(second, (this.#keys.get(second) ?? new Set()).add(key));
  }

  *[Symbol.iterator](): Generator<readonly [second: number, key: ToldKey]> {
    for (const [second, keys] of this.#keys) for (const key of keys) yield [second, key];
  }

  /** Those that have passed, which are forgotten. */
  *taken(second: number): Generator<ToldKey> {
    for (const [due, keys] of this.#keys) {
      if (due > second) continue;
      this.#keys.delete(due);
      yield* keys;
    }
  }
}
