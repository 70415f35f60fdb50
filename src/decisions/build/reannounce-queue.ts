/** Networks to announce again for bouncers with an earlier lease end (SPEC D14.5). Whole seconds. */
import type { DecisionKey } from './network-key.ts';

export class ReannounceQueue {
  readonly #keys = new Map<number, Set<DecisionKey>>();
  #next = Number.POSITIVE_INFINITY;

  /** The earliest second; Infinity if empty. */
  get next(): number {
    return this.#next;
  }

  add(second: number, key: DecisionKey): void {
    this.#keys.set(second, (this.#keys.get(second) ?? new Set()).add(key));
    this.#next = Math.min(this.#next, second);
  }

  *[Symbol.iterator](): Generator<readonly [second: number, key: DecisionKey]> {
    for (const [second, keys] of this.#keys) for (const key of keys) yield [second, key];
  }

  /** Removes and returns the networks that are due. */
  takeDue(second: number): DecisionKey[] {
    const takeDue: DecisionKey[] = [];
    this.#next = Number.POSITIVE_INFINITY;
    for (const [due, keys] of this.#keys) {
      if (due > second) this.#next = Math.min(this.#next, due);
      else {
        for (const key of keys) takeDue.push(key);
        this.#keys.delete(due);
      }
    }
    return takeDue;
  }

  /** Schedules every network also `by` seconds earlier; if that would exceed `most` entries, moves them instead. */
  earlier(by: number, most: number): void {
    const all = [...this];
    if (2 * all.length > most) this.#keys.clear();
    for (const [due, key] of all) this.add(due - by, key);
  }
}
