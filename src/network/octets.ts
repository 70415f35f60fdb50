import { ABOVE_255, LEADING_ZEROS, NO_ADDRESS } from './faults.ts';

const DOT = 0x2e;
const ZERO = 0x30;

/** The value of each decimal digit; STOP for any other byte. */
const STOP = 10;
const DIGITS = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= ZERO && byte < ZERO + 10 ? byte - ZERO : STOP));

/** The next three bytes as digits, four bits each: an index into `NUMBERS`. */
function threeDigits(bytes: Uint8Array, at: number, end: number): number {
  const first = at < end ? DIGITS[bytes[at]] : STOP;
  const second = at + 1 < end ? DIGITS[bytes[at + 1]] : STOP;
  const third = at + 2 < end ? DIGITS[bytes[at + 2]] : STOP;
  return (first << 8) | (second << 4) | third;
}

/** The results of `readNumber`. A table, because branches on the length of an octet are mispredicted, which costs more than reading it. */
const NUMBERS = Uint16Array.from({ length: 4096 }, (_, digits) => {
  const text = [digits >> 8, (digits >> 4) & 15, digits & 15];
  const stop = text.findIndex((digit) => digit >= STOP);
  const length = stop < 0 ? 3 : stop;
  const value = Number(text.slice(0, length).join(''));
  const wrong = length === 0 || value > 255 || (length > 1 && text[0] === 0);
  return wrong ? 0 : length * 256 + value;
});

/** Reads a number from 0 to 255 without leading zeros. Returns its length × 256 + its value; 0 when there is none. */
export function readNumber(bytes: Uint8Array, at: number, end: number): number {
  return NUMBERS[threeDigits(bytes, at, end)];
}

/** Why `readNumber` returned 0, or a number too large: `missing` without a digit, LEADING_ZEROS, or `above`. */
export function numberFault(bytes: Uint8Array, at: number, end: number, missing: string, above: string): string {
  const first = threeDigits(bytes, at, end) >> 8;
  if (first === STOP) return missing;
  return first === 0 ? LEADING_ZEROS : above;
}

/** Reads four octets into the last of four words. Returns the position after them, or the fault in words. */
export function readOctets(bytes: Uint8Array, at: number, end: number, words: Uint32Array): number | string {
  let address = 0;
  let i = at;
  for (let octet = 0; octet < 4; octet++) {
    if (octet > 0 && (i >= end || bytes[i++] !== DOT)) return NO_ADDRESS;
    const number = readNumber(bytes, i, end);
    if (number === 0) return numberFault(bytes, i, end, NO_ADDRESS, ABOVE_255);
    address = (address << 8) | (number & 0xff);
    i += number >> 8;
  }
  words[3] = address;
  return i;
}
