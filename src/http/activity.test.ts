import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FeedDay } from '../ports/history.ts';
import { activityCounter } from './activity.ts';

const NONE = { accepted: 0, failed: 0, landed: 0, pulls: 0, notModified: 0 };

test('D18.11 activity is counted by the minute and workspace, for a day', async () => {
  let added = 40;
  const store = { feedDays: async () => [{ added, removed: 1 } as FeedDay] };
  const activity = activityCounter(() => 1_800_000_000_000);
  activity.entries('a', 10, 2);
  activity.poll('a', 304);
  activity.poll('a', 200);
  activity.poll('b', 200);
  assert.deepEqual(activity.of('a', 60), [{ accepted: 10, failed: 2, landed: 0, pulls: 2, notModified: 1 }]);
  await activity.turn(store);
  added += 10;
  await activity.turn(store);
  assert.deepEqual(activity.of('a', 60), [{ accepted: 10, failed: 2, landed: 0, pulls: 2, notModified: 1 }, NONE, { ...NONE, landed: 10 }]);
  assert.deepEqual(activity.of('a', 2), [NONE, { ...NONE, landed: 10 }]);
  assert.deepEqual(activity.of('c', 2), [NONE, NONE]);
  for (let minute = 0; minute < 1440; minute += 1) await activity.turn(store);
  assert.equal(activity.of('a', 1440).length, 1440);
  assert.ok(activity.of('a', 1440).every(({ accepted }) => accepted === 0));
});

test('D18.11 the landing of a store that is away counts for nothing, and comes later', async () => {
  let added = 5;
  let away = false;
  const store = {
    feedDays: async () => {
      if (away) throw new Error('away');
      return [{ added, removed: 0 } as FeedDay];
    },
  };
  const activity = activityCounter(() => 1_800_000_000_000);
  activity.entries('a', 1, 0);
  await activity.turn(store);
  away = true;
  added = 9;
  await activity.turn(store);
  away = false;
  await activity.turn(store);
  assert.equal(activity.of('a', 60).at(-1)!.landed, 4);
});
