import type { CidrsV4, CidrsV6 } from './coalesce.ts';
import { newScratch } from './scratch.ts';

/**
 * Addresses and networks as text, written into bytes: no string is made for any of them. The writers store four bytes at a time,
 * little end first, so that up to `SLACK` bytes after what they wrote must exist and are overwritten.
 */

/** Longest texts, in bytes: `255.255.255.255/32`, and eight groups of four digits with `/128`. */
export const MAX_V4_TEXT = 18;
export const MAX_V6_TEXT = 43;
export const SLACK = 4;

const COLON = 0x3a;
const encoder = new TextEncoder();

/** Up to four characters as the word that stores them. */
const textWord = (text: string) => encoder.encode(text).reduceRight((word, byte) => (word << 8) | byte, 0);

/** Octets with a dot after them, prefix lengths with a slash before them. */
const OCTETS = Uint32Array.from({ length: 256 }, (_, octet) => textWord(`${octet}.`));
const PREFIXES = Uint32Array.from({ length: 129 }, (_, prefix) => textWord(`/${prefix}`));
/** One digit or two or three, and the dot or slash. */
const LENGTHS = Uint8Array.from({ length: 256 }, (_, number) => `${number}.`.length);
const HEX = Uint16Array.from({ length: 256 }, (_, value) => textWord(value.toString(16).padStart(2, '0')));

/** Writes an IPv4 address. Returns the position after it. */
export function writeV4(out: DataView, at: number, address: number): number {
  let to = at;
  for (let shift = 24; shift >= 0; shift -= 8) {
    const octet = (address >>> shift) & 0xff;
    out.setUint32(to, OCTETS[octet], true);
    to += LENGTHS[octet];
  }
  return to - 1;
}

/** Writes a slash and a prefix length. Returns the position after it. */
function writePrefix(out: DataView, at: number, prefix: number): number {
  out.setUint32(at, PREFIXES[prefix], true);
  return at + LENGTHS[prefix];
}

/** No run of zero groups; also a run's end when it reaches the last group. */
const END = 8;

/**
 * For each set of zero groups, which of them `::` stands for: the longest run, the first of equals, as its first group × 16 + the
 * group after it (RFC 5952, 4.2). A single group of zeros is never shortened.
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

/** Writes the IPv6 address whose four words begin at `words[from]`, in the form of RFC 5952. Returns the position after it. */
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

/** Writes groups [first, end), each with a colon after it. */
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

/** What stands around and between the networks. */
interface Layout {
  readonly separator: string;
  readonly head?: string;
  readonly tail?: string;
}

const scratch = newScratch();

/** Head, then every network with its prefix length, IPv4 first, a separator between each two, then tail; UTF-8. */
export function renderCidrs(v4: CidrsV4 | null, v6: CidrsV6 | null, layout: Layout): Uint8Array<ArrayBuffer> {
  const [head, separator, tail] = [layout.head, layout.separator, layout.tail].map((text) => encoder.encode(text));
  const [count4, count6] = [v4?.length ?? 0, v6?.length ?? 0];
  const room = count4 * (MAX_V4_TEXT + separator.length) + count6 * (MAX_V6_TEXT + separator.length) + SLACK;
  const out = new Uint8Array(scratch(head.length + room + tail.length));
  out.set(head);
  const first = head.length;
  let at = first;
  if (v4 !== null) at = writeCidrsV4(out, at, v4, separator);
  if (v6 !== null) at = writeCidrsV6(out, at, v6, separator);
  if (at > first) at -= separator.length;
  out.set(tail, at);
  return out.slice(0, at + tail.length);
}

function writeCidrsV4(out: Uint8Array, from: number, { length, addresses, prefixes }: CidrsV4, separator: Uint8Array): number {
  const view = new DataView(out.buffer, out.byteOffset, out.byteLength);
  let at = from;
  for (let i = 0; i < length; i++) {
    at = writePrefix(view, writeV4(view, at, addresses[i]), prefixes[i]);
    for (let k = 0; k < separator.length; k++) out[at++] = separator[k];
  }
  return at;
}

function writeCidrsV6(out: Uint8Array, from: number, { length, words, prefixes }: CidrsV6, separator: Uint8Array): number {
  const view = new DataView(out.buffer, out.byteOffset, out.byteLength);
  let at = from;
  for (let i = 0; i < length; i++) {
    at = writePrefix(view, writeV6(view, at, words, 4 * i), prefixes[i]);
    for (let k = 0; k < separator.length; k++) out[at++] = separator[k];
  }
  return at;
}
