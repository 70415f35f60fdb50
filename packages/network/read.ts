import { firstAddressV4, maskHostBits } from './bounds.ts';
import { ABOVE_32, ABOVE_128, NO_PREFIX, WIDE_MAPPED } from './faults.ts';
import { readGroups, startsLikeV6 } from './groups.ts';
import { numberFault, readNumber, readOctets } from './octets.ts';

const SLASH = 0x2f;

/** The shortest prefix length of an IPv4-mapped network: a /8 of IPv4 (D41.1). */
const WIDEST_MAPPED = 104;

/** What the readers fill in: four words, most significant first. An IPv4 address is in the last word; the others are then undefined. */
export interface Reading {
  family: 4 | 6;
  prefix: number;
  readonly words: Uint32Array<ArrayBuffer>;
}

/** A DataView, for loads of several bytes. */
export const textOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView => new DataView(buffer, byteOffset, byteLength);

export function newReading(): Reading {
  return { family: 4, prefix: 0, words: new Uint32Array(4) };
}

/**
 * Reads the network at byte `at` into `into`, by the rules of `parseNetwork`. Returns the position after it, or the fault in words. The
 * caller checks that nothing follows.
 */
export function readNetwork(text: DataView, at: number, end: number, into: Reading): number | string {
  const next = readAddress(text, at, end, into);
  if (typeof next === 'string') return next;
  const { family, words } = into;
  let last: number | string = next;
  if (next < end && text.getUint8(next) === SLASH) {
    last = readPrefix(text, next + 1, end, family === 4 ? 32 : 128, into);
    if (typeof last === 'string') return last;
    if (family === 4) words[3] = firstAddressV4(words[3], into.prefix);
    else maskHostBits(words, 0, into.prefix);
  }
  // The last bit of its first 96 is set: the prefix is no shorter.
  if (family === 6 && isMapped(words)) {
    if (into.prefix < WIDEST_MAPPED) return WIDE_MAPPED;
    into.family = 4;
    into.prefix -= 96;
  }
  return last;
}

/**
 * Reads the address at byte `at` into `into` as a network of one address. Unlike `readNetwork` it accepts no prefix length and leaves an
 * IPv4-mapped address as IPv6. Returns the position after it, or the fault in words.
 */
export function readAddress(text: DataView, at: number, end: number, into: Reading): number | string {
  let next = readOctets(text, at, end, into.words);
  into.family = 4;
  into.prefix = 32;
  if (typeof next === 'string' && startsLikeV6(text, at, end)) {
    next = readGroups(text, at, end, into.words);
    into.family = 6;
    into.prefix = 128;
  }
  return next;
}

/** IPv4-mapped (RFC 4291 2.5.5.2): the last word is the IPv4 address. */
export function isMapped(words: Uint32Array): boolean {
  return words[0] === 0 && words[1] === 0 && words[2] === 0xffff;
}

/** Reads a prefix length up to `longest`. Returns the position after it, or the fault in words. */
function readPrefix(text: DataView, at: number, end: number, longest: 32 | 128, into: Reading): number | string {
  const number = readNumber(text, at, end);
  const prefix = number & 0xff;
  if (number === 0 || prefix > longest) return numberFault(text, at, end, NO_PREFIX, longest === 32 ? ABOVE_32 : ABOVE_128);
  into.prefix = prefix;
  return at + (number >> 8);
}
