import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guestBudget } from './guest-budget.ts';

test('D18.9 so many bodies of one address at a time, whatever their size; another address has its own; released ones make room once', () => {
  const budget = guestBudget(2);
  const [first, second, third] = [1, 2, 3].map(() => budget.open('192.0.2.1')) as [
    ReturnType<typeof budget.open>,
    ReturnType<typeof budget.open>,
    ReturnType<typeof budget.open>,
  ];
  assert.deepEqual([first.reserve(1), second.reserve(4096), third.reserve(1)], [true, true, false]);
  assert.equal(first.reserve(4096), true, 'it holds its room already');
  assert.equal(budget.open('192.0.2.2').reserve(1), true);
  third.release();
  assert.equal(third.reserve(1), false, 'what holds nothing gives nothing back');
  first.release();
  first.release();
  assert.equal(third.reserve(1), true);
  assert.equal(budget.open('192.0.2.1').reserve(1), false);
});
