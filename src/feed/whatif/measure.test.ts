import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../clock.ts';
import { feedMeasurer } from './measure.ts';

test('D36.2 a workspace that has many feeds measured is refused the ninth, and no other workspace is', async () => {
  let go: () => void = () => {};
  const hanging = new Promise<undefined>((resolve) => (go = () => resolve(undefined)));
  const { measure } = feedMeasurer({
    store: { snapshot: () => hanging },
    geo: () => assert.fail('nothing is read'),
    guard: () => assert.fail('nothing is read'),
    shares: async () => undefined,
    clock: systemClock,
  });
  const asked = Array.from({ length: 8 }, () => measure({ workspaceId: 'full', feed: null }));
  await assert.rejects(measure({ workspaceId: 'full', feed: null }), { code: 'LIMITED' });
  const other = measure({ workspaceId: 'other', feed: null });
  go();
  assert.deepEqual(await Promise.all([...asked, other]), Array(9).fill(undefined));
});
