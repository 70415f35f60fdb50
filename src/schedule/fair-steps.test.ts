import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fairSteps } from './fair-steps.ts';

test('D9.13 tenants take turns in the steps of long work; two are under way at most, and one that fails stops nobody', async () => {
  const steps = fairSteps();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const step = (tenant: string) =>
    steps(tenant, async () => {
      begun.push(tenant);
      await new Promise<void>((end) => ends.push(end));
      if (tenant === 'b') throw new Error('a defect');
      return tenant;
    });
  const turns = async () => {
    for (let n = 0; n < 20; n += 1) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  const many = Array.from({ length: 4 }, () => step('a'));
  const other = assert.rejects(step('b'), /a defect/);
  const third = step('c');
  for (const expected of [
    ['a', 'b'],
    ['a', 'b', 'c'],
    ['a', 'b', 'c', 'a'],
  ]) {
    await turns();
    assert.deepEqual(begun, expected);
    ends.shift()!();
  }
  await other;
  for (let left = 3; left > 0; left -= 1) {
    await turns();
    ends.shift()!();
  }
  assert.deepEqual(await Promise.all([...many, third]), ['a', 'a', 'a', 'a', 'c']);
});
