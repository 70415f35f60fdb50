import type { CidrsV4, CidrsV6 } from './coalesce.ts';
import { newScratch } from './scratch.ts';

/**
 * Writes addresses and networks as text into bytes, without intermediate strings. The writers store four bytes at a time, little-endian,
 * and may overwrite up to `SLACK` bytes after their text: these must exist.
 */

/** The longest IPv4 text in bytes: `255.255.255.255/32`. */
export const MAX_V4_TEXT = 18;
/** The longest IPv6 text in bytes: eight groups of four digits and `/128`. */
export const MAX_V6_TEXT = 43;
/** Bytes that must exist after a text. */
export const SLACK = 4;

const COLON = 0x3a;
const encoder = new TextEncoder();

/** Up to four characters as one little-endian word. */
const textWord = (text: string) => encoder.encode(text).reduceRight((word, byte) => (word << 8) | byte, 0);

/** As words: octets, followed by a dot, and prefix lengths, after a slash. */
const OCTETS = Uint32Array.from({ length: 256 }, (_, octet) => textWord(`${octet}.`));
const PREFIXES = Uint32Array.from({ length: 129 }, (_, prefix) => textWord(`/${prefix}`));
/** Characters of each number with its dot or slash. */
const LENGTHS = Uint8Array.from({ length: 256 }, (_, number) => `${number}.`.length);
/** Two hexadecimal digits for each byte. */
const HEX = Uint16Array.from({ length: 256 }, (_, value) => textWord(value.toString(16).padStart(2, '0')));

/** Returns the position after the address. */
export function writeV4(out: DataView, at: number, address: number): number {
  let to = at;
  for (let shift = 24; shift >= 0; shift -= 8) {
    const octet = (address >>> shift) & 0xff;
    out.setUint32(to, OCTETS[octet], true);
    to += LENGTHS[octet];
  }
  return to - 1;
}

/** Returns the position after the prefix. */
function writePrefix(out: DataView, at: number, prefix: number): number {
  out.setUint32(at, PREFIXES[prefix], true);
  return at + LENGTHS[prefix];
}

/** The index after the last group. As the start of a run it means no run. */
const END = 8;

/**
 * The run of zero groups written as `::`, for each set of zero groups (RFC 5952, 4.2): the longest one, or the first of the longest, as its
 * first group × 16 + the group after it. A single group of zeros is not shortened.
 */
const ZERO_RUNS = Uint8Array.from({ length: 256 }, (_, zeros) => {
  let best = END * 16 + END;
  let longest = 1;
  for (let first = 0; first < END; first++) {
    let end = first;
    while (end < END && (zeros >> end) & 1) end++;
    if (end - first <= longest) continue;
    longest = end - first;
    best = first * 16 + end;
  }
  return best;
});

/** Writes the address at `words[from]` (four words) in the form of RFC 5952. Returns the position after it. */
export function writeV6(out: DataView, at: number, words: ArrayLike<number>, from: number): number {
  let zeros = 0;
  for (let group = 0; group < END; group++) {
    if (groupOf(words, from, group) === 0) zeros |= 1 << group;
  }
  const run = ZERO_RUNS[zeros];
  const [first, end] = [run >> 4, run & 15];
  let to = writeGroups(out, at, words, from, 0, first);
  if (first === END) return to - 1;
  if (first === 0) out.setUint8(to++, COLON);
  out.setUint8(to++, COLON);
  return end === END ? to : writeGroups(out, to, words, from, end, END) - 1;
}

function groupOf(words: ArrayLike<number>, from: number, group: number): number {
  const word = words[from + (group >> 1)];
  return group & 1 ? word & 0xffff : word >>> 16;
}

/** Writes groups [first, end), each followed by a colon. Returns the position after them. */
function writeGroups(out: DataView, at: number, words: ArrayLike<number>, from: number, first: number, end: number): number {
  let to = at;
  for (let i = first; i < end; i++) {
    const group = groupOf(words, from, i);
    const leadingZeros = group === 0 ? 3 : (Math.clz32(group) - 16) >> 2;
    out.setUint32(to, ((HEX[group & 0xff] << 16) | HEX[group >> 8]) >>> (8 * leadingZeros), true);
    to += 4 - leadingZeros;
    out.setUint8(to++, COLON);
  }
  return to;
}

interface Layout {
  readonly separator: string;
  readonly head?: string;
  readonly tail?: string;
}

const scratch = newScratch();

/** UTF-8, with prefix lengths, IPv4 first. */
export function renderCidrs(v4: CidrsV4 | null, v6: CidrsV6 | null, layout: Layout): Uint8Array<ArrayBuffer> {
  const [head, separator, tail] = [layout.head, layout.separator, layout.tail].map((text) => encoder.encode(text));
  const [count4, count6] = [v4?.length ?? 0, v6?.length ?? 0];
  const capacity = count4 * (MAX_V4_TEXT + separator.length) + count6 * (MAX_V6_TEXT + separator.length) + SLACK;
  const out = new Uint8Array(scratch(head.length + capacity + tail.length));
  out.set(head);
  const first = head.length;
  let at = first;
  if (v4 !== null) at = writeCidrsV4(out, at, v4, 0, count4, separator, false);
  if (v6 !== null) at = writeCidrsV6(out, at, v6, 0, count6, separator, false);
  if (at > first) at -= separator.length;
  out.set(tail, at);
  return out.slice(0, at + tail.length);
}

/** Networks [from, to), each followed by the separator; without prefix lengths if `bare`. */
export function renderV4(networks: CidrsV4, from: number, to: number, separator: Uint8Array, bare = false): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(scratch((to - from) * (MAX_V4_TEXT + separator.length) + SLACK));
  return out.slice(0, writeCidrsV4(out, 0, networks, from, to, separator, bare));
}

/** See `renderV4`. */
export function renderV6(networks: CidrsV6, from: number, to: number, separator: Uint8Array, bare = false): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(scratch((to - from) * (MAX_V6_TEXT + separator.length) + SLACK));
  return out.slice(0, writeCidrsV6(out, 0, networks, from, to, separator, bare));
}

function writeCidrsV4(
  out: Uint8Array,
  start: number,
  networks: CidrsV4,
  from: number,
  to: number,
  separator: Uint8Array,
  bare: boolean,
): number {
  const view = new DataView(out.buffer, out.byteOffset, out.byteLength);
  const { addresses, prefixes } = networks;
  let at = start;
  for (let i = from; i < to; i++) {
    at = writeV4(view, at, addresses[i]);
    if (!bare) at = writePrefix(view, at, prefixes[i]);
    for (let k = 0; k < separator.length; k++) out[at++] = separator[k];
  }
  return at;
}

function writeCidrsV6(
  out: Uint8Array,
  start: number,
  networks: CidrsV6,
  from: number,
  to: number,
  separator: Uint8Array,
  bare: boolean,
): number {
  const view = new DataView(out.buffer, out.byteOffset, out.byteLength);
  const { words, prefixes } = networks;
  let at = start;
  for (let i = from; i < to; i++) {
    at = writeV6(view, at, words, 4 * i);
    if (!bare) at = writePrefix(view, at, prefixes[i]);
    for (let k = 0; k < separator.length; k++) out[at++] = separator[k];
  }
  return at;
}
