import { sortPairs } from '../radix.ts';
import { FEW, firstReaching } from '../search.ts';
import { compareV6, copyV6, touchesV6 } from '../words.ts';

/** Sorted ranges, not adjacent. */
export interface Merged {
  readonly words: Uint32Array<ArrayBuffer>;
  readonly length: number;
}

/** Sorts `count` IPv4 ranges (start, end) in place and joins overlapping and adjacent ones. */
export function mergeV4(words: Uint32Array<ArrayBuffer>, count: number): Merged {
  if (count === 0) return { words, length: 0 };
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
  return { words, length: last / 2 + 1 };
}

/** Sorts `count` IPv6 ranges of eight words and joins overlapping and adjacent ones. */
export function mergeV6(ranges: Uint32Array, count: number): Merged {
  const order = orderV6(ranges, count);
  const words = new Uint32Array(8 * count);
  let last = -8;
  for (let i = 0; i < count; i++) last = addV6(words, last, ranges, 8 * order[2 * i + 1]);
  return { words, length: last / 8 + 1 };
}

/** Union of two merged sets of IPv4 ranges (start, end), in one sweep; the result is merged. */
export function uniteV4(one: Merged, other: Merged): Merged {
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

/** The same for a small `few`. */
function uniteFewV4(one: Merged, few: Merged): Merged {
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
    // Adds all touching ranges of both sets.
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
export function uniteV6(one: Merged, other: Merged): Merged {
  const words = new Uint32Array(8 * (one.length + other.length));
  const [ends, otherEnds] = [8 * one.length, 8 * other.length];
  let last = -8;
  for (let i = 0, j = 0; i < ends || j < otherEnds; ) {
    const isOne = j === otherEnds || (i < ends && compareV6(one.words, i, other.words, j) <= 0);
    const from = isOne ? one.words : other.words;
    last = addV6(words, last, from, isOne ? i : j);
    if (isOne) i += 8;
    else j += 8;
  }
  return { words, length: last / 8 + 1 };
}

/**
 * Appends the range at `from[at]` to merged ranges with the last one at `words[last]`; it must not start before that one. Returns the new
 * position of the last range.
 */
function addV6(words: Uint32Array, last: number, from: Uint32Array, at: number): number {
  if (last < 0 || !touchesV6(words, last + 4, from, at)) {
    copyV6(from, at, words, last + 8);
    copyV6(from, at + 4, words, last + 12);
    return last + 8;
  }
  if (compareV6(from, at + 4, words, last + 4) > 0) copyV6(from, at + 4, words, last + 4);
  return last;
}

/** Pairs of start and index, sorted by start. */
export function orderV4(ranges: Uint32Array, count: number): Uint32Array {
  const order = new Uint32Array(2 * count);
  for (let i = 0; i < count; i++) {
    order[2 * i] = ranges[2 * i];
    order[2 * i + 1] = i;
  }
  sortPairs(order, count);
  return order;
}

/** Indexes of IPv6 ranges of eight words, sorted by start, as the second halves of pairs. */
export function orderV6(ranges: Uint32Array, count: number): Uint32Array {
  const order = new Uint32Array(2 * count);
  for (let i = 0; i < count; i++) order[2 * i + 1] = i;
  sortRun(order, ranges, 0, count);
  return order;
}

/** Up to this many ranges are sorted by comparison. */
const SHORT = 16;

/**
 * Sorts the pairs [from, to) of `order` by the starts of their ranges: by the 32 bits after the prefix common to all starts, then
 * recursively each run of equal bits. Each level goes at least 32 bits further, so there are at most four.
 */
function sortRun(order: Uint32Array, ranges: Uint32Array, from: number, to: number): void {
  if (to - from <= SHORT) {
    insertionSort(order, ranges, from, to);
    return;
  }
  const shared = sharedByAll(order, ranges, from, to);
  if (shared === 128) return;
  for (let i = from; i < to; i++) order[2 * i] = bitsAfter(ranges, 8 * order[2 * i + 1], shared);
  sortPairs(order.subarray(2 * from, 2 * to), to - from);
  for (let run = from, end = from; run < to; run = end) {
    while (end < to && order[2 * end] === order[2 * run]) end++;
    if (end - run > 1) sortRun(order, ranges, run, end);
  }
}

function insertionSort(order: Uint32Array, ranges: Uint32Array, from: number, to: number): void {
  for (let i = from + 1; i < to; i++) {
    const index = order[2 * i + 1];
    let hole = i;
    for (; hole > from && compareV6(ranges, 8 * order[2 * hole - 1], ranges, 8 * index) > 0; hole--)
      order[2 * hole + 1] = order[2 * hole - 1];
    order[2 * hole + 1] = index;
  }
}

/** Number of leading bits common to all starts. */
function sharedByAll(order: Uint32Array, ranges: Uint32Array, from: number, to: number): number {
  const first = 8 * order[2 * from + 1];
  for (let word = 0; word < 4; word++) {
    let differing = 0;
    for (let i = from + 1; i < to; i++) differing |= ranges[8 * order[2 * i + 1] + word] ^ ranges[first + word];
    if (differing !== 0) return 32 * word + Math.clz32(differing);
  }
  return 128;
}

/** The 32 bits after the first `before` of the address at `words[at]`, padded with zeros. */
function bitsAfter(words: Uint32Array, at: number, before: number): number {
  const [word, bits] = [at + (before >> 5), before & 31];
  // JavaScript treats a shift by 32 as a shift by 0.
  return bits === 0 || before >= 96 ? words[word] << bits : (words[word] << bits) | (words[word + 1] >>> (32 - bits));
}
