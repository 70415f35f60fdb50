import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DecisionKey } from './network-key.ts';
import { ReannounceQueue } from './reannounce-queue.ts';

const key = (text: string) => text as unknown as DecisionKey;

test('D37.1 instants at which networks are told again: the earliest is known, those that have passed go, a clock that is set back brings earlier ones', () => {
  const reannounce = new ReannounceQueue();
  assert.equal(reannounce.next, Number.POSITIVE_INFINITY);
  for (const [second, name] of [
    [30, 'a'],
    [10, 'b'],
    [10, 'b'],
    [20, 'a'],
  ] as const)
    reannounce.add(second, key(name));
  assert.deepEqual([reannounce.next, [...reannounce].length], [10, 3]);
  assert.deepEqual([reannounce.takeDue(15), reannounce.next], [[key('b')], 20]);
  reannounce.earlier(5, 100);
  assert.deepEqual([...reannounce].map(([second]) => second).sort(), [15, 20, 25, 30]);
  assert.equal(reannounce.next, 15);
});

test('D37.1 a clock that is set back again and again makes no more instants than may be', () => {
  const reannounce = new ReannounceQueue();
  for (let n = 0; n < 100; n += 1) reannounce.add(1_000_000 + n, key(`${n}`));
  for (let step = 1; step <= 40; step += 1) reannounce.earlier(step * 100, 1000);
  assert.ok([...reannounce].length <= 1000);
  assert.equal(new Set([...reannounce].map(([, each]) => each)).size, 100);
});
