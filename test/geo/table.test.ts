import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addRow, emptyRows } from '../../src/geo/rows.ts';
import { buildTable, type FamilyTable, familyTables } from '../../src/geo/table.ts';

/** Places where carries and 32-bit borders are: small numbers are laid out from here on. */
const ORIGINS = {
  4: [0n, 0x7fff_ffe0n, 0xffff_ffc0n],
  6: [0n, (1n << 32n) - 32n, (1n << 64n) - 32n, (1n << 96n) - 32n, (1n << 128n) - 64n],
} as const;
const SPAN = 64;

interface Row {
  readonly start: number;
  readonly length: number;
  readonly key: number;
}
const row = fc.record({
  start: fc.nat(SPAN - 1),
  length: fc.nat(5),
  key: fc.constantFrom(1, 2, 2047, 2048, 4_199_999_999, 0xffff_ffff),
});

const wordsOf = (value: bigint) => Uint32Array.from({ length: 4 }, (_, i) => Number((value >> BigInt(32 * (3 - i))) & 0xffff_ffffn));
const numberOf = (words: Uint32Array) => words.reduce((value, word) => (value << 32n) | BigInt(word), 0n);
const last = ({ start, length }: Row) => Math.min(SPAN - 1, start + length);

/** Row by row, address by address: which addresses each key has. */
function reference(rows: readonly Row[]): Map<number, Set<number>> {
  const byKey = new Map<number, Set<number>>();
  for (const item of rows) {
    const addresses = byKey.get(item.key) ?? new Set();
    for (let address = item.start; address <= last(item); address++) addresses.add(address);
    byKey.set(item.key, addresses);
  }
  return byKey;
}

/** The same out of a table; asserts on the way that ranges are sorted and neither overlap nor touch. */
function contents({ keys, offsets, ranges }: FamilyTable, width: number, origin: bigint): Map<number, Set<number>> {
  const byKey = new Map<number, Set<number>>();
  assert.deepEqual(
    [...keys],
    [...new Set(keys)].sort((a, b) => a - b),
  );
  keys.forEach((key, i) => {
    const addresses = new Set<number>();
    let previous: bigint | undefined;
    for (let at = offsets[i] * 2 * width; at < offsets[i + 1] * 2 * width; at += 2 * width) {
      const start = numberOf(ranges.subarray(at, at + width));
      const end = numberOf(ranges.subarray(at + width, at + 2 * width));
      assert.ok(start <= end && (previous === undefined || start > previous + 1n));
      previous = end;
      for (let address = start; address <= end; address++) addresses.add(Number(address - origin));
    }
    byKey.set(key, addresses);
  });
  return byKey;
}

/** Rows that share an address with a row before them in address order. */
function overlapCount(rows: readonly Row[]): number {
  let end = -1;
  let count = 0;
  for (const item of rows.toSorted((a, b) => a.start - b.start)) {
    if (item.start <= end) count++;
    end = Math.max(end, last(item));
  }
  return count;
}

for (const family of [4, 6] as const) {
  test(`2.1 asn, country: IPv${family} rows are grouped by key, merged and sorted, over every border`, () => {
    const width = family === 4 ? 1 : 4;
    fc.assert(
      fc.property(fc.array(row, { maxLength: 24 }), fc.constantFrom(...ORIGINS[family]), (items, origin) => {
        const rows = emptyRows(family);
        for (const item of items) {
          addRow(rows, wordsOf(origin + BigInt(item.start)), wordsOf(origin + BigInt(last(item))), item.key, 0, 1);
        }
        const other = emptyRows(family === 4 ? 6 : 4);
        const { table, overlaps } = buildTable(family === 4 ? [rows, other] : [other, rows]);
        const { v4, v6 } = familyTables(table);
        const contained = contents(family === 4 ? v4 : v6, width, origin);
        assert.deepEqual(contained, new Map([...reference(items)].sort(([a], [b]) => a - b)));
        assert.equal(
          overlaps.reduce((sum, { count }) => sum + count, 0),
          overlapCount(items),
        );
      }),
      { seed: 20261120, numRuns: 1500 },
    );
  });
}

test('D5 the geo version is that of the content: order of rows and cutting into rows do not change it', () => {
  const build = (items: readonly [number, number, number][]) => {
    const rows = emptyRows(4);
    for (const [start, end, key] of items) addRow(rows, wordsOf(BigInt(start)), wordsOf(BigInt(end)), key, 0, 1);
    return buildTable([rows, emptyRows(6)]).table.version;
  };
  const version = build([
    [0, 7, 1],
    [8, 9, 2],
  ]);
  assert.equal(
    build([
      [8, 9, 2],
      [4, 7, 1],
      [0, 3, 1],
    ]),
    version,
  );
  assert.notEqual(
    build([
      [0, 7, 1],
      [8, 10, 2],
    ]),
    version,
  );
  assert.notEqual(
    build([
      [0, 7, 2],
      [8, 9, 1],
    ]),
    version,
  );
});

test('2.1 asn, country: more rows than the first capacity', () => {
  const rows = emptyRows(6);
  for (let i = 0; i < 10_000; i++) addRow(rows, new Uint32Array([i, 0, 0, 1]), new Uint32Array([i, 0, 0, 2]), i % 7, i % 3, i + 1);
  const { table } = buildTable([emptyRows(4), rows]);
  const { v6 } = familyTables(table);
  assert.equal(v6.ranges.length, 80_000);
  assert.deepEqual([...v6.offsets], [0, 1429, 2858, 4287, 5716, 7144, 8572, 10_000]);
  assert.deepEqual([rows.lines[9_999], rows.files[9_998], rows.keys[9_999]], [10_000, 2, 3]);
});
