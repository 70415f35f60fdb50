/** Goes once over the ranges of several owners, in the order of their addresses, and tells who has what in common with whom. */
import { compareV6, sizeV6 } from '@weir/network/words.ts';

/** The ends of ranges of one family, in the order of their first addresses: of range i that is end 2 × i, its last one is end 2 × i + 1. */
export interface Ends {
  compare(one: number, other: number): number;
  /** Addresses from one end to another, with both. */
  size(from: number, to: number): number;
}

export const endsV4 = (words: Uint32Array): Ends => ({
  compare: (one, other) => words[one] - words[other],
  size: (from, to) => words[to] - words[from] + 1,
});

export const endsV6 = (words: Uint32Array): Ends => ({
  compare: (one, other) => compareV6(words, 4 * one, words, 4 * other),
  size: (from, to) => sizeV6(words, 4 * from, words, 4 * to),
});

/** What a sweep tells. Counts are of addresses, and are told piece by piece. */
export interface Told {
  /** A range has an address in common with an owner that is not its own: once of each range and owner. */
  met(range: number, other: number): void;
  owned(owner: number, count: number): void;
  /** Of two owners, once. */
  common(one: number, other: number, count: number): void;
  /** No other owner has these. */
  alone(owner: number, count: number): void;
}

/** No end. */
const NONE = -1;

/** `ownerOf`: whose each range is. `aside`: an owner beside whom others are alone still. */
export function sweep(ends: Ends, ranges: number, ownerOf: (range: number) => number, aside: number, told: Told): void {
  const here = new Here(ends, ownerOf, aside, told);
  for (let range = 0; range < ranges; range++) here.begin(range);
  here.endAll();
}

/** The ranges that have the address which the sweep has reached. */
class Here {
  readonly #ends: Ends;
  readonly #ownerOf: (range: number) => number;
  readonly #aside: number;
  readonly #told: Told;
  /** The ranges, as a heap: the one that ends first is the first. */
  readonly #ranges: number[] = [];
  /** Who has them. */
  readonly #present: number[] = [];
  /** Of each owner: how many ranges, the end since which without a break, and the end at which that was over before. */
  readonly #depths: number[] = [];
  readonly #since: number[] = [];
  readonly #last: number[] = [];
  /** The owner who is alone, and since when: its own first address, or another's last, behind which it begins. */
  #sole = NONE;
  #soleFrom = NONE;

  constructor(ends: Ends, ownerOf: (range: number) => number, aside: number, told: Told) {
    [this.#ends, this.#ownerOf, this.#aside, this.#told] = [ends, ownerOf, aside, told];
  }

  begin(range: number): void {
    this.#endBefore(2 * range);
    const owner = this.#ownerOf(range);
    if (!this.#depths[owner]) this.#arrive(owner, 2 * range);
    for (let i = 0; i < this.#present.length; i++) {
      const other = this.#present[i]!;
      if (other !== owner) this.#told.met(range, other);
    }
    this.#depths[owner] += 1;
    this.#push(range);
  }

  endAll(): void {
    while (this.#ranges.length > 0) this.#endFirst();
  }

  #endBefore(start: number): void {
    while (this.#ranges.length > 0 && this.#ends.compare(2 * this.#ranges[0]! + 1, start) < 0) this.#endFirst();
  }

  #endFirst(): void {
    const range = this.#pop();
    const owner = this.#ownerOf(range);
    this.#depths[owner] -= 1;
    if (this.#depths[owner] === 0) this.#leave(owner, 2 * range + 1);
  }

  #arrive(owner: number, start: number): void {
    const last = this.#last[owner] ?? NONE;
    // Those that were here when it was here last have met it.
    for (let i = 0; i < this.#ranges.length; i++) {
      const range = this.#ranges[i]!;
      if (last === NONE || this.#ends.compare(last, 2 * range) < 0) this.#told.met(range, owner);
    }
    this.#present.push(owner);
    this.#depths[owner] = 0;
    this.#since[owner] = start;
    if (owner !== this.#aside) this.#countSole(start);
  }

  #leave(owner: number, end: number): void {
    this.#present.splice(this.#present.indexOf(owner), 1);
    this.#last[owner] = end;
    const since = this.#since[owner]!;
    this.#told.owned(owner, this.#ends.size(since, end));
    for (let i = 0; i < this.#present.length; i++) {
      const other = this.#present[i]!;
      const from = this.#since[other]!;
      this.#told.common(owner, other, this.#ends.size(this.#ends.compare(from, since) > 0 ? from : since, end));
    }
    if (owner !== this.#aside) this.#countSole(end);
  }

  /** Somebody has come or gone at an end: who was alone was so up to there, and somebody may be from there on. */
  #countSole(at: number): void {
    if (this.#sole !== NONE) {
      // Neither another's last address is one's own, nor another's first.
      const others = (this.#soleFrom & 1) + (1 - (at & 1));
      this.#told.alone(this.#sole, this.#ends.size(this.#soleFrom, at) - others);
    }
    this.#sole = NONE;
    this.#soleFrom = at;
    for (let i = 0; i < this.#present.length; i++) {
      const owner = this.#present[i]!;
      if (owner === this.#aside) continue;
      if (this.#sole !== NONE) {
        this.#sole = NONE;
        return;
      }
      this.#sole = owner;
    }
  }

  #push(range: number): void {
    const heap = this.#ranges;
    let at = heap.length;
    for (; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (this.#ends.compare(2 * heap[parent]! + 1, 2 * range + 1) <= 0) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = range;
  }

  #pop(): number {
    const heap = this.#ranges;
    const first = heap[0]!;
    const range = heap.pop()!;
    if (heap.length === 0) return first;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && this.#ends.compare(2 * heap[child + 1]! + 1, 2 * heap[child]! + 1) < 0) child += 1;
      if (this.#ends.compare(2 * range + 1, 2 * heap[child]! + 1) <= 0) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = range;
    return first;
  }
}
