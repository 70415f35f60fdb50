import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newState } from '../../account/source.ts';
import { settled } from './outcome.ts';

test('D23.17 what is held is needless once the origin has what the list has', () => {
  const difference = { present: 9, added: 0, changed: 0, removed: 9, unchanged: 0, refused: 0, failed: 0 };
  const held = { replacement: 'r', since: 0, reason: 'it is empty', digest: 'poison', difference };
  const timed = { every: 3600, least: 0, random: 0 };
  const after = (kind: 'unchanged' | 'known') => settled({ ...newState(0), held }, { kind, text: '' }, timed, 1).held;
  assert.deepEqual([after('unchanged'), after('known')], [null, held]);
});
