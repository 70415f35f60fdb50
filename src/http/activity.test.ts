import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_ACTIVITY, type NotedActivity } from '../ports/activity.ts';
import { activityCounter } from './activity.ts';

test('D18.11 activity is counted until it is written; while the store is away it is kept', async () => {
  const noted: NotedActivity[] = [];
  let isAway = true;
  const store = {
    async noteActivity(counts: readonly NotedActivity[]) {
      if (isAway) throw new Error('away');
      noted.push(...counts);
    },
  };
  const activity = activityCounter(() => 1_800_000_000_000);
  activity.entries('a', 10, 2);
  activity.poll('a', 304);
  activity.poll('a', 200);
  const counts = { ...NO_ACTIVITY, accepted: 10, failed: 2, pulls: 2, notModified: 1 };
  assert.deepEqual([activity.of('a'), activity.of('b')], [counts, NO_ACTIVITY]);
  await activity.turn(store);
  activity.poll('a', 200);
  assert.deepEqual([noted, activity.of('a').pulls], [[], 3]);
  isAway = false;
  await activity.turn(store);
  await activity.turn(store);
  assert.deepEqual(noted, [{ ...counts, pulls: 3, workspaceId: 'a', minute: 30_000_000 }]);
  assert.deepEqual(activity.of('a'), NO_ACTIVITY);
});
