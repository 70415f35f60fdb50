/** Counts the intersection of address sets without building it. */
import type { AddressSet } from '../address-set.ts';
import { sortPairs } from '../radix.ts';
import type { V4Ranges, V6Ranges } from '../ranges.ts';
import { compareV6, sizeV6 } from '../words.ts';
import { orderV6 } from './merge.ts';

/** By family; IPv6 with the precision of a double. Merges both in place; one sweep over both. */
export const commonCount = (one: AddressSet, other: AddressSet): { readonly v4: number; readonly v6: number } => ({
  v4: commonV4(one.v4, other.v4),
  v6: commonV6(one.v6, other.v6),
});

function commonV4(one: V4Ranges, other: V4Ranges): number {
  one.merge();
  other.merge();
  const [a, b, ends, otherEnds] = [one.pairs, other.pairs, 2 * one.length, 2 * other.length];
  let count = 0;
  for (let i = 0, j = 0; i < ends && j < otherEnds; ) {
    const start = a[i] > b[j] ? a[i] : b[j];
    const end = a[i + 1] < b[j + 1] ? a[i + 1] : b[j + 1];
    if (start <= end) count += end - start + 1;
    if (a[i + 1] === end) i += 2;
    else j += 2;
  }
  return count;
}

function commonV6(one: V6Ranges, other: V6Ranges): number {
  one.merge();
  other.merge();
  const [a, b, ends, otherEnds] = [one.words, other.words, 8 * one.length, 8 * other.length];
  let count = 0;
  for (let i = 0, j = 0; i < ends && j < otherEnds; ) {
    const isLater = compareV6(a, i, b, j) > 0;
    const isFirst = compareV6(a, i + 4, b, j + 4) <= 0;
    const [start, at, end, to] = [isLater ? a : b, isLater ? i : j, isFirst ? a : b, isFirst ? i + 4 : j + 4];
    if (compareV6(start, at, end, to) <= 0) count += sizeV6(start, at, end, to);
    if (isFirst) i += 8;
    else j += 8;
  }
  return count;
}

/** Original networks or ranges, possibly nested: sorted once, compared with many sets. */
export class Entries {
  /** Start and end of each, sorted by start; eight words for IPv6. */
  readonly #v4: Uint32Array;
  readonly #v6: Uint32Array;

  /** Copies a set; it must not have been merged since the entries were added. */
  constructor({ v4, v6 }: AddressSet) {
    this.#v4 = v4.pairs.slice(0, 2 * v4.length);
    sortPairs(this.#v4, v4.length);
    const order = orderV6(v6.words, v6.length);
    this.#v6 = new Uint32Array(8 * v6.length);
    for (let i = 0; i < v6.length; i++) {
      const from = 8 * order[2 * i + 1];
      this.#v6.set(v6.words.subarray(from, from + 8), 8 * i);
    }
  }

  get length(): number {
    return this.#v4.length / 2 + this.#v6.length / 8;
  }

  /** Number of entries with an address in the set. Merges the set in place; one sweep over both. */
  countIn({ v4, v6 }: AddressSet): number {
    v4.merge();
    v6.merge();
    return countV4(this.#v4, v4.pairs, 2 * v4.length) + countV6(this.#v6, v6.words, 8 * v6.length);
  }
}

function countV4(entries: Uint32Array, ranges: Uint32Array, ends: number): number {
  let count = 0;
  for (let i = 0, at = 0; i < entries.length; i += 2) {
    const start = entries[i];
    while (at < ends && ranges[at + 1] < start) at += 2;
    if (at === ends) break;
    if (ranges[at] <= entries[i + 1]) count += 1;
  }
  return count;
}

function countV6(entries: Uint32Array, ranges: Uint32Array, ends: number): number {
  let count = 0;
  for (let i = 0, at = 0; i < entries.length; i += 8) {
    while (at < ends && compareV6(ranges, at + 4, entries, i) < 0) at += 8;
    if (at === ends) break;
    if (compareV6(ranges, at, entries, i + 4) <= 0) count += 1;
  }
  return count;
}
