import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gathered } from './gather.ts';

/** Calls that are answered when the test says so: each key by its double, a call with a negative key by an error. */
function world(atOnce: number, most: number) {
  const calls: { readonly keys: readonly number[]; answer(): Promise<void> }[] = [];
  const get = gathered(
    (keys: readonly number[]) =>
      new Promise<number[]>((resolve, reject) => {
        const answer = async () => {
          if (keys.some((key) => key < 0)) reject(new Error('down'));
          else resolve(keys.map((key) => key * 2));
          await new Promise(setImmediate);
        };
        calls.push({ keys, answer });
      }),
    atOnce,
    most,
  );
  return { calls, get };
}

test('what comes in while calls run shares the next call, and each key gets its own answer', async () => {
  const { calls, get } = world(2, 3);
  const values = [1, 2, 3, 4, 5, 6].map(get);
  assert.deepEqual(
    calls.map(({ keys }) => keys),
    [[1], [2]],
  );
  await calls[1]!.answer();
  assert.deepEqual(calls[2]!.keys, [3, 4, 5], 'at most three in one');
  await calls[0]!.answer();
  assert.deepEqual(calls[3]!.keys, [6]);
  await calls[2]!.answer();
  await calls[3]!.answer();
  assert.deepEqual(await Promise.all(values), [2, 4, 6, 8, 10, 12]);
});

test('a call that fails fails for its keys alone', async () => {
  const { calls, get } = world(1, 2);
  const [first, failed, also, last] = [1, -1, 2, 3].map(get);
  await calls[0]!.answer();
  const rejected = Promise.all([assert.rejects(failed!, /down/), assert.rejects(also!, /down/)]);
  await calls[1]!.answer();
  await calls[2]!.answer();
  assert.deepEqual(await Promise.all([first, last]), [2, 6]);
  await rejected;
});
