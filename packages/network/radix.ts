import { newScratch } from './scratch.ts';

const LOW = { shift: 0, mask: 0x7ff };
const MIDDLE = { shift: 11, mask: 0x7ff };
const HIGH = { shift: 22, mask: 0x3ff };

const low = new Uint32Array(LOW.mask + 1);
const middle = new Uint32Array(MIDDLE.mask + 1);
const high = new Uint32Array(HIGH.mask + 1);
const PASSES = [
  { ...LOW, counts: low },
  { ...MIDDLE, counts: middle },
  { ...HIGH, counts: high },
];

const scratch = newScratch();

/**
 * Sorts the first `count` pairs (key, value) in place by key, ascending and stably: a radix sort, least significant digit first,
 * with digits of 11, 11 and 10 bits.
 */
export function sortPairs(pairs: Uint32Array, count: number): void {
  if (count <= SHORT) insertionSort(pairs, count);
  else if (!countDigits(pairs, count)) radixSort(pairs, count);
}

function radixSort(pairs: Uint32Array, count: number): void {
  let from = pairs;
  let to: Uint32Array = new Uint32Array(scratch(8 * count), 0, 2 * count);
  for (const { shift, mask, counts } of PASSES) {
    // A digit that all keys share does not change the order.
    if (counts[(from[0] >>> shift) & mask] === count) continue;
    scatter(from, to, count, shift, mask, counts);
    [from, to] = [to, from];
  }
  if (from !== pairs) pairs.set(from);
}

/** Up to this many pairs an insertion sort is faster than a pass over the tables of counts. */
const SHORT = 64;

function insertionSort(pairs: Uint32Array, count: number): void {
  for (let i = 2; i < 2 * count; i += 2) {
    const [key, value] = [pairs[i], pairs[i + 1]];
    let hole = i;
    for (; hole > 0 && pairs[hole - 2] > key; hole -= 2) {
      pairs[hole] = pairs[hole - 2];
      pairs[hole + 1] = pairs[hole - 1];
    }
    pairs[hole] = key;
    pairs[hole + 1] = value;
  }
}

/** Counts the digits of all keys. Returns whether the keys are sorted already. */
function countDigits(pairs: Uint32Array, count: number): boolean {
  for (const { counts } of PASSES) counts.fill(0);
  let sorted = true;
  let previous = 0;
  for (let i = 0; i < 2 * count; i += 2) {
    const key = pairs[i];
    low[key & LOW.mask]++;
    middle[(key >>> MIDDLE.shift) & MIDDLE.mask]++;
    high[key >>> HIGH.shift]++;
    if (key < previous) sorted = false;
    previous = key;
  }
  return sorted;
}

/** Copies the pairs to `to`, sorted by one digit. Overwrites `counts`. */
function scatter(from: Uint32Array, to: Uint32Array, count: number, shift: number, mask: number, counts: Uint32Array): void {
  let next = 0;
  for (let digit = 0; digit <= mask; digit++) {
    const size = counts[digit];
    counts[digit] = next;
    next += size;
  }
  for (let i = 0; i < 2 * count; i += 2) {
    const key = from[i];
    const at = 2 * counts[(key >>> shift) & mask]++;
    to[at] = key;
    to[at + 1] = from[i + 1];
  }
}
