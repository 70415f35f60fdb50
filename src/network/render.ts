import type { CidrsV4, CidrsV6 } from './coalesce.ts';

/** Addresses and networks as text, written as bytes: no string is made for any of them. */

const DOT = 0x2e;
const COLON = 0x3a;
const encoder = new TextEncoder();

/** Text of small numbers: four bytes each, the last of them the length. */
function numberTable(size: number): Uint8Array {
  const table = new Uint8Array(4 * size);
  for (let value = 0; value < size; value++) {
    const text = encoder.encode(String(value));
    table.set(text, 4 * value);
    table[4 * value + 3] = text.length;
  }
  return table;
}

const DECIMAL = numberTable(256);
const HEX = encoder.encode('0123456789abcdef');

/** Longest texts, in bytes: `255.255.255.255` and eight groups of four digits, each with its prefix. */
export const MAX_V4_TEXT = 18;
export const MAX_V6_TEXT = 43;

/** Writes a number from 0 to 255; up to three bytes are touched. Returns the position after it. */
function writeDecimal(out: Uint8Array, at: number, value: number): number {
  const entry = 4 * value;
  out[at] = DECIMAL[entry];
  out[at + 1] = DECIMAL[entry + 1];
  out[at + 2] = DECIMAL[entry + 2];
  return at + DECIMAL[entry + 3];
}

/** Writes an IPv4 address at `out[at]`; up to two bytes after it are overwritten. Returns the position after it. */
export function writeV4(out: Uint8Array, at: number, address: number): number {
  let to = writeDecimal(out, at, address >>> 24);
  out[to] = DOT;
  to = writeDecimal(out, to + 1, (address >>> 16) & 0xff);
  out[to] = DOT;
  to = writeDecimal(out, to + 1, (address >>> 8) & 0xff);
  out[to] = DOT;
  return writeDecimal(out, to + 1, address & 0xff);
}

/** Writes a slash and a prefix length; up to two bytes after it are overwritten. Returns the position after it. */
export function writePrefix(out: Uint8Array, at: number, prefix: number): number {
  out[at] = 0x2f;
  return writeDecimal(out, at + 1, prefix);
}

/** The longest run of zero groups, the first of equals, for each set of zero groups: its first group × 16 + its length (RFC 5952, 4.2). */
const ZERO_RUNS = Uint8Array.from({ length: 256 }, (_, zeros) => {
  let best = 0;
  let length = 0;
  for (let group = 0; group < 8; group++) {
    length = (zeros >> group) & 1 ? length + 1 : 0;
    // A single group of zeros is never shortened.
    if (length > 1 && length > (best & 15)) best = (group - length + 1) * 16 + length;
  }
  return best;
});

const groups = new Uint16Array(8);

/** Writes the IPv6 address of four words at `words[from]`, in the form of RFC 5952. Returns the position after it. */
export function writeV6(out: Uint8Array, at: number, words: ArrayLike<number>, from: number): number {
  let zeros = 0;
  for (let i = 0; i < 8; i++) {
    groups[i] = i & 1 ? words[from + (i >> 1)] : words[from + (i >> 1)] >>> 16;
    if (groups[i] === 0) zeros |= 1 << i;
  }
  const run = ZERO_RUNS[zeros];
  const runStart = run >> 4;
  const runEnd = runStart + (run & 15);
  let to = at;
  for (let i = 0; i < 8; i++) {
    if (i === runStart && runEnd > runStart) {
      out[to++] = COLON;
      if (runEnd === 8) out[to++] = COLON;
      i = runEnd - 1;
      continue;
    }
    if (i > 0) out[to++] = COLON;
    const group = groups[i];
    if (group > 0xfff) out[to++] = HEX[group >> 12];
    if (group > 0xff) out[to++] = HEX[(group >> 8) & 15];
    if (group > 0xf) out[to++] = HEX[(group >> 4) & 15];
    out[to++] = HEX[group & 15];
  }
  return to;
}

/** What stands around and between the networks. */
export interface Layout {
  readonly separator: string;
  readonly head?: string;
  readonly tail?: string;
}

/** Head, then every network with its prefix length, IPv4 first, a separator between each two, then tail; UTF-8. */
export function renderCidrs(v4: CidrsV4 | null, v6: CidrsV6 | null, layout: Layout): Uint8Array<ArrayBuffer> {
  const [head, separator, tail] = [layout.head, layout.separator, layout.tail].map((text) => encoder.encode(text ?? ''));
  const [count4, count6] = [v4?.length ?? 0, v6?.length ?? 0];
  const room = head.length + count4 * (MAX_V4_TEXT + separator.length) + count6 * (MAX_V6_TEXT + separator.length) + tail.length;
  const out = new Uint8Array(room);
  out.set(head);
  let at = head.length;
  const first = at;
  if (v4 !== null) at = writeCidrsV4(out, at, v4, separator);
  if (v6 !== null) at = writeCidrsV6(out, at, v6, separator);
  if (at > first) at -= separator.length;
  out.set(tail, at);
  return out.slice(0, at + tail.length);
}

function writeCidrsV4(out: Uint8Array, from: number, { length, addresses, prefixes }: CidrsV4, separator: Uint8Array): number {
  let at = from;
  for (let i = 0; i < length; i++) {
    at = writePrefix(out, writeV4(out, at, addresses[i]), prefixes[i]);
    for (let k = 0; k < separator.length; k++) out[at++] = separator[k];
  }
  return at;
}

function writeCidrsV6(out: Uint8Array, from: number, { length, words, prefixes }: CidrsV6, separator: Uint8Array): number {
  let at = from;
  for (let i = 0; i < length; i++) {
    at = writePrefix(out, writeV6(out, at, words, 4 * i), prefixes[i]);
    for (let k = 0; k < separator.length; k++) out[at++] = separator[k];
  }
  return at;
}
