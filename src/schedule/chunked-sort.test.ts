import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../test/support/random.ts';
import { chunkedSort } from './chunked-sort.ts';

test('D33.5 what is sorted piece by piece is in the order of toSorted, and others get on behind each piece', async () => {
  const random = seededRandom(33);
  for (const length of [0, 1, 1999, 2000, 2001, 9001]) {
    const items = Array.from({ length }, (_, n) => ({ n, key: random.below(50) }));
    const compare = (a: { key: number }, b: { key: number }) => a.key - b.key;
    let pauses = 0;
    const sorted = await chunkedSort(items, compare, async () => {
      pauses += 1;
    });
    assert.deepEqual(sorted, items.toSorted(compare));
    assert.ok(pauses >= Math.ceil(length / 2000), `${pauses} pauses for ${length} items`);
  }
});
