import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DecisionKey } from './network-key.ts';
import { ReannounceQueue } from './reannounce-queue.ts';

const key = (text: string) => text as unknown as DecisionKey;

test('D37.1 instants at which networks are told again: the earliest is known, those that have passed go, a clock that is set back brings earlier ones', () => {
  const dues = new ReannounceQueue();
  assert.equal(dues.next, Number.POSITIVE_INFINITY);
  for (const [second, name] of [
    [30, 'a'],
    [10, 'b'],
    [10, 'b'],
    [20, 'a'],
  ] as const)
    dues.add(second, key(name));
  assert.deepEqual([dues.next, [...dues].length], [10, 3]);
  assert.deepEqual([dues.taken(15), dues.next], [[key('b')], 20]);
  dues.earlier(5, 100);
  assert.deepEqual([...dues].map(([second]) => second).sort(), [15, 20, 25, 30]);
  assert.equal(dues.next, 15);
});

test('D37.1 a clock that is set back again and again makes no more instants than may be', () => {
  const dues = new ReannounceQueue();
  for (let n = 0; n < 100; n += 1) dues.add(1_000_000 + n, key(`${n}`));
  for (let step = 1; step <= 40; step += 1) dues.earlier(step * 100, 1000);
  assert.ok([...dues].length <= 1000);
  assert.equal(new Set([...dues].map(([, each]) => each)).size, 100);
});
