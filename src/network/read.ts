import { firstAddressV4, maskHostBits } from './bounds.ts';
import { ABOVE_32, ABOVE_128, NO_PREFIX } from './faults.ts';
import { readGroups, startsLikeV6 } from './groups.ts';
import { numberFault, readNumber, readOctets } from './octets.ts';

const SLASH = 0x2f;

/** A network as a reader leaves it: four words, most significant first; an IPv4 address is in the last of them. */
interface Reading {
  family: 4 | 6;
  prefix: number;
  readonly words: Uint32Array;
}

/** A place to read networks into. */
export function newReading(): Reading {
  return { family: 4, prefix: 0, words: new Uint32Array(4) };
}

/**
 * Reads the network that begins at `bytes[at]` into `into`, by the rules of `parseNetwork`. Returns the position after it, which
 * the caller must find to be the end of its text, or what is wrong, in words.
 */
export function readNetwork(bytes: Uint8Array, at: number, end: number, into: Reading): number | string {
  const result = readV4(bytes, at, end, into);
  return typeof result === 'string' && startsLikeV6(bytes, at, end) ? readV6(bytes, at, end, into) : result;
}

function readV4(bytes: Uint8Array, at: number, end: number, into: Reading): number | string {
  const next = readOctets(bytes, at, end, into.words);
  if (typeof next === 'string') return next;
  into.family = 4;
  into.prefix = 32;
  if (next >= end || bytes[next] !== SLASH) return next;
  const last = readPrefix(bytes, next + 1, end, 32, into);
  if (typeof last === 'string') return last;
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
    last = readPrefix(bytes, next + 1, end, 128, into);
    if (typeof last === 'string') return last;
    maskHostBits(words, 0, into.prefix);
  }
  if (into.prefix >= 96 && words[0] === 0 && words[1] === 0 && words[2] === 0xffff) {
    into.family = 4;
    into.prefix -= 96;
  }
  return last;
}

/** Reads a prefix length up to `longest`. Returns the position after it, or what is wrong, in words. */
function readPrefix(bytes: Uint8Array, at: number, end: number, longest: 32 | 128, into: Reading): number | string {
  const number = readNumber(bytes, at, end);
  const prefix = number & 0xff;
  if (number === 0 || prefix > longest) return numberFault(bytes, at, end, NO_PREFIX, longest === 32 ? ABOVE_32 : ABOVE_128);
  into.prefix = prefix;
  return at + (number >> 8);
}
