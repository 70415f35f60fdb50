/** Finds bytes in bytes, in time linear in both. */
import type { ByteString } from '../bytes.ts';

/** Start of the needle at or after `from`; -1 if absent. */
export type Search = (value: ByteString, from: number) => number;

/** V8's own search is quadratic for long needles: up to this length that is a small constant. */
const SHORT = 48;

export function compileSearch(needle: ByteString): Search {
  return needle.length <= SHORT ? (value, from) => value.indexOf(needle, from) : compileKnuthMorrisPratt(needle);
}

function compileKnuthMorrisPratt(needle: ByteString): Search {
  const { length } = needle;
  const codes = Uint8Array.from(needle, (byte) => byte.charCodeAt(0));
  /** Longest border of each prefix of the needle (Knuth-Morris-Pratt). */
  const borders = new Uint32Array(length + 1);
  for (let i = 1, k = 0; i < length; i++) {
    while (k > 0 && codes[i] !== codes[k]) k = borders[k];
    if (codes[i] === codes[k]) k++;
    borders[i + 1] = k;
  }
  return (value, from) => {
    for (let i = from, k = 0; i < value.length; i++) {
      const code = value.charCodeAt(i);
      while (k > 0 && code !== codes[k]) k = borders[k];
      if (code === codes[k]) k++;
      if (k === length) return i + 1 - length;
    }
    return -1;
  };
}
