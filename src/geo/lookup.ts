/** Inverts the table of ranges by key. */
import { familyTables, type GeoTable } from './table.ts';

/** `address`: 4 or 16 bytes, one character each. */
export type KeyLookup = (address: string) => number | undefined;

/** Ranges by start, as bytes: addresses of one family compare as strings. */
interface Ranges {
  readonly starts: readonly string[];
  readonly ends: readonly string[];
  readonly keys: readonly number[];
}

/** A second for the packaged data. Of overlapping ranges, the last to begin counts. */
export function keyLookup(table: GeoTable): KeyLookup {
  const { v4, v6 } = familyTables(table);
  const families = [rangesOf(v4, 1), rangesOf(v6, 4)];
  return (address) => {
    const { starts, ends, keys } = families[address.length === 4 ? 0 : 1];
    let low = 0;
    for (let high = starts.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (starts[middle] <= address) low = middle + 1;
      else high = middle;
    }
    return low > 0 && ends[low - 1] >= address ? keys[low - 1] : undefined;
  };
}

function rangesOf({ keys, offsets, ranges }: ReturnType<typeof familyTables>['v4'], width: number): Ranges {
  const found: { start: string; end: string; key: number }[] = [];
  for (let k = 0; k < keys.length; k++) {
    for (let at = offsets[k] * 2 * width; at < offsets[k + 1] * 2 * width; at += 2 * width) {
      found.push({ start: bytesOf(ranges, at, width), end: bytesOf(ranges, at + width, width), key: keys[k] });
    }
  }
  found.sort((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : 0));
  return { starts: found.map(({ start }) => start), ends: found.map(({ end }) => end), keys: found.map(({ key }) => key) };
}

function bytesOf(words: Uint32Array, at: number, width: number): string {
  let bytes = '';
  for (let i = at; i < at + width; i++) {
    const word = words[i];
    bytes += String.fromCharCode(word >>> 24, (word >>> 16) & 0xff, (word >>> 8) & 0xff, word & 0xff);
  }
  return bytes;
}
