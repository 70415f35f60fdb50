/** A single sweep over the ranges of several owners in address order, reporting overlaps. */
import { compareV6, sizeV6 } from '@weir/network/words.ts';

/** Range ends of one family, sorted by first address: range i has the ends 2 × i (first) and 2 × i + 1 (last). */
export interface Ends {
  compare(one: number, other: number): number;
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

/** Receives results in portions. Counts are of addresses. */
export interface SweepSink {
  /** Called once per range and other owner sharing an address. */
  met(range: number, other: number): void;
  owned(owner: number, count: number): void;
  common(one: number, other: number, count: number): void;
  alone(owner: number, count: number): void;
}

const NONE = -1;

/** `ownerOf`: the owner of each range. `aside`: an owner ignored for uniqueness. */
export function sweep(ends: Ends, ranges: number, ownerOf: (range: number) => number, aside: number, sink: SweepSink): void {
  const here = new Here(ends, ownerOf, aside, sink);
  for (let range = 0; range < ranges; range++) here.begin(range);
  here.endAll();
}

/** The ranges at the sweep's current address. */
class Here {
  readonly #ends: Ends;
  readonly #ownerOf: (range: number) => number;
  readonly #aside: number;
  readonly #sink: SweepSink;
  /** A heap by last address. */
  readonly #ranges: number[] = [];
  readonly #present: number[] = [];
  /** Per owner: number of ranges, the end at which its presence began, and the end of its previous presence. */
  readonly #depths: number[] = [];
  readonly #since: number[] = [];
  readonly #last: number[] = [];
  /** The only owner present, and the start of its portion: its own first address, or behind another's last one. */
  #sole = NONE;
  #soleFrom = NONE;

  constructor(ends: Ends, ownerOf: (range: number) => number, aside: number, sink: SweepSink) {
    [this.#ends, this.#ownerOf, this.#aside, this.#sink] = [ends, ownerOf, aside, sink];
  }

  begin(range: number): void {
    this.#endBefore(2 * range);
    const owner = this.#ownerOf(range);
    if (!this.#depths[owner]) this.#arrive(owner, 2 * range);
    for (let i = 0; i < this.#present.length; i++) {
      const other = this.#present[i]!;
      if (other !== owner) this.#sink.met(range, other);
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
    // Ranges continuously present have met it before.
    for (let i = 0; i < this.#ranges.length; i++) {
      const range = this.#ranges[i]!;
      if (last === NONE || this.#ends.compare(last, 2 * range) < 0) this.#sink.met(range, owner);
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
    this.#sink.owned(owner, this.#ends.size(since, end));
    for (let i = 0; i < this.#present.length; i++) {
      const other = this.#present[i]!;
      const from = this.#since[other]!;
      this.#sink.common(owner, other, this.#ends.size(this.#ends.compare(from, since) > 0 ? from : since, end));
    }
    if (owner !== this.#aside) this.#countSole(end);
  }

  /** Closes the sole owner's portion at an end, and opens the next one. */
  #countSole(at: number): void {
    if (this.#sole !== NONE) {
      // Excludes another owner's last address at the start, and its first one at the end.
      const others = (this.#soleFrom & 1) + (1 - (at & 1));
      this.#sink.alone(this.#sole, this.#ends.size(this.#soleFrom, at) - others);
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
