import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchKeyRevision } from './key-revision.ts';

/** A revision in a store that can be down, and a clock that only the test moves. */
function world() {
  const state = { now: 1_800_000_000_000, revision: 7, down: false, reads: 0 };
  const read = async () => {
    state.reads += 1;
    if (state.down) throw new Error('down');
    return state.revision;
  };
  return { state, revision: watchKeyRevision(read, () => state.now) };
}

test('the revision is read when it is due, once for all who ask at the same time', async () => {
  const { state, revision } = world();
  assert.equal(revision.current, undefined);
  await Promise.all([revision.refresh(), revision.refresh(), revision.refresh()]);
  assert.deepEqual([revision.current, state.reads], [7, 1]);
  state.revision = 8;
  state.now += 999;
  await revision.refresh();
  assert.deepEqual([revision.current, state.reads], [7, 1]);
  state.now += 1;
  assert.equal(revision.isFresh(state.now), false);
  await revision.refresh();
  assert.deepEqual([revision.current, state.reads], [8, 2]);
});

test('a clock that is set back makes the revision due', async () => {
  const { state, revision } = world();
  await revision.refresh();
  state.now -= 1000;
  assert.equal(revision.isFresh(state.now), false);
});

test('a store that is down leaves the last revision, and nobody waits for it again until it answers', async () => {
  const { state, revision } = world();
  await revision.refresh();
  state.down = true;
  state.now += 1000;
  await revision.refresh();
  assert.deepEqual([revision.current, revision.readable], [7, false]);
  state.down = false;
  state.now += 1000;
  await revision.refresh();
  assert.equal(revision.readable, false);
  await new Promise(setImmediate);
  assert.equal(revision.readable, true);
});

test('a slow store is waited for only when its last answer is two seconds old', async () => {
  let now = 0;
  let answer: (() => void) | undefined;
  const revision = watchKeyRevision(
    () => new Promise((resolve) => (answer = () => resolve(7))),
    () => now,
  );
  const first = revision.refresh();
  answer!();
  await first;
  now = 1999;
  await revision.refresh();
  assert.equal(revision.isFresh(now), false, 'no answer yet');
  now = 2000;
  let waited = false;
  const last = revision.refresh().then(() => (waited = true));
  await new Promise(setImmediate);
  assert.equal(waited, false);
  answer!();
  await last;
});
