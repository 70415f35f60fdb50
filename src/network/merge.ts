import { sortPairs } from './radix.ts';
import { FEW, firstReaching } from './search.ts';
import { compareV6, successorV6 } from './words.ts';

/** Sorts `count` IPv4 ranges (start, end) in place and unites those that overlap or touch. Returns how many are left. */
export function mergeV4(words: Uint32Array, count: number): number {
  if (count === 0) return 0;
  sortPairs(words, count);
  let last = 0;
  let end = words[1];
  for (let i = 2; i < 2 * count; i += 2) {
    const start = words[i];
    const itsEnd = words[i + 1];
    // `end` is a number, not a 32-bit word: `end + 1` does not wrap.
    if (start > end + 1) {
      words[last + 1] = end;
      last += 2;
      words[last] = start;
      end = itsEnd;
    } else if (itsEnd > end) end = itsEnd;
  }
  words[last + 1] = end;
  return last / 2 + 1;
}

/** Sorts `count` IPv6 ranges of eight words and unites those that overlap or touch. Returns the ranges left and their number. */
export function mergeV6(ranges: Uint32Array, count: number): { readonly words: Uint32Array<ArrayBuffer>; readonly length: number } {
  const order = orderV6(ranges, count);
  const words = new Uint32Array(8 * count);
  const reach = new Uint32Array(4);
  let last = -8;
  for (let i = 0; i < count; i++) {
    const at = 8 * order[2 * i + 1];
    if (last >= 0 && compareV6(ranges, at, reach, 0) <= 0) {
      if (compareV6(ranges, at + 4, words, last + 4) <= 0) continue;
      for (let k = 4; k < 8; k++) words[last + k] = ranges[at + k];
    } else {
      last += 8;
      for (let k = 0; k < 8; k++) words[last + k] = ranges[at + k];
    }
    successorV6(words, last + 4, reach);
  }
  return { words, length: last / 8 + 1 };
}

/** Ranges that are sorted and do not touch. */
interface Merged<W extends Uint32Array = Uint32Array> {
  readonly words: W;
  readonly length: number;
}

/** The addresses of two sets of IPv4 ranges (start, end), each sorted and without ranges that touch, as is the result: one sweep over both. */
export function uniteV4(one: Merged, other: Merged): Merged<Uint32Array<ArrayBuffer>> {
  if (other.length * FEW < one.length) return uniteFewV4(one, other);
  if (one.length * FEW < other.length) return uniteFewV4(other, one);
  const words = new Uint32Array(2 * (one.length + other.length));
  const [ends, otherEnds] = [2 * one.length, 2 * other.length];
  let last = -2;
  // A number, not a 32-bit word: the address after the last one does not wrap.
  let reach = -1;
  for (let i = 0, j = 0; i < ends || j < otherEnds; ) {
    const isOne = j === otherEnds || (i < ends && one.words[i] <= other.words[j]);
    const start = isOne ? one.words[i] : other.words[j];
    const end = isOne ? one.words[i + 1] : other.words[j + 1];
    if (isOne) i += 2;
    else j += 2;
    if (last < 0 || start > reach) {
      last += 2;
      words[last] = start;
      words[last + 1] = end;
      reach = end + 1;
    } else if (end >= reach) {
      words[last + 1] = end;
      reach = end + 1;
    }
  }
  return { words, length: last / 2 + 1 };
}

/** The same with few others. */
function uniteFewV4(one: Merged, few: Merged): Merged<Uint32Array<ArrayBuffer>> {
  const words = new Uint32Array(2 * (one.length + few.length));
  const [ends, fewEnds] = [2 * one.length, 2 * few.length];
  let [at, i] = [0, 0];
  for (let j = 0; j < fewEnds; at += 2) {
    let [start, end] = [few.words[j], few.words[j + 1]];
    j += 2;
    const run = one.words.subarray(i, 2 * firstReaching(one.length, (k) => one.words[2 * k + 1] + 1 >= start, i / 2));
    words.set(run, at);
    at += run.length;
    i += run.length;
    // All that touch it, of either.
    for (;;) {
      if (i < ends && one.words[i] <= end + 1) {
        start = Math.min(start, one.words[i]);
        end = Math.max(end, one.words[i + 1]);
        i += 2;
      } else if (j < fewEnds && few.words[j] <= end + 1) {
        end = Math.max(end, few.words[j + 1]);
        j += 2;
      } else break;
    }
    words[at] = start;
    words[at + 1] = end;
  }
  words.set(one.words.subarray(i, ends), at);
  return { words, length: (at + ends - i) / 2 };
}

/** The same for IPv6 ranges of eight words. */
export function uniteV6(one: Merged, other: Merged): Merged<Uint32Array<ArrayBuffer>> {
  const words = new Uint32Array(8 * (one.length + other.length));
  const [ends, otherEnds] = [8 * one.length, 8 * other.length];
  const reach = new Uint32Array(4);
  let last = -8;
  for (let i = 0, j = 0; i < ends || j < otherEnds; ) {
    const isOne = j === otherEnds || (i < ends && compareV6(one.words, i, other.words, j) <= 0);
    const from = isOne ? one.words : other.words;
    const at = isOne ? i : j;
    if (isOne) i += 8;
    else j += 8;
    if (last < 0 || compareV6(from, at, reach, 0) > 0) {
      last += 8;
      for (let k = 0; k < 8; k++) words[last + k] = from[at + k];
    } else if (compareV6(from, at + 4, words, last + 4) > 0) {
      for (let k = 4; k < 8; k++) words[last + k] = from[at + k];
    } else continue;
    successorV6(words, last + 4, reach);
  }
  return { words, length: last / 8 + 1 };
}

/** The indexes of the ranges, sorted by start, as the second halves of pairs. */
function orderV6(ranges: Uint32Array, count: number): Uint32Array {
  const order = new Uint32Array(2 * count);
  for (let i = 0; i < count; i++) order[2 * i + 1] = i;
  sortByWord(order, ranges, 1);
  sortByWord(order, ranges, 0);
  // Few starts share their first 64 bits, so only runs of those are sorted by the other words.
  for (let from = 0, to = 1; from < count; from = to++) {
    while (to < count && order[2 * to] === order[2 * from] && word(ranges, order, to, 1) === word(ranges, order, from, 1)) to++;
    if (to - from === 1) continue;
    const run = order.subarray(2 * from, 2 * to);
    sortByWord(run, ranges, 3);
    sortByWord(run, ranges, 2);
  }
  return order;
}

/** Word `which` of the start of the `i`th range in `order`. */
function word(ranges: Uint32Array, order: Uint32Array, i: number, which: number): number {
  return ranges[8 * order[2 * i + 1] + which];
}

/** Sorts pairs (anything, index) in place and stably by word `which` of the range's start. That word replaces the first half. */
function sortByWord(order: Uint32Array, ranges: Uint32Array, which: number): void {
  const count = order.length / 2;
  for (let i = 0; i < count; i++) order[2 * i] = word(ranges, order, i, which);
  sortPairs(order, count);
}
