import { type Reading, readAddress } from '@weir/network/read.ts';

const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39;

/** Bytes [from, to): text (RFC 4291) or a decimal number, which is IPv4 up to 4294967295. False if neither. */
export function readAddressOrNumber(text: DataView, from: number, to: number, into: Reading): boolean {
  let i = from;
  while (i < to && isDigit(text.getUint8(i))) i++;
  return i === to ? readDecimal(text, from, to, into) : readAddress(text, from, to, into) === to;
}

/** 2^128 has 39 digits. */
const MAX_DIGITS = 39;

function readDecimal(text: DataView, from: number, to: number, into: Reading): boolean {
  if (to === from || to - from > MAX_DIGITS) return false;
  const { words } = into;
  if (to - from <= 10) {
    let value = 0;
    for (let i = from; i < to; i++) value = value * 10 + text.getUint8(i) - 0x30;
    if (value <= 0xffff_ffff) {
      words.fill(0);
      words[3] = value;
      into.family = 4;
      return true;
    }
  }
  let rest = BigInt(String.fromCharCode(...new Uint8Array(text.buffer, text.byteOffset + from, to - from)));
  for (let word = 3; word >= 0; word--) {
    words[word] = Number(rest & 0xffff_ffffn);
    rest >>= 32n;
  }
  into.family = 6;
  return rest === 0n;
}
