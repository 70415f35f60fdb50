import { FEW, firstReaching } from '../search.ts';
import { compareV6, predecessorV6, successorV6 } from '../words.ts';
import type { Merged } from './merge.ts';

/** Subtracts IPv4 ranges (start, end) from others, in one sweep. */
export function subtractV4(from: Merged, subtracted: Merged): Merged {
  const { words: ranges, length: count } = from;
  const { words: other, length: otherCount } = subtracted;
  if (otherCount * FEW < count) return subtractFewV4(from, subtracted);
  const words = new Uint32Array(2 * (count + otherCount));
  let length = 0;
  const put = (start: number, end: number) => {
    words[2 * length] = start;
    words[2 * length + 1] = end;
    length++;
  };
  let next = 0;
  for (let i = 0; i < 2 * count; i += 2) {
    // A number, not a 32-bit word: the address after the last one does not wrap.
    let start = ranges[i];
    const end = ranges[i + 1];
    while (next < otherCount && other[2 * next + 1] < start) next++;
    for (let at = 2 * next; at < 2 * otherCount && other[at] <= end; at += 2) {
      if (other[at] > start) put(start, other[at] - 1);
      start = other[at + 1] + 1;
    }
    if (start <= end) put(start, end);
  }
  return { words, length };
}

/** The same for a small number of subtracted ranges. */
function subtractFewV4({ words: ranges, length: count }: Merged, { words: other, length: otherCount }: Merged): Merged {
  const words = new Uint32Array(2 * (count + otherCount));
  let [at, i] = [0, 0];
  const put = (start: number, end: number) => {
    words[at++] = start;
    words[at++] = end;
  };
  const copyTo = (to: number) => {
    words.set(ranges.subarray(i, to), at);
    at += to - i;
    i = to;
  };
  for (let j = 0; j < 2 * otherCount; ) {
    const first = other[j];
    copyTo(2 * firstReaching(count, (k) => ranges[2 * k + 1] >= first, i / 2));
    if (i === 2 * count) break;
    // The rest of one range, after all subtractions from it.
    let start = ranges[i];
    const end = ranges[i + 1];
    for (; j < 2 * otherCount && other[j] <= end; j += 2) {
      if (other[j] > start) put(start, other[j] - 1);
      start = Math.max(start, other[j + 1] + 1);
      // It reaches into the next ranges.
      if (other[j + 1] > end) break;
    }
    if (start <= end) put(start, end);
    i += 2;
  }
  copyTo(2 * count);
  return { words, length: at / 2 };
}

/** The same for IPv6 ranges of eight words. */
export function subtractV6({ words: ranges, length: count }: Merged, { words: other, length: otherCount }: Merged): Merged {
  const words = new Uint32Array(8 * (count + otherCount));
  const start = new Uint32Array(4);
  let length = 0;
  let next = 0;
  for (let i = 0; i < 8 * count; i += 8) {
    let isLeft = true;
    start.set(ranges.subarray(i, i + 4));
    while (next < otherCount && compareV6(other, 8 * next + 4, start, 0) < 0) next++;
    for (let at = 8 * next; at < 8 * otherCount && compareV6(other, at, ranges, i + 4) <= 0; at += 8) {
      if (compareV6(other, at, start, 0) > 0) {
        words.set(start, 8 * length);
        predecessorV6(other, at, words, 8 * length + 4);
        length++;
      }
      // A subtraction up to the end, possibly the very last address, leaves nothing.
      isLeft = compareV6(other, at + 4, ranges, i + 4) < 0;
      successorV6(other, at + 4, start);
    }
    if (!isLeft) continue;
    words.set(start, 8 * length);
    words.set(ranges.subarray(i + 4, i + 8), 8 * length + 4);
    length++;
  }
  return { words, length };
}
