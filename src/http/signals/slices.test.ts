import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { inRestingSlices, inSlices } from './slices.ts';

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
  const runs: boolean[] = [];
  // The machine may stand still in the middle of one.
  for (let run = 0; run < 3; run += 1) {
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    assert.equal(await inSlices(busy(10, 0)), 'done');
    runs.push(turned);
    await turn();
  }
  assert.ok(runs.includes(false));
});

test('D3.28 batches that arrive together and batches that wait share the time of one turn', async () => {
  let steps = 0;
  function* counted(): Generator<undefined, void> {
    for (const step of busy(10, 0.5)) {
      steps += 1;
      yield step;
    }
  }
  const all = Promise.all(Array.from({ length: 20 }, () => inSlices(counted())));
  const ofTurns = [];
  for (let done = 0; done < 200; done = steps) {
    await turn();
    ofTurns.push(steps - done);
  }
  await all;
  // 2 ms, and the step that goes over it.
  assert.ok(Math.max(...ofTurns) <= 5, `steps of 0.5 ms in each turn: ${ofTurns}`);
});

test('D3.28 the largest batches leave the thread at rest for half of the time', async () => {
  const begun = process.threadCpuUsage();
  const at = performance.now();
  await Promise.all(Array.from({ length: 4 }, () => inRestingSlices(busy(40, 0.5))));
  const { user, system } = process.threadCpuUsage(begun);
  assert.ok((user + system) / 1000 < 0.75 * (performance.now() - at), `${(user + system) / 1000} ms of ${performance.now() - at}`);
});
