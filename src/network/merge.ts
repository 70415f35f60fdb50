import { sortPairs } from './radix.ts';

/** Ranges that are ascending, disjoint and not adjacent. */
interface Merged {
  readonly words: Uint32Array<ArrayBuffer>;
  readonly length: number;
}

const ONES = 0xffff_ffff;

/** Sorts `count` IPv4 ranges (start, end) and unites those that overlap or touch. Uses up `pairs`. */
export function mergeV4(pairs: Uint32Array<ArrayBuffer>, count: number): Merged {
  if (count === 0) return { words: pairs, length: 0 };
  const words = sortPairs(pairs, count);
  let last = 0;
  let end = words[1];
  for (let i = 2; i < 2 * count; i += 2) {
    const start = words[i];
    const itsEnd = words[i + 1];
    // Beyond 255.255.255.255 numbers go on, so this never wraps.
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

/** Sorts `count` IPv6 ranges of eight words and unites those that overlap or touch. */
export function mergeV6(ranges: Uint32Array<ArrayBuffer>, count: number): Merged {
  if (count === 0) return { words: ranges, length: 0 };
  const order = orderV6(ranges, count);
  const words = new Uint32Array(8 * count);
  const reach = new Uint32Array(4);
  let last = -8;
  for (let i = 0; i < count; i++) {
    const at = 8 * order[2 * i + 1];
    if (last >= 0 && compare(ranges, at, reach, 0) <= 0) {
      if (compare(ranges, at + 4, words, last + 4) <= 0) continue;
      for (let k = 4; k < 8; k++) words[last + k] = ranges[at + k];
    } else {
      last += 8;
      for (let k = 0; k < 8; k++) words[last + k] = ranges[at + k];
    }
    successor(words, last + 4, reach);
  }
  return { words, length: last / 8 + 1 };
}

/** The ranges' indexes, by start, as the second halves of pairs. */
function orderV6(ranges: Uint32Array, count: number): Uint32Array {
  const identity = new Uint32Array(2 * count);
  for (let i = 0; i < count; i++) identity[2 * i + 1] = i;
  const order = sortByWord(sortByWord(identity, ranges, 1), ranges, 0);
  // Starts that share 64 bits are few, or neighbours in one /64.
  for (let from = 0, to = 1; from < count; from = to++) {
    while (to < count && order[2 * to] === order[2 * from] && word(ranges, order, to, 1) === word(ranges, order, from, 1)) to++;
    if (to - from === 1) continue;
    const run = order.slice(2 * from, 2 * to);
    order.set(sortByWord(sortByWord(run, ranges, 3), ranges, 2), 2 * from);
  }
  return order;
}

/** One word of the start of the `i`th range in this order. */
function word(ranges: Uint32Array, order: Uint32Array, i: number, which: number): number {
  return ranges[8 * order[2 * i + 1] + which];
}

/** Sorts pairs (anything, index) by one word of the start of the range that each names, stable; that word becomes the first half. */
function sortByWord(order: Uint32Array<ArrayBuffer>, ranges: Uint32Array, which: number): Uint32Array<ArrayBuffer> {
  const count = order.length / 2;
  for (let i = 0; i < count; i++) order[2 * i] = word(ranges, order, i, which);
  return sortPairs(order, count);
}

/** Negative, zero or positive as the address at `a[i]` is below, equal to or above the one at `b[j]`. */
function compare(a: Uint32Array, i: number, b: Uint32Array, j: number): number {
  for (let k = 0; k < 4; k++) {
    const difference = a[i + k] - b[j + k];
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Writes the address after the one at `words[at]`; the last of all is its own successor. */
function successor(words: Uint32Array, at: number, into: Uint32Array): void {
  let carry = true;
  for (let k = 3; k >= 0; k--) {
    into[k] = words[at + k] + (carry ? 1 : 0);
    carry &&= words[at + k] === ONES;
  }
  if (carry) into.fill(ONES);
}
