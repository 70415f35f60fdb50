import { lastAddressV4, lastAddressV6 } from './bounds.ts';
import { firstReaching } from './search.ts';
import { eachChanged } from './sets/changed.ts';
import { mergeV4, mergeV6, uniteV4, uniteV6 } from './sets/merge.ts';
import { subtractV4, subtractV6 } from './sets/subtract.ts';
import { compareV6 } from './words.ts';

const INITIAL = 64;

/** Copies to an array of at least `needed` words, and at least twice the length. */
function grow(words: Uint32Array<ArrayBuffer>, needed: number): Uint32Array<ArrayBuffer> {
  const grown = new Uint32Array(Math.max(needed, 2 * words.length));
  grown.set(words);
  return grown;
}

/** A growable collection of IPv4 ranges, both ends inclusive. */
export class V4Ranges {
  #pairs = new Uint32Array(2 * INITIAL);
  #length = 0;
  #merged = true;

  get length(): number {
    return this.#length;
  }

  /** Start and end of each range; valid for the first `length` ranges. Read-only. */
  get pairs(): Uint32Array {
    return this.#pairs;
  }

  /** `start` must not be above `end`. */
  push(start: number, end: number): void {
    const at = 2 * this.#length;
    if (at === this.#pairs.length) this.#pairs = grow(this.#pairs, at + 2);
    this.#pairs[at] = start;
    this.#pairs[at + 1] = end;
    this.#length++;
    this.#merged = false;
  }

  /** Host bits must be zero. */
  pushNetwork(address: number, prefix: number): void {
    this.push(address, lastAddressV4(address, prefix));
  }

  /** Start, end, start, end, … */
  pushAll(pairs: Uint32Array): void {
    const at = 2 * this.#length;
    if (at + pairs.length > this.#pairs.length) this.#pairs = grow(this.#pairs, at + pairs.length);
    this.#pairs.set(pairs, at);
    this.#length += pairs.length / 2;
    this.#merged = false;
  }

  /** Sorts the ranges and joins overlapping and adjacent ones. */
  merge(): void {
    if (this.#merged) return;
    this.#length = mergeV4(this.#pairs, this.#length);
    this.#merged = true;
  }

  /** Union, merged: one pass without sorting. Merges both in place. */
  united(others: V4Ranges): V4Ranges {
    this.merge();
    others.merge();
    return this.#of(uniteV4({ words: this.#pairs, length: this.#length }, { words: others.#pairs, length: others.#length }));
  }

  /** Difference, merged. Merges both in place. */
  without(others: V4Ranges): V4Ranges {
    this.merge();
    others.merge();
    return this.#of(subtractV4(this.#pairs, this.#length, others.#pairs, others.#length));
  }

  /** Adds the ranges of `others` with an address in `touched`. Merges both in place. */
  pushOverlapping(others: V4Ranges, touched: V4Ranges): void {
    others.merge();
    touched.merge();
    let at = 0;
    for (let i = 0; i < 2 * touched.length; i += 2) {
      const [start, end] = [touched.#pairs[i], touched.#pairs[i + 1]];
      const first = firstReaching(others.length, (each) => others.#pairs[2 * each + 1] >= start);
      for (at = Math.max(at, 2 * first); at < 2 * others.length && others.#pairs[at] <= end; at += 2) {
        this.push(others.#pairs[at], others.#pairs[at + 1]);
      }
    }
  }

  /** Ranges of either collection without an equal range in the other; they contain every differing address. Merges both in place. */
  changedFrom(before: V4Ranges): V4Ranges {
    this.merge();
    before.merge();
    const changed = new V4Ranges();
    const [now, old] = [this, before].map((each) => ({ words: each.#pairs, length: each.#length }));
    eachChanged(
      now,
      old,
      2,
      (a, i, b, j) => a[i] - b[j],
      (words, at) => changed.push(words[at], words[at + 1]),
    );
    changed.merge();
    return changed;
  }

  #of({ words, length }: { readonly words: Uint32Array<ArrayBuffer>; readonly length: number }): V4Ranges {
    const ranges = new V4Ranges();
    ranges.#pairs = words;
    ranges.#length = length;
    return ranges;
  }

  /** Merges the ranges in place. */
  overlaps(start: number, end: number): boolean {
    this.merge();
    const at = 2 * firstReaching(this.#length, (i) => this.#pairs[2 * i + 1] >= start);
    return at < 2 * this.#length && this.#pairs[at] <= end;
  }
}

/** A growable collection of IPv6 ranges, both ends inclusive: eight words per range, four each for start and end. */
export class V6Ranges {
  #words = new Uint32Array(8 * INITIAL);
  #length = 0;
  #merged = true;

  get length(): number {
    return this.#length;
  }

  /** Eight words per range; valid for the first `length` ranges. Read-only. */
  get words(): Uint32Array {
    return this.#words;
  }

  /** Adds the range at `words[at]` (eight words); its start must not be above its end. */
  push(words: ArrayLike<number>, at: number): void {
    const to = this.#next();
    for (let i = 0; i < 8; i++) this.#words[to + i] = words[at + i];
  }

  /** Adds the network at `words[at]` (four words); its host bits must be zero. */
  pushNetwork(words: ArrayLike<number>, at: number, prefix: number): void {
    const to = this.#next();
    for (let i = 0; i < 4; i++) this.#words[to + i] = words[at + i];
    lastAddressV6(words, at, prefix, this.#words, to + 4);
  }

  /** Eight words per range. */
  pushAll(words: Uint32Array): void {
    const at = 8 * this.#length;
    if (at + words.length > this.#words.length) this.#words = grow(this.#words, at + words.length);
    this.#words.set(words, at);
    this.#length += words.length / 8;
    this.#merged = false;
  }

  /** Sorts the ranges and joins overlapping and adjacent ones. */
  merge(): void {
    if (this.#merged) return;
    const { words, length } = mergeV6(this.#words, this.#length);
    this.#words = words;
    this.#length = length;
    this.#merged = true;
  }

  /** Union, merged: one pass without sorting. Merges both in place. */
  united(others: V6Ranges): V6Ranges {
    this.merge();
    others.merge();
    return this.#of(uniteV6({ words: this.#words, length: this.#length }, { words: others.#words, length: others.#length }));
  }

  /** Difference, merged. Merges both in place. */
  without(others: V6Ranges): V6Ranges {
    this.merge();
    others.merge();
    return this.#of(subtractV6(this.#words, this.#length, others.#words, others.#length));
  }

  /** Adds the ranges of `others` with an address in `touched`. Merges both in place. */
  pushOverlapping(others: V6Ranges, touched: V6Ranges): void {
    others.merge();
    touched.merge();
    let at = 0;
    for (let i = 0; i < 8 * touched.length; i += 8) {
      const first = firstReaching(others.length, (each) => compareV6(others.#words, 8 * each + 4, touched.#words, i) >= 0);
      for (at = Math.max(at, 8 * first); at < 8 * others.length && compareV6(others.#words, at, touched.#words, i + 4) <= 0; at += 8) {
        this.push(others.#words, at);
      }
    }
  }

  /** As `V4Ranges.changedFrom`. */
  changedFrom(before: V6Ranges): V6Ranges {
    this.merge();
    before.merge();
    const changed = new V6Ranges();
    const [now, old] = [this, before].map((each) => ({ words: each.#words, length: each.#length }));
    eachChanged(now, old, 8, compareV6, (words, at) => changed.push(words, at));
    changed.merge();
    return changed;
  }

  #of({ words, length }: { readonly words: Uint32Array<ArrayBuffer>; readonly length: number }): V6Ranges {
    const ranges = new V6Ranges();
    ranges.#words = words;
    ranges.#length = length;
    return ranges;
  }

  /** Tests the range at `words[at]` (eight words). Merges the ranges in place. */
  overlaps(words: Uint32Array, at: number): boolean {
    this.merge();
    const found = 8 * firstReaching(this.#length, (i) => compareV6(this.#words, 8 * i + 4, words, at) >= 0);
    return found < 8 * this.#length && compareV6(this.#words, found, words, at + 4) <= 0;
  }

  /** Grows if needed and returns the index of the next range's first word. */
  #next(): number {
    const at = 8 * this.#length;
    if (at === this.#words.length) this.#words = grow(this.#words, at + 8);
    this.#length++;
    this.#merged = false;
    return at;
  }
}
