import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../test/support/random.ts';
import { sortPairs } from './radix.ts';

const random = seededRandom(5);
const KEYS: Record<string, (i: number) => number> = {
  'all 32 bits': () => random.bits(),
  'few keys, so that order among equals shows': () => random.below(7),
  'only the middle digit': () => random.below(2048) << 11,
  'only the highest digit': () => random.bits() & 0xffc0_0000,
  'in order': (i) => i,
  'in reverse': (i) => 0xffff_ffff - i,
  'one key': () => 0xffff_ffff,
};

for (const [name, key] of Object.entries(KEYS)) {
  test(`4.3.4 sorting pairs by key, stable: ${name}`, () => {
    for (const count of [0, 1, 2, 64, 65, 5000]) {
      const pairs = Uint32Array.from({ length: 2 * count }, (_, i) => (i % 2 === 0 ? key(i / 2) : (i - 1) / 2));
      const rows = Array.from({ length: count }, (_, i) => [pairs[2 * i], pairs[2 * i + 1]]);
      // Array.prototype.sort is stable.
      const expected = rows.sort((a, b) => a[0] - b[0]).flat();
      sortPairs(pairs, count);
      assert.deepEqual([...pairs], expected);
    }
  });
}

test('4.3.4 sorting leaves out what stands behind the pairs', () => {
  for (const count of [2, 200]) {
    const pairs = Uint32Array.from({ length: 2 * count + 2 }, (_, i) => 2 * count + 2 - i);
    sortPairs(pairs, count);
    assert.deepEqual([...pairs.subarray(2 * count)], [2, 1]);
    assert.deepEqual([...pairs.subarray(0, 2)], [4, 3]);
  }
});
