import { firstAddressV4, maskHostBits } from './bounds.ts';

/** A network as a reader leaves it: four words, most significant first; an IPv4 address is in the last of them. */
export interface Reading {
  family: 4 | 6;
  prefix: number;
  readonly words: Uint32Array;
}

/** A place to read networks into. */
export function newReading(): Reading {
  return { family: 4, prefix: 0, words: new Uint32Array(4) };
}

const DOT = 0x2e;
const SLASH = 0x2f;
const ZERO = 0x30;
const COLON = 0x3a;
const PERCENT = 0x25;
const SPACE = 0x20;
const TAB = 0x09;
const CARRIAGE_RETURN = 0x0d;

const NO_ADDRESS = 'is not an IP address or network';
const LEADING_ZEROS = 'leading zeros are not allowed';
const ABOVE_255 = 'an octet must be 0 to 255';
const EIGHT_GROUPS = 'an IPv6 address has eight groups';

/**
 * Reads the network that begins at `bytes[at]` into `into`, by the rules of `parseNetwork`. Returns the position after it, which
 * the caller must find to be the end of its text, or what is wrong, in words.
 */
export function readNetwork(bytes: Uint8Array, at: number, end: number, into: Reading): number | string {
  const result = readV4(bytes, at, end, into);
  return typeof result === 'string' && startsLikeV6(bytes, at, end) ? readV6(bytes, at, end, into) : result;
}

function startsLikeV6(bytes: Uint8Array, at: number, end: number): boolean {
  let i = at;
  while (i < end && HEX_VALUES[bytes[i]] >= 0) i++;
  return i < end && bytes[i] === COLON;
}

function readV4(bytes: Uint8Array, at: number, end: number, into: Reading): number | string {
  const next = readOctets(bytes, at, end, into.words);
  if (typeof next === 'string') return next;
  into.family = 4;
  into.prefix = 32;
  if (next >= end || bytes[next] !== SLASH) return next;
  const last = readPrefix(bytes, next + 1, end, into);
  if (typeof last === 'string') return last;
  if (into.prefix > 32) return 'the prefix length must be 0 to 32';
  into.words[3] = firstAddressV4(into.words[3], into.prefix);
  return last;
}

function readV6(bytes: Uint8Array, at: number, end: number, into: Reading): number | string {
  const { words } = into;
  const next = readGroups(bytes, at, end, words);
  if (typeof next === 'string') return next;
  into.family = 6;
  into.prefix = 128;
  let last: number | string = next;
  if (next < end && bytes[next] === SLASH) {
    last = readPrefix(bytes, next + 1, end, into);
    if (typeof last === 'string') return last;
    if (into.prefix > 128) return 'the prefix length must be 0 to 128';
    maskHostBits(words, 0, into.prefix);
  }
  if (into.prefix >= 96 && words[0] === 0 && words[1] === 0 && words[2] === 0xffff) {
    into.family = 4;
    into.prefix -= 96;
  }
  return last;
}

/** Reads a prefix length. Returns the position after it. */
function readPrefix(bytes: Uint8Array, at: number, end: number, into: Reading): number | string {
  const digits = threeDigits(bytes, at, end);
  const number = SMALL_NUMBERS[digits];
  if (number === 0) return digits >> 8 === STOP ? 'a prefix length must follow the slash' : smallNumberFault(digits);
  into.prefix = number & 0xff;
  return at + (number >> 8);
}

/** Reads four octets into the last word. Returns the position after them. */
function readOctets(bytes: Uint8Array, at: number, end: number, words: Uint32Array): number | string {
  let address = 0;
  let i = at;
  for (let octet = 0; octet < 4; octet++) {
    if (octet > 0 && (i >= end || bytes[i++] !== DOT)) return NO_ADDRESS;
    const digits = threeDigits(bytes, i, end);
    const number = SMALL_NUMBERS[digits];
    if (number === 0) return smallNumberFault(digits);
    address = (address << 8) | (number & 0xff);
    i += number >> 8;
  }
  words[3] = address;
  return i;
}

/** What a byte is in a decimal number: its digit, or the end of the number. */
const STOP = 10;
const DIGITS = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= ZERO && byte < ZERO + 10 ? byte - ZERO : STOP));

/** Three bytes as one index of 12 bits. */
function threeDigits(bytes: Uint8Array, at: number, end: number): number {
  const first = at < end ? DIGITS[bytes[at]] : STOP;
  const second = at + 1 < end ? DIGITS[bytes[at + 1]] : STOP;
  const third = at + 2 < end ? DIGITS[bytes[at + 2]] : STOP;
  return (first << 8) | (second << 4) | third;
}

/** The number from 0 to 255 that begins in three bytes: its value, and × 256 its length; 0 when there is none. A table, because the length of an octet is what a processor cannot predict. */
const SMALL_NUMBERS = Uint16Array.from({ length: 4096 }, (_, digits) => {
  const text = [digits >> 8, (digits >> 4) & 15, digits & 15];
  const stop = text.findIndex((digit) => digit >= STOP);
  const length = stop < 0 ? 3 : stop;
  const value = Number(text.slice(0, length).join(''));
  const wrong = length === 0 || value > 255 || (length > 1 && text[0] === 0);
  return wrong ? 0 : length * 256 + value;
});

function smallNumberFault(digits: number): string {
  if (digits >> 8 === STOP) return NO_ADDRESS;
  return digits >> 8 === 0 ? LEADING_ZEROS : ABOVE_255;
}

/** The value of each hexadecimal digit; -1 for any other byte. */
const HEX_VALUES = Int8Array.from({ length: 256 }, (_, byte) => '0123456789abcdef'.indexOf(String.fromCharCode(byte).toLowerCase()));
const groups = new Uint16Array(8);

/** Reads eight groups, or fewer with `::` in place of the others; the last two may be an IPv4 address. Returns the position after them. */
function readGroups(bytes: Uint8Array, at: number, end: number, words: Uint32Array): number | string {
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
    if (i - first > 4) return 'a group has at most four digits';
    if (i === first) {
      // Only after `::` may the groups end.
      if (count === gap) break;
      return NO_ADDRESS;
    }
    groups[count++] = value;
    if (i >= end || bytes[i] !== COLON) break;
    i++;
    if (i < end && bytes[i] === COLON) {
      if (gap >= 0) return '"::" may stand only once';
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

/** Why `readNetwork` did not take the whole of [at, end): the part that only other notations have, or the fault it named. */
export function explainFault(bytes: Uint8Array, at: number, end: number, result: number | string): string {
  if (at === end) return 'must not be empty';
  const text = bytes.subarray(at, end);
  if (text.some((byte) => byte === SPACE || (byte >= TAB && byte <= CARRIAGE_RETURN))) return 'blanks are not allowed';
  if (text.includes(PERCENT)) return 'zone ids are not allowed';
  const slash = text.indexOf(SLASH);
  if (slash >= 0 && (text.includes(DOT, slash) || text.includes(COLON, slash))) return 'netmasks are not allowed, only prefix lengths';
  return typeof result === 'string' ? result : NO_ADDRESS;
}
