import { EIGHT_GROUPS, LONG_GROUP, NO_ADDRESS, TWO_GAPS } from './faults.ts';
import { readOctets, wordAt } from './octets.ts';

const DOT = 0x2e;
const COLON = 0x3a;

/** Value of each hexadecimal digit; -1 for any other byte. */
const HEX_VALUES = Int8Array.from({ length: 256 }, (_, byte) => '0123456789abcdef'.indexOf(String.fromCharCode(byte).toLowerCase()));

/** Whether the text starts with hexadecimal digits, if any, and a colon: only IPv6 addresses do. */
export function startsLikeV6(text: DataView, at: number, end: number): boolean {
  let i = at;
  while (i < end && HEX_VALUES[text.getUint8(i)] >= 0) i++;
  return i < end && text.getUint8(i) === COLON;
}

/** Value of four hexadecimal digits; negative if one is invalid. */
const fourDigits = (word: number) =>
  (HEX_VALUES[word & 0xff] << 12) |
  (HEX_VALUES[(word >> 8) & 0xff] << 8) |
  (HEX_VALUES[(word >> 16) & 0xff] << 4) |
  HEX_VALUES[word >>> 24];

const groups = new Uint16Array(8);

/**
 * Reads an IPv6 address into four words: `::` compresses zeros; the last two groups may be an IPv4 address. Returns the position after the
 * address, or the fault in words.
 */
export function readGroups(text: DataView, at: number, end: number, words: Uint32Array): number | string {
  let count = 0;
  let gap = -1;
  let i = at;
  if (i + 1 < end && text.getUint8(i) === COLON && text.getUint8(i + 1) === COLON) {
    gap = 0;
    i += 2;
  }
  while (count < 8) {
    const first = i;
    // Most groups have four digits: one step instead of four.
    let value = fourDigits(wordAt(text, i, end));
    if (value >= 0) i += 4;
    else value = 0;
    for (; i < end; i++) {
      const digit = HEX_VALUES[text.getUint8(i)];
      if (digit < 0) break;
      value = (value << 4) | digit;
    }
    if (i < end && text.getUint8(i) === DOT) {
      if (count > 6) return EIGHT_GROUPS;
      const next = readOctets(text, first, end, words);
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
    if (i >= end || text.getUint8(i) !== COLON) break;
    i++;
    if (i < end && text.getUint8(i) === COLON) {
      if (gap >= 0) return TWO_GAPS;
      gap = count;
      i++;
    } else if (count === 8) return EIGHT_GROUPS;
  }
  if (gap < 0 ? count !== 8 : count === 8) return EIGHT_GROUPS;
  if (gap >= 0) fillGap(gap, count);
  for (let word = 0; word < 4; word++) words[word] = (groups[2 * word] << 16) | groups[2 * word + 1];
  return i;
}

/** Moves the groups after the gap to the end of the address, and fills the gap with zeros. */
function fillGap(gap: number, count: number): void {
  let to = 8;
  for (let from = count; from > gap; ) groups[--to] = groups[--from];
  while (to > gap) groups[--to] = 0;
}
