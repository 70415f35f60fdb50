import { lastAddressV4, lastAddressV6 } from './bounds.ts';
import { firstReaching } from './search.ts';
import { eachChanged } from './sets/changed.ts';
import { type Merged, mergeV4, mergeV6, uniteV4, uniteV6 } from './sets/merge.ts';
import { subtractV4, subtractV6 } from './sets/subtract.ts';
import { compareV6 } from './words.ts';

const INITIAL = 64;

interface Family {
  /** Words of an address; a range has its first and its last one. */
  readonly width: 1 | 4;
  readonly merge: (words: Uint32Array<ArrayBuffer>, count: number) => Merged;
  readonly unite: (one: Merged, other: Merged) => Merged;
  readonly subtract: (one: Merged, other: Merged) => Merged;
  readonly compare: (a: Uint32Array, i: number, b: Uint32Array, j: number) => number;
}
const V4: Family = { width: 1, merge: mergeV4, unite: uniteV4, subtract: subtractV4, compare: (a, i, b, j) => a[i] - b[j] };
const V6: Family = { width: 4, merge: mergeV6, unite: uniteV6, subtract: subtractV6, compare: compareV6 };

/** A growable collection of ranges, both ends inclusive. */
export abstract class Ranges<R extends Ranges<R>> {
  #data: Uint32Array<ArrayBuffer>;
  readonly #family: Family;
  /** Words of a range. */
  readonly #step: number;
  #length = 0;
  #merged = true;

  protected constructor(family: Family) {
    this.#family = family;
    this.#step = 2 * family.width;
    this.#data = new Uint32Array(this.#step * INITIAL);
  }

  protected abstract create(): R;

  protected get data(): Uint32Array<ArrayBuffer> {
    return this.#data;
  }

  get length(): number {
    return this.#length;
  }

  /** Start, end, start, end, … */
  pushAll(words: Uint32Array): void {
    const at = this.#step * this.#length;
    this.#fit(at + words.length);
    this.#data.set(words, at);
    this.#length += words.length / this.#step;
    this.#merged = false;
  }

  /** Sorts the ranges and joins overlapping and adjacent ones. */
  merge(): void {
    if (!this.#merged) this.#set(this.#family.merge(this.#data, this.#length));
  }

  /** Union, merged: one pass without sorting. Merges both in place. */
  united(others: R): R {
    return this.#combined(others, this.#family.unite);
  }

  /** Difference, merged. Merges both in place. */
  without(others: R): R {
    return this.#combined(others, this.#family.subtract);
  }

  /** Adds the ranges of `others` with an address in `touched`. Merges both in place. */
  pushOverlapping(others: R, touched: R): void {
    others.merge();
    touched.merge();
    const { width, compare } = this.#family;
    const step = this.#step;
    let at = 0;
    for (let i = 0; i < step * touched.length; i += step) {
      const first = firstReaching(others.length, (each) => compare(others.#data, step * each + width, touched.#data, i) >= 0);
      for (at = Math.max(at, step * first); at < step * others.length; at += step) {
        if (compare(others.#data, at, touched.#data, i + width) > 0) break;
        this.add(others.#data, at);
      }
    }
  }

  /** Ranges of either collection without an equal range in the other; they contain every differing address. Merges both in place. */
  changedFrom(before: R): R {
    this.merge();
    before.merge();
    const changed = this.create();
    eachChanged(this.#sorted, before.#sorted, this.#step, this.#family.compare, (words, at) => changed.add(words, at));
    changed.merge();
    return changed;
  }

  protected add(words: ArrayLike<number>, at: number): void {
    const to = this.next();
    for (let i = 0; i < this.#step; i++) this.#data[to + i] = words[at + i];
  }

  /** Grows if needed and returns the index of the next range's first word. */
  protected next(): number {
    const at = this.#step * this.#length;
    if (at === this.#data.length) this.#fit(at + this.#step);
    this.#length++;
    this.#merged = false;
    return at;
  }

  get #sorted(): Merged {
    return { words: this.#data, length: this.#length };
  }

  #combined(others: R, combine: Family['unite']): R {
    this.merge();
    others.merge();
    const ranges = this.create();
    ranges.#set(combine(this.#sorted, others.#sorted));
    return ranges;
  }

  #set({ words, length }: Merged): void {
    this.#data = words;
    this.#length = length;
    this.#merged = true;
  }

  /** Grows to at least `needed` words, and at least twice the length. */
  #fit(needed: number): void {
    if (needed <= this.#data.length) return;
    const grown = new Uint32Array(Math.max(needed, 2 * this.#data.length));
    grown.set(this.#data);
    this.#data = grown;
  }
}

/** IPv4 ranges. */
export class V4Ranges extends Ranges<V4Ranges> {
  constructor() {
    super(V4);
  }

  protected create(): V4Ranges {
    return new V4Ranges();
  }

  /** Start and end of each range; valid for the first `length` ranges. Read-only. */
  get pairs(): Uint32Array {
    return this.data;
  }

  /** `start` must not be above `end`. */
  push(start: number, end: number): void {
    const at = this.next();
    this.data[at] = start;
    this.data[at + 1] = end;
  }

  /** The host bits must be zero. */
  pushNetwork(address: number, prefix: number): void {
    this.push(address, lastAddressV4(address, prefix));
  }

  /** Merges the ranges in place. */
  overlaps(start: number, end: number): boolean {
    this.merge();
    const at = 2 * firstReaching(this.length, (i) => this.data[2 * i + 1] >= start);
    return at < 2 * this.length && this.data[at] <= end;
  }
}

/** IPv6 ranges: eight words per range, four each for start and end. */
export class V6Ranges extends Ranges<V6Ranges> {
  constructor() {
    super(V6);
  }

  protected create(): V6Ranges {
    return new V6Ranges();
  }

  /** Eight words per range; valid for the first `length` ranges. Read-only. */
  get words(): Uint32Array {
    return this.data;
  }

  /** Adds the range at `words[at]` (eight words); its start must not be above its end. */
  push(words: ArrayLike<number>, at: number): void {
    this.add(words, at);
  }

  /** Adds the network at `words[at]` (four words); its host bits must be zero. */
  pushNetwork(words: ArrayLike<number>, at: number, prefix: number): void {
    const to = this.next();
    for (let i = 0; i < 4; i++) this.data[to + i] = words[at + i];
    lastAddressV6(words, at, prefix, this.data, to + 4);
  }

  /** Tests the range at `words[at]` (eight words). Merges the ranges in place. */
  overlaps(words: Uint32Array, at: number): boolean {
    this.merge();
    const found = 8 * firstReaching(this.length, (i) => compareV6(this.data, 8 * i + 4, words, at) >= 0);
    return found < 8 * this.length && compareV6(this.data, found, words, at + 4) <= 0;
  }
}
