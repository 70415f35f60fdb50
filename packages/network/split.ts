import { maskHostBits } from './bounds.ts';

/**
 * Splits a range into its minimal list of networks, in order. The common leading bits of both ends form a network. The range is the end of
 * that network's lower half and the beginning of its upper half; each part is split by the bits of its own end of the range. No address
 * outside the range is computed, so nothing overflows, and IPv6 needs no carry between words.
 */

interface SinkV4 {
  readonly addresses: Uint32Array;
  readonly prefixes: Uint8Array;
}

/** Four words per network. */
interface SinkV6 {
  readonly words: Uint32Array;
  readonly prefixes: Uint8Array;
}

/** Splits the range at `pairs[from]` and writes its networks to `sink` from `index` on; null only counts them. Returns the next index. */
export function splitV4(pairs: Uint32Array, from: number, sink: SinkV4 | null, index: number): number {
  const start = pairs[from];
  const end = pairs[from + 1];
  if (start === end) return putV4(sink, index, start, 32);

  const top = 31 - Math.clz32(start ^ end);
  const half = (1 << top) >>> 0;
  const middle = (end & -half) >>> 0;
  let below = middle - start;
  let above = end - middle + 1;
  if (below === half && above === half) return putV4(sink, index, start, 31 - top);

  let next = index;
  while (below > 0) {
    const size = (below & -below) >>> 0;
    next = putV4(sink, next, middle - below, Math.clz32(size) + 1);
    below -= size;
  }
  let address = middle;
  while (above > 0) {
    const prefix = Math.clz32(above) + 1;
    const size = (1 << (32 - prefix)) >>> 0;
    next = putV4(sink, next, address, prefix);
    address += size;
    above -= size;
  }
  return next;
}

function putV4(sink: SinkV4 | null, index: number, address: number, prefix: number): number {
  if (sink !== null) {
    sink.addresses[index] = address;
    sink.prefixes[index] = prefix;
  }
  return index + 1;
}

/** Splits the range at `words[from]` (eight words); otherwise as `splitV4`. */
export function splitV6(words: Uint32Array, from: number, sink: SinkV6 | null, index: number): number {
  const start = from;
  const end = from + 4;
  const shared = sharedBits(words, start, end);
  const zeros = trailing(words, start, 0);
  const ones = trailing(words, end, ONES);
  const differing = 128 - shared;
  if (zeros >= differing && ones >= differing) return putV6(sink, index, words, start, shared, 0);

  // Bits after the first difference of the ends.
  const free = differing - 1;
  let next = putV6(sink, index, words, start, 128 - Math.min(zeros, free), 0);
  for (let bit = zeros + 1; bit < free; bit++) {
    if (bitAt(words, start, bit) === 0) next = putV6(sink, next, words, start, 128 - bit, 1);
  }
  for (let bit = free - 1; bit > ones; bit--) {
    if (bitAt(words, end, bit) === 1) next = putV6(sink, next, words, end, 128 - bit, 1);
  }
  return putV6(sink, next, words, end, 128 - Math.min(ones, free), 0);
}

const ONES = 0xffff_ffff;

/** Number of common leading bits of two addresses. */
function sharedBits(words: Uint32Array, a: number, b: number): number {
  let word = 0;
  while (word < 4 && words[a + word] === words[b + word]) word++;
  return word === 4 ? 128 : 32 * word + Math.clz32(words[a + word] ^ words[b + word]);
}

/** Number of trailing zeros (`filler` 0) or ones (`filler` ONES) of an address. */
function trailing(words: Uint32Array, at: number, filler: number): number {
  let word = 3;
  while (word >= 0 && words[at + word] === filler) word--;
  if (word < 0) return 128;
  const rest = words[at + word] ^ filler;
  return 32 * (3 - word) + 31 - Math.clz32(rest & -rest);
}

/** Bit 0 is the last one. */
function bitAt(words: Uint32Array, at: number, bit: number): number {
  return (words[at + 3 - (bit >>> 5)] >>> (bit & 31)) & 1;
}

/**
 * Writes the network of this prefix around the address at `words[at]`; with `flip` 1 its sibling, with the last bit of the prefix inverted.
 * Returns the next index.
 */
function putV6(sink: SinkV6 | null, index: number, words: Uint32Array, at: number, prefix: number, flip: 0 | 1): number {
  if (sink !== null) {
    const to = 4 * index;
    for (let i = 0; i < 4; i++) sink.words[to + i] = words[at + i];
    maskHostBits(sink.words, to, prefix);
    if (flip === 1) sink.words[to + ((prefix - 1) >>> 5)] ^= 1 << (31 - ((prefix - 1) & 31));
    sink.prefixes[index] = prefix;
  }
  return index + 1;
}
