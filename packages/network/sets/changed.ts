import type { Merged } from './merge.ts';
import { commonRun } from './same.ts';

/**
 * Calls `take` with ranges of either side without an equal range in the other: together they contain every differing address. Equal parts
 * cost a byte comparison. `compare` orders two starts.
 */
export function eachChanged(
  now: Merged,
  before: Merged,
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
