import { ABOVE_255, LEADING_ZEROS, NO_ADDRESS } from './faults.ts';

const DOT = 0x2e;
const ZERO = 0x30;

/** Value of each decimal digit; STOP for any other byte. */
const STOP = 10;
const DIGITS = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= ZERO && byte < ZERO + 10 ? byte - ZERO : STOP));

/** Four bytes of a text from `at` on, the first in the lowest bits. Bytes after the end are 0xff, which is part of no network. */
export const wordAt = (text: DataView, at: number, end: number): number =>
  at + 4 <= end ? text.getInt32(at, true) : lastWord(text, at, end);

function lastWord(text: DataView, at: number, end: number): number {
  let word = -1;
  for (let i = end - 1; i >= at; i--) word = (word << 8) | text.getUint8(i);
  return word;
}

/**
 * Results of `readNumber` for three digits of four bits each. A table, because branches on the length of an octet are mispredicted, at a
 * higher cost than reading it.
 */
const NUMBERS = Uint16Array.from({ length: 4096 }, (_, digits) => {
  const text = [digits >> 8, (digits >> 4) & 15, digits & 15];
  const stop = text.findIndex((digit) => digit >= STOP);
  const length = stop < 0 ? 3 : stop;
  const value = Number(text.slice(0, length).join(''));
  const wrong = length === 0 || value > 255 || (length > 1 && text[0] === 0);
  return wrong ? 0 : length * 256 + value;
});

/** Reads a number from 0 to 255 without leading zeros. Returns its length × 256 + its value; 0 if there is none. */
export function readNumber(text: DataView, at: number, end: number): number {
  const word = wordAt(text, at, end);
  // The lower half of a digit is its value. A typical next character, such as a dot, has a lower half above 9.
  const number = NUMBERS[((word & 15) << 8) | ((word >> 4) & 0xf0) | ((word >> 16) & 15)];
  return number > 0 && areDigits(word, number >> 8) ? number : exactNumber(word);
}

const exactNumber = (word: number) => NUMBERS[(digit(word) << 8) | (digit(word >> 8) << 4) | digit(word >> 16)];

/** Whether the upper halves of the first `count` bytes, 1 to 3, match a digit. */
const areDigits = (word: number, count: number) => ((word ^ 0x30_3030) & (0xf0_f0f0 >>> (24 - 8 * count))) === 0;
const digit = (byte: number) => DIGITS[byte & 0xff];

/** Explains a result of `readNumber`, either 0 or too large: `missing` without a digit, LEADING_ZEROS, or `above`. */
export function numberFault(text: DataView, at: number, end: number, missing: string, above: string): string {
  const first = digit(wordAt(text, at, end));
  if (first === STOP) return missing;
  return first === 0 ? LEADING_ZEROS : above;
}

/** Reads four octets into the last of four words. Returns the position after them, or the fault in words. */
export function readOctets(text: DataView, at: number, end: number, words: Uint32Array): number | string {
  let address = 0;
  let i = at;
  for (let octet = 0; octet < 4; octet++) {
    if (octet > 0 && (i >= end || text.getUint8(i++) !== DOT)) return NO_ADDRESS;
    const number = readNumber(text, i, end);
    if (number === 0) return numberFault(text, i, end, NO_ADDRESS, ABOVE_255);
    address = (address << 8) | (number & 0xff);
    i += number >> 8;
  }
  words[3] = address;
  return i;
}
