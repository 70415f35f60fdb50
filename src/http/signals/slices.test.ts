import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inSlices } from './slices.ts';

function* busy(steps: number, ms: number): Generator<undefined, string> {
  for (let step = 0; step < steps; step += 1) {
    for (const end = performance.now() + ms; performance.now() < end; );
    yield;
  }
  return 'done';
}

test('4.2 a batch that takes long to judge lets other requests in between', async () => {
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  assert.equal(await inSlices(busy(20, 2)), 'done');
  clearInterval(timer);
  assert.ok(turns >= 3, `${turns} turns`);
});

test('4.2 a batch that is judged quickly is judged in one go', async () => {
  let turned = false;
  setImmediate(() => {
    turned = true;
  });
  assert.equal(await inSlices(busy(10, 0)), 'done');
  assert.equal(turned, false);
});
