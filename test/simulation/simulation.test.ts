import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { simulateFeeds } from './feeds.ts';
import { MUTATIONS } from './mutations.ts';

test('D5.14 D5.15 D5.16 replicas, builds, outages and clients in any order: whoever polls holds what the rules say', async () => {
  for (const seed of [1, 2, 3]) await simulateFeeds(seed, 2_000);
  await simulateFeeds(4, 2_000, { setClocks: true });
});

test('the faults that `npm run simulate` plants are in code that is there', () => {
  for (const { file, from } of Object.values(MUTATIONS))
    assert.equal(readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8').split(from).length, 2, `${file}: ${from}`);
});
