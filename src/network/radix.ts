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

/**
 * Sorts `count` pairs (key, value) by key, ascending and stable: an LSD radix sort with digits of 11, 11 and 10 bits.
 * Returns `pairs` or a new array that takes its place; what the other one holds is undefined then.
 */
export function sortPairs(pairs: Uint32Array<ArrayBuffer>, count: number): Uint32Array<ArrayBuffer> {
  if (count <= SHORT) return insertionSort(pairs, count);
  if (countDigits(pairs, count)) return pairs;
  let from = pairs;
  let to = new Uint32Array(2 * count);
  for (const { shift, mask, counts } of PASSES) {
    // A digit that all keys share orders nothing.
    if (counts[(from[0] >>> shift) & mask] === count) continue;
    scatter(from, to, count, shift, mask, counts);
    [from, to] = [to, from];
  }
  return from;
}

/** Below this many pairs, going through the tables of counts costs more than it saves. */
const SHORT = 64;

function insertionSort(pairs: Uint32Array<ArrayBuffer>, count: number): Uint32Array<ArrayBuffer> {
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
  return pairs;
}

/** Counts every digit of every key; true when the keys are in order already. */
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

/** Moves the pairs to where their digit puts them. `counts` is used up. */
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
