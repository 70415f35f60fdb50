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

/** Reads the network in bytes [at, end) into `into`, by the rules of `parseNetwork`. Returns null, or what is wrong, in words. */
export function readNetwork(bytes: Uint8Array, at: number, end: number, into: Reading): string | null {
  const fault = startsLikeV6(bytes, at, end) ? readV6(bytes, at, end, into) : readV4(bytes, at, end, into);
  return fault === null ? null : (foreignPart(bytes, at, end) ?? fault);
}

function startsLikeV6(bytes: Uint8Array, at: number, end: number): boolean {
  for (let i = at; i < end; i++) {
    if (bytes[i] === DOT) return false;
    if (bytes[i] === COLON) return true;
  }
  return false;
}

function readV4(bytes: Uint8Array, at: number, end: number, into: Reading): string | null {
  const next = readOctets(bytes, at, end, into.words);
  if (typeof next === 'string') return next;
  const prefix = readPrefix(bytes, next, end, 32);
  if (typeof prefix === 'string') return prefix;
  into.family = 4;
  into.prefix = prefix;
  into.words[3] = firstAddressV4(into.words[3], prefix);
  return null;
}

function readV6(bytes: Uint8Array, at: number, end: number, into: Reading): string | null {
  const { words } = into;
  const next = readGroups(bytes, at, end, words);
  if (typeof next === 'string') return next;
  const prefix = readPrefix(bytes, next, end, 128);
  if (typeof prefix === 'string') return prefix;
  if (prefix >= 96 && words[0] === 0 && words[1] === 0 && words[2] === 0xffff) {
    into.family = 4;
    into.prefix = prefix - 96;
    words[3] = firstAddressV4(words[3], prefix - 96);
  } else {
    into.family = 6;
    into.prefix = prefix;
    maskHostBits(words, 0, prefix);
  }
  return null;
}

/** Reads four octets into the last word. Returns the position after them. */
function readOctets(bytes: Uint8Array, at: number, end: number, words: Uint32Array): number | string {
  let address = 0;
  let i = at;
  for (let octet = 0; octet < 4; octet++) {
    if (octet > 0 && (i >= end || bytes[i++] !== DOT)) return NO_ADDRESS;
    const first = i;
    let value = 0;
    for (; i < end; i++) {
      const digit = bytes[i] - ZERO;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
    }
    if (i === first) return NO_ADDRESS;
    if (i - first > 1 && bytes[first] === ZERO) return LEADING_ZEROS;
    if (value > 255) return 'an octet must be 0 to 255';
    address = (address << 8) | value;
  }
  words[3] = address;
  return i;
}

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
      const digit = hexDigit(bytes[i]);
      if (digit < 0) break;
      value = (value << 4) | digit;
    }
    if (i < end && bytes[i] === DOT) {
      if (count > 6) return 'an IPv6 address has eight groups';
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
    } else if (count === 8) return 'an IPv6 address has eight groups';
  }
  if (gap < 0 ? count !== 8 : count === 8) return 'an IPv6 address has eight groups';
  if (gap >= 0) {
    groups.copyWithin(gap + 8 - count, gap, count);
    groups.fill(0, gap, gap + 8 - count);
  }
  for (let word = 0; word < 4; word++) words[word] = (groups[2 * word] << 16) | groups[2 * word + 1];
  return i;
}

/** The value of a hexadecimal digit; -1 for any other byte. */
function hexDigit(byte: number): number {
  if (byte >= ZERO && byte <= 0x39) return byte - ZERO;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/** Reads the prefix that ends the text; without one a network is a single address, so that `longest` is its prefix. */
function readPrefix(bytes: Uint8Array, at: number, end: number, longest: 32 | 128): number | string {
  if (at === end) return longest;
  if (bytes[at] !== SLASH) return NO_ADDRESS;
  if (at + 1 === end) return 'a prefix length must follow the slash';
  let prefix = 0;
  for (let i = at + 1; i < end; i++) {
    const digit = bytes[i] - ZERO;
    if (digit < 0 || digit > 9) return 'the prefix length must be a number';
    prefix = prefix * 10 + digit;
  }
  if (end - at > 2 && bytes[at + 1] === ZERO) return LEADING_ZEROS;
  if (prefix > longest) return longest === 32 ? 'the prefix length must be 0 to 32' : 'the prefix length must be 0 to 128';
  return prefix;
}

/** Names the part of a refused text that other notations have and this one has not. */
function foreignPart(bytes: Uint8Array, at: number, end: number): string | undefined {
  if (at === end) return 'must not be empty';
  const text = bytes.subarray(at, end);
  if (text.some((byte) => byte === SPACE || (byte >= TAB && byte <= CARRIAGE_RETURN))) return 'blanks are not allowed';
  if (text.includes(PERCENT)) return 'zone ids are not allowed';
  const slash = text.indexOf(SLASH);
  if (slash >= 0 && (text.includes(DOT, slash) || text.includes(COLON, slash))) return 'netmasks are not allowed, only prefix lengths';
  return undefined;
}
