import { EIGHT_GROUPS, LONG_GROUP, NO_ADDRESS, TWO_GAPS } from './faults.ts';
import { readOctets } from './octets.ts';

const DOT = 0x2e;
const COLON = 0x3a;

/** The value of each hexadecimal digit; -1 for any other byte. */
const HEX_VALUES = Int8Array.from({ length: 256 }, (_, byte) => '0123456789abcdef'.indexOf(String.fromCharCode(byte).toLowerCase()));

/** Whether the text begins as only IPv6 addresses do: hexadecimal digits, if any, and a colon. */
export function startsLikeV6(bytes: Uint8Array, at: number, end: number): boolean {
  let i = at;
  while (i < end && HEX_VALUES[bytes[i]] >= 0) i++;
  return i < end && bytes[i] === COLON;
}

const groups = new Uint16Array(8);

/**
 * Reads an IPv6 address into four words. `::` stands for groups of zeros; the last two groups may be written as an IPv4 address.
 * Returns the position after the address, or the fault in words.
 */
export function readGroups(bytes: Uint8Array, at: number, end: number, words: Uint32Array): number | string {
  let count = 0;
  let gap = -1;
  let i = at;
  if (i + 1 < end && bytes[i] === COLON && bytes[i + 1] === COLON) {
    gap = 0;
    i += 2;
  }
  while (count < 8) {
    const first = i;
    let value = 0;
    for (; i < end; i++) {
      const digit = HEX_VALUES[bytes[i]];
      if (digit < 0) break;
      value = (value << 4) | digit;
    }
    if (i < end && bytes[i] === DOT) {
      if (count > 6) return EIGHT_GROUPS;
      const next = readOctets(bytes, first, end, words);
      if (typeof next === 'string') return next;
      groups[count++] = words[3] >>> 16;
      groups[count++] = words[3];
      i = next;
      break;
    }
    if (i - first > 4) return LONG_GROUP;
    if (i === first) {
      // Only after `::` may the groups end.
      if (count === gap) break;
      return NO_ADDRESS;
    }
    groups[count++] = value;
    if (i >= end || bytes[i] !== COLON) break;
    i++;
    if (i < end && bytes[i] === COLON) {
      if (gap >= 0) return TWO_GAPS;
      gap = count;
      i++;
    } else if (count === 8) return EIGHT_GROUPS;
  }
  if (gap < 0 ? count !== 8 : count === 8) return EIGHT_GROUPS;
  const left = gap < 0 ? 8 : gap;
  const zeros = 8 - count;
  const group = (k: number) => (k < left ? groups[k] : k < left + zeros ? 0 : groups[k - zeros]);
  for (let word = 0; word < 4; word++) words[word] = (group(2 * word) << 16) | group(2 * word + 1);
  return i;
}
