import { type Reading, readAddress } from '../network/read.ts';

const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39;

/**
 * Reads the address that fills bytes [from, to): a text (RFC 4291) or a decimal number, which is IPv4 up to 4294967295. Returns
 * whether there is one.
 */
export function readAddressOrNumber(bytes: Uint8Array, from: number, to: number, into: Reading): boolean {
  let i = from;
  while (i < to && isDigit(bytes[i])) i++;
  return i === to ? readDecimal(bytes, from, to, into) : readAddress(bytes, from, to, into) === to;
}

/** 2^128 has 39 digits. */
const MAX_DIGITS = 39;

function readDecimal(bytes: Uint8Array, from: number, to: number, into: Reading): boolean {
  if (to === from || to - from > MAX_DIGITS) return false;
  const { words } = into;
  if (to - from <= 10) {
    let value = 0;
    for (let i = from; i < to; i++) value = value * 10 + bytes[i] - 0x30;
    if (value <= 0xffff_ffff) {
      words.fill(0);
      words[3] = value;
      into.family = 4;
      return true;
    }
  }
  let rest = BigInt(String.fromCharCode(...bytes.subarray(from, to)));
  for (let word = 3; word >= 0; word--) {
    words[word] = Number(rest & 0xffff_ffffn);
    rest >>= 32n;
  }
  into.family = 6;
  return rest === 0n;
}
