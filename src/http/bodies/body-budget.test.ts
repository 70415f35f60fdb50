import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyBudget } from './body-budget.ts';

test('D3.25 the budget is for all, an eighth of it for one key, and what is released counts no more', () => {
  const budget = bodyBudget(800, 50);
  const [a, b] = [budget.open('a'), budget.open('a')];
  assert.equal(a.reserve(60), true);
  assert.equal(b.reserve(41), false);
  assert.equal(b.reserve(40), true);
  a.release();
  a.release();
  assert.equal(b.reserve(100), true);
  assert.equal(b.reserve(101), false);
  const others = ['c', 'd', 'e', 'f', 'g', 'h', 'i'].map((key) => budget.open(key));
  for (const other of others) assert.equal(other.reserve(100), true);
  assert.equal(budget.open('z').reserve(1), false);
  b.release();
  assert.equal(budget.open('z').reserve(100), true);
});

test('D3.25 one whole body always fits', () => {
  const budget = bodyBudget(100, 100);
  const holding = budget.open('a');
  assert.equal(holding.reserve(100), true);
  assert.equal(budget.open('b').reserve(1), false);
  holding.release();
  assert.equal(budget.open('b').reserve(100), true);
});

test('D3.25 all keys of a workspace together may hold a half, whoever makes them; another workspace finds room', () => {
  const budget = bodyBudget(800, 50);
  const keys = Array.from({ length: 8 }, (_, n) => budget.open(`key ${n}`, 'one'));
  assert.deepEqual(
    keys.map((holding) => holding.reserve(100)),
    [true, true, true, true, false, false, false, false],
  );
  assert.equal(budget.open('other', 'two').reserve(100), true);
  keys[0]!.release();
  assert.equal(keys[5]!.reserve(100), true);
});
