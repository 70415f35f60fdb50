import type { V4Ranges, V6Ranges } from './ranges.ts';
import { splitV4, splitV6 } from './split.ts';
import { compareV6 } from './words.ts';

/** Sorted: `addresses[i]`/`prefixes[i]`. */
export interface CidrsV4 {
  readonly length: number;
  readonly addresses: Uint32Array;
  readonly prefixes: Uint8Array;
}

/** Sorted: four words at `words[4 * i]`, most significant first, and `prefixes[i]`. */
export interface CidrsV6 {
  readonly length: number;
  readonly words: Uint32Array;
  readonly prefixes: Uint8Array;
}

/** By address, then by prefix length. */
export const compareCidrsV4 = (a: CidrsV4, i: number, b: CidrsV4, j: number): number =>
  a.addresses[i] - b.addresses[j] || a.prefixes[i] - b.prefixes[j];
export const compareCidrsV6 = (a: CidrsV6, i: number, b: CidrsV6, j: number): number =>
  compareV6(a.words, 4 * i, b.words, 4 * j) || a.prefixes[i] - b.prefixes[j];

/** Minimal set of networks that covers exactly these ranges, sorted numerically (spec 4.3). Merges the ranges in place. */
export function coalesceV4(ranges: V4Ranges): CidrsV4 {
  const length = countV4(ranges);
  const cidrs = { length, addresses: new Uint32Array(length), prefixes: new Uint8Array(length) };
  let at = 0;
  for (let i = 0; i < ranges.length; i++) at = splitV4(ranges.pairs, 2 * i, cidrs, at);
  return cidrs;
}

/** See `coalesceV4`. */
export function coalesceV6(ranges: V6Ranges): CidrsV6 {
  const length = countV6(ranges);
  const cidrs = { length, words: new Uint32Array(4 * length), prefixes: new Uint8Array(length) };
  let at = 0;
  for (let i = 0; i < ranges.length; i++) at = splitV6(ranges.words, 8 * i, cidrs, at);
  return cidrs;
}

/** Length of the result of `coalesceV4`. Merges the ranges in place. */
export function countV4(ranges: V4Ranges): number {
  ranges.merge();
  let count = 0;
  for (let i = 0; i < ranges.length; i++) count = splitV4(ranges.pairs, 2 * i, null, count);
  return count;
}

/** Length of the result of `coalesceV6`. Merges the ranges in place. */
export function countV6(ranges: V6Ranges): number {
  ranges.merge();
  let count = 0;
  for (let i = 0; i < ranges.length; i++) count = splitV6(ranges.words, 8 * i, null, count);
  return count;
}
