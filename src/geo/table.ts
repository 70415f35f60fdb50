import { createHash } from 'node:crypto';
import { addressWords, type Rows } from './rows.ts';

/**
 * Of one kind and both families in one SharedArrayBuffer of 32-bit words: three sections for IPv4, then three for IPv6 (see `FamilyTable`).
 */
export interface GeoTable {
  /** SHA-256 of the content, shortened. */
  readonly version: string;
  readonly words: SharedArrayBuffer;
  /** In words. */
  readonly lengths: readonly number[];
}

export interface FamilyTable {
  /** Keys with ranges, ascending. */
  readonly keys: Uint32Array;
  /** First range of each key, then the number of ranges. */
  readonly offsets: Uint32Array;
  /** First and last address, sorted by key and then by address. */
  readonly ranges: Uint32Array;
}

export function familyTables(table: GeoTable): { readonly v4: FamilyTable; readonly v6: FamilyTable } {
  let at = 0;
  const sections = table.lengths.map((length) => {
    const section = new Uint32Array(table.words, at, length);
    at += length * Uint32Array.BYTES_PER_ELEMENT;
    return section;
  });
  const [keys4, offsets4, ranges4, keys6, offsets6, ranges6] = sections;
  return { v4: { keys: keys4, offsets: offsets4, ranges: ranges4 }, v6: { keys: keys6, offsets: offsets6, ranges: ranges6 } };
}

/** Rows sharing addresses with an earlier row, and the first such pair: earlier, later. */
export interface Overlaps {
  readonly rows: Rows;
  readonly count: number;
  readonly first: readonly [number, number] | undefined;
}

/**
 * Merges overlapping and adjacent ranges of a key. An address in rows of two keys belongs to both; `overlaps` counts such rows for each
 * family.
 */
export function buildTable(families: readonly [v4: Rows, v6: Rows]): { readonly table: GeoTable; readonly overlaps: Overlaps[] } {
  const orders = families.map(orderByAddress);
  const overlaps = families.map((rows, i) => findOverlaps(rows, orders[i]));
  const sections = families.flatMap((rows, i) => groupByKey(rows, orderByKey(rows, orders[i])));
  const lengths = sections.map((section) => section.length);
  const words = new SharedArrayBuffer(Uint32Array.BYTES_PER_ELEMENT * lengths.reduce((sum, length) => sum + length, 0));
  const all = new Uint32Array(words);
  let at = 0;
  for (const section of sections) {
    all.set(section, at);
    at += section.length;
  }
  const version = createHash('sha256').update(JSON.stringify(lengths)).update(all).digest('hex').slice(0, 32);
  return { table: { version, words, lengths }, overlaps };
}

function compareWords(a: Uint32Array, i: number, b: Uint32Array, j: number, width: number): number {
  for (let word = 0; word < width; word++) {
    if (a[i + word] !== b[j + word]) return a[i + word] < b[j + word] ? -1 : 1;
  }
  return 0;
}

/** By first address; most sources are sorted already. */
function orderByAddress(rows: Rows): Uint32Array<ArrayBuffer> {
  const width = addressWords(rows.family);
  const compare = (a: number, b: number) => compareWords(rows.words, a * 2 * width, rows.words, b * 2 * width, width);
  const order = new Uint32Array(rows.count);
  let sorted = true;
  for (let i = 0; i < order.length; i++) {
    order[i] = i;
    if (sorted && i > 0) sorted = compare(i - 1, i) <= 0;
  }
  return sorted ? order : order.sort(compare);
}

/** `order` is by first address. */
function findOverlaps(rows: Rows, order: Uint32Array): Overlaps {
  const width = addressWords(rows.family);
  const end = (row: number) => row * 2 * width + width;
  let furthest = order[0];
  let count = 0;
  let first: Overlaps['first'];
  for (let i = 1; i < order.length; i++) {
    const row = order[i];
    if (compareWords(rows.words, row * 2 * width, rows.words, end(furthest), width) <= 0) {
      count++;
      first ??= [furthest, row];
    }
    if (compareWords(rows.words, end(row), rows.words, end(furthest), width) > 0) furthest = row;
  }
  return { rows, count, first };
}

const DIGIT_BITS = 11;
const DIGITS = 2 ** DIGIT_BITS;

/** Stable: a radix sort, least significant digit first. */
function orderByKey(rows: Rows, order: Uint32Array<ArrayBuffer>): Uint32Array {
  let from = order;
  let to = new Uint32Array(order.length);
  for (let shift = 0; shift < 32; shift += DIGIT_BITS) {
    const starts = new Uint32Array(DIGITS + 1);
    for (let i = 0; i < rows.count; i++) starts[((rows.keys[i] >>> shift) & (DIGITS - 1)) + 1]++;
    if (starts.includes(rows.count)) continue;
    for (let digit = 1; digit < DIGITS; digit++) starts[digit] += starts[digit - 1];
    for (const row of from) to[starts[(rows.keys[row] >>> shift) & (DIGITS - 1)]++] = row;
    [from, to] = [to, from];
  }
  return from;
}

/** Whether the address at `b[next]` directly follows the address at `a[last]`. */
function follows(a: Uint32Array, last: number, b: Uint32Array, next: number, width: number): boolean {
  let carry = 1;
  for (let word = width - 1; word >= 0; word--) {
    const sum = a[last + word] + carry;
    if (sum >>> 0 !== b[next + word]) return false;
    carry = sum > 0xffff_ffff ? 1 : 0;
  }
  return carry === 0;
}

/** `order` is by key and then by address. */
function groupByKey(rows: Rows, order: Uint32Array): [Uint32Array, Uint32Array, Uint32Array] {
  const width = addressWords(rows.family);
  const keys = new Uint32Array(rows.count);
  const offsets = new Uint32Array(rows.count + 1);
  const ranges = new Uint32Array(rows.count * 2 * width);
  let keyCount = 0;
  let rangeCount = 0;
  for (const row of order) {
    const start = row * 2 * width;
    const end = start + width;
    const previousEnd = (rangeCount - 1) * 2 * width + width;
    const isNewKey = keyCount === 0 || keys[keyCount - 1] !== rows.keys[row];
    if (isNewKey) {
      keys[keyCount] = rows.keys[row];
      offsets[keyCount++] = rangeCount;
    }
    const joins =
      !isNewKey &&
      (compareWords(rows.words, start, ranges, previousEnd, width) <= 0 || follows(ranges, previousEnd, rows.words, start, width));
    if (!joins) {
      for (let word = 0; word < 2 * width; word++) ranges[rangeCount * 2 * width + word] = rows.words[start + word];
      rangeCount++;
    } else if (compareWords(rows.words, end, ranges, previousEnd, width) > 0) {
      for (let word = 0; word < width; word++) ranges[previousEnd + word] = rows.words[end + word];
    }
  }
  offsets[keyCount] = rangeCount;
  return [keys.subarray(0, keyCount), offsets.subarray(0, keyCount + 1), ranges.subarray(0, rangeCount * 2 * width)];
}
