import { commonRun } from './same.ts';

/** Sorted ranges that do not touch, of so many words each. */
interface Sorted {
  readonly words: Uint32Array;
  readonly length: number;
}

/**
 * Calls `take` with the ranges of either that the other has not just so: every address by which they differ is in one of them. Costs a
 * comparison of bytes where they are the same. `compare` tells the order of two starts.
 */
export function eachChanged(
  now: Sorted,
  before: Sorted,
  width: number,
  compare: (a: Uint32Array, i: number, b: Uint32Array, j: number) => number,
  take: (words: Uint32Array, at: number) => void,
): void {
  const [ends, endsBefore] = [width * now.length, width * before.length];
  for (let i = 0, j = 0; ; ) {
    const words = commonRun(now.words, i, before.words, j, Math.min(ends - i, endsBefore - j));
    i += words - (words % width);
    j += words - (words % width);
    if (i === ends && j === endsBefore) return;
    const order = i === ends ? 1 : j === endsBefore ? -1 : compare(now.words, i, before.words, j);
    if (order <= 0) {
      take(now.words, i);
      i += width;
    }
    if (order >= 0) {
      take(before.words, j);
      j += width;
    }
  }
}
