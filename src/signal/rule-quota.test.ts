import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ruleQuota } from './rule-quota.ts';

test('D3.29 the number of rules is asked for once in five seconds for each workspace; a store that is away has room', async () => {
  const counts: Record<string, number> = { full: 10, free: 9 };
  const world = { now: 0, asked: 0 };
  const store = {
    async ruleCount(workspaceId: string) {
      world.asked += 1;
      if (workspaceId === 'away') throw new Error('away');
      return counts[workspaceId];
    },
  };
  const quota = ruleQuota(10, store, () => world.now);
  assert.match((await quota('full'))!, /^the workspace has reached its limit of 10 rules/);
  assert.deepEqual(await Promise.all(['free', 'free', 'away'].map(quota)), [undefined, undefined, undefined]);
  assert.equal(world.asked, 3);
  counts.full = 9;
  world.now = 4999;
  assert.notEqual(await quota('full'), undefined);
  world.now = 5000;
  assert.equal(await quota('full'), undefined);
  assert.equal(world.asked, 4);
  assert.equal(await ruleQuota(0, store, () => 0)('full'), undefined);
  assert.equal(world.asked, 4);
});

test('D34.2 a store that hangs holds signals up for a second, and there is room', async () => {
  const quota = ruleQuota(10, { ruleCount: () => new Promise(() => {}) }, () => 0);
  assert.equal(await quota('w'), undefined);
});
