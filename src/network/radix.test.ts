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
      assert.deepEqual([...sortPairs(pairs, count).subarray(0, 2 * count)], expected);
    }
  });
}

test('4.3.4 sorting leaves out what stands behind the pairs', () => {
  const pairs = Uint32Array.of(3, 0, 1, 1, 0, 9);
  assert.deepEqual([...sortPairs(pairs, 2).subarray(0, 4)], [1, 1, 3, 0]);
});
