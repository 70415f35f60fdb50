import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { simulateFeeds } from './feeds.ts';
import { simulateLanding } from './landing.ts';
import { simulateLease } from './lease.ts';
import { MUTATIONS } from './mutations.ts';

test('D5.14 D5.15 D5.16 replicas, builds, outages and clients in any order: whoever polls holds what the rules say', async () => {
  for (const seed of [1, 2, 3]) await simulateFeeds(seed, 2_000);
  await simulateFeeds(4, 2_000, { setClocks: true });
});

test('D4 several replicas land each message once and in order, whatever is late, lost or replaced; at rest nothing waits', async () => {
  for (const seed of [1, 2, 3]) await simulateLanding(seed, 6_000);
});

test('D23.9 whoever is told that he has the lease has it, and what he writes later is refused', async () => {
  for (const seed of [1, 2, 3]) await simulateLease(seed, 4_000);
});

test('the faults that `npm run simulate` plants are in code that is there', () => {
  for (const { file, from } of Object.values(MUTATIONS))
    assert.equal(readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8').split(from).length, 2, `${file}: ${from}`);
});
