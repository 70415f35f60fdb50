import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXPLAIN_LONGEST, explainOneAtATime } from './one-at-a-time.ts';

test('D36.4 explanations of a workspace are made one at a time, other workspaces wait for none of them, and who waited too long is told', async () => {
  let now = 0;
  const inTurn = explainOneAtATime(() => now);
  const made: string[] = [];
  let go: () => void = () => {};
  const explain = (name: string, until?: Promise<void>) => async () => {
    made.push(name);
    await until;
    return name;
  };
  const first = inTurn('full', explain('first', new Promise<void>((resolve) => (go = resolve))));
  const second = inTurn('full', explain('second'));
  assert.equal(await inTurn('other', explain('other')), 'other');
  now = EXPLAIN_LONGEST;
  const third = inTurn('full', explain('third'));
  assert.deepEqual(made, ['first', 'other']);
  now += 1;
  go();
  assert.equal(await first, 'first');
  await assert.rejects(second, { code: 'LIMITED', message: 'too many look-ups of the workspace are waiting' });
  assert.equal(await third, 'third');
  assert.deepEqual(made, ['first', 'other', 'third']);
});
