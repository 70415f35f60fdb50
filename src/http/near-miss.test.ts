import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isNearMiss } from './near-miss.ts';

test('one character added, left out or replaced, two neighbours exchanged, and letter case are near misses', () => {
  const action = ['actions', 'aaction', 'acction', 'ction', 'acton', 'actio', 'bction', 'acsion', 'actiom', 'actoin', 'caction', 'catoin'];
  const near = action.filter((name) => isNearMiss(name, 'action'));
  assert.deepEqual(near, action.slice(0, -1));
  for (const name of ['ACTION', 'Action', 'ACTOIN', 'action']) assert.ok(isNearMiss(name, 'action'), name);
});

test('two edits are none', () => {
  for (const name of ['', 'a', 'act', 'acn', 'actnoi', 'noitca', 'axctionx', 'xaction.', 'acti', 'action[]', 'caitno', 'reaction']) {
    assert.equal(isNearMiss(name, 'action'), false, name);
  }
  assert.deepEqual(
    ['', 'x', 'aa', 'ba', 'abc', 'bca'].map((name) => isNearMiss(name, 'ab')),
    [false, false, true, true, true, false],
  );
});
