/**
 * Addresses read from the bytes of a file, because loading a million rows as strings takes several times as long.
 * Text forms are those of RFC 4291; plain decimal numbers are read too.
 */

const DOT = 0x2e;
const COLON = 0x3a;

/** Words of one address: IPv4 one, IPv6 four. */
export const addressWords = (family: 4 | 6): 1 | 4 => (family === 4 ? 1 : 4);

const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39;

/** The value of a hexadecimal digit; -1 for anything else. */
function hexValue(byte: number): number {
  if (isDigit(byte)) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/**
 * Reads the address in bytes [from, to) and writes its words, most significant first, at `out[at]`.
 * A decimal number up to 4294967295 counts as IPv4. Returns the family; 0 when it is no address.
 */
export function parseAddress(bytes: Uint8Array, from: number, to: number, out: Uint32Array, at: number): 4 | 6 | 0 {
  let i = from;
  while (i < to && isDigit(bytes[i])) i++;
  if (i === to) return parseNumber(bytes, from, to, out, at);
  return bytes[i] === DOT ? parseV4(bytes, from, to, out, at) : parseV6(bytes, from, to, out, at);
}

function parseV4(bytes: Uint8Array, from: number, to: number, out: Uint32Array, at: number): 4 | 0 {
  let address = 0;
  let octet = 0;
  let digits = 0;
  let dots = 0;
  for (let i = from; i < to; i++) {
    const byte = bytes[i];
    if (isDigit(byte)) {
      // A leading zero is octal to some and decimal to others.
      if (digits > 0 && octet === 0) return 0;
      octet = octet * 10 + byte - 0x30;
      digits++;
      if (octet > 255) return 0;
    } else if (byte === DOT && digits > 0 && dots < 3) {
      address = address * 256 + octet;
      octet = 0;
      digits = 0;
      dots++;
    } else return 0;
  }
  if (dots !== 3 || digits === 0) return 0;
  out[at] = address * 256 + octet;
  return 4;
}

const groups = new Uint16Array(8);
const tail = new Uint32Array(1);

function parseV6(bytes: Uint8Array, from: number, to: number, out: Uint32Array, at: number): 6 | 0 {
  let count = 0;
  let gap = -1;
  let i = from;
  if (to - from >= 2 && bytes[from] === COLON && bytes[from + 1] === COLON) {
    gap = 0;
    i += 2;
  }
  while (i < to) {
    const start = i;
    let group = 0;
    for (let digit = i < to ? hexValue(bytes[i]) : -1; digit >= 0; digit = i < to ? hexValue(bytes[i]) : -1) {
      group = group * 16 + digit;
      i++;
      if (i - start > 4) return 0;
    }
    if (i < to && bytes[i] === DOT) {
      if (count > 6 || parseV4(bytes, start, to, tail, 0) === 0) return 0;
      groups[count++] = tail[0] >>> 16;
      groups[count++] = tail[0] & 0xffff;
      i = to;
      break;
    }
    if (i === start || count === 8) return 0;
    groups[count++] = group;
    if (i === to) break;
    if (bytes[i++] !== COLON || i === to) return 0;
    if (bytes[i] === COLON) {
      if (gap >= 0) return 0;
      gap = count;
      i++;
    }
  }
  if (gap < 0 ? count !== 8 : count > 7) return 0;
  if (gap >= 0) {
    groups.copyWithin(8 - (count - gap), gap, count);
    groups.fill(0, gap, 8 - (count - gap));
  }
  for (let word = 0; word < 4; word++) out[at + word] = groups[2 * word] * 0x10000 + groups[2 * word + 1];
  return 6;
}

const MAX_V6_DIGITS = 39;

function parseNumber(bytes: Uint8Array, from: number, to: number, out: Uint32Array, at: number): 4 | 6 | 0 {
  if (to === from || to - from > MAX_V6_DIGITS) return 0;
  if (to - from <= 10) {
    let value = 0;
    for (let i = from; i < to; i++) value = value * 10 + bytes[i] - 0x30;
    if (value <= 0xffff_ffff) {
      out[at] = value;
      return 4;
    }
  }
  let rest = BigInt(String.fromCharCode(...bytes.subarray(from, to)));
  if (rest >> 128n !== 0n) return 0;
  for (let word = 3; word >= 0; word--) {
    out[at + word] = Number(rest & 0xffff_ffffn);
    rest >>= 32n;
  }
  return 6;
}

/** Clears the host bits of the address at `words[first]` and writes the network's last address at `words[last]`. */
export function expandPrefix(words: Uint32Array, first: number, last: number, family: 4 | 6, prefix: number): void {
  for (let word = 0; word < addressWords(family); word++) {
    const hostBits = Math.min(32, Math.max(0, 32 * (word + 1) - prefix));
    const mask = hostBits === 32 ? 0xffff_ffff : 2 ** hostBits - 1;
    words[first + word] &= ~mask;
    words[last + word] = words[first + word] | mask;
  }
}
