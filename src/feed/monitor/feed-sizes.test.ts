import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FeedSizes } from './feed-sizes.ts';

const FEED = { workspaceId: 'w', feedId: null };

test('D16.13 sizes are taken when they have changed, and once on each new day', () => {
  const sizes = new FeedSizes();
  sizes.note(FEED, 'both', 5, 1);
  sizes.note(FEED, 'v4', 3, 0);
  assert.deepEqual(sizes.take(7), [{ ...FEED, day: 7, v4: { last: 3, most: 5 }, v6: { last: 1, most: 1 } }]);
  assert.deepEqual(sizes.take(7), []);
  assert.deepEqual(sizes.take(8), [{ ...FEED, day: 8, v4: { last: 3, most: 3 }, v6: { last: 1, most: 1 } }]);
  sizes.note({ workspaceId: 'w', feedId: 'f' }, 'v6', 0, 2);
  assert.deepEqual(sizes.take(8), [{ workspaceId: 'w', feedId: 'f', day: 8, v4: null, v6: { last: 2, most: 2 } }]);
  sizes.forget(FEED);
  assert.deepEqual(
    sizes.take(9).map(({ feedId }) => feedId),
    ['f'],
  );
});
