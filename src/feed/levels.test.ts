import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LEVELS } from '../rule.ts';
import { classTable, LEVEL_CLASSES, levelCode } from './levels.ts';

test('4.5 the level of the rule when set, else the default', () => {
  const table = classTable({ confidence: 'low', severity: 'critical' });
  for (const confidence of [null, ...LEVELS]) {
    for (const severity of [null, ...LEVELS]) {
      assert.deepEqual(LEVEL_CLASSES[table[levelCode(confidence, severity)]], {
        confidence: confidence ?? 'low',
        severity: severity ?? 'critical',
      });
    }
  }
});

test('4.5 level codes are what the store keeps', () => {
  assert.deepEqual(
    [levelCode(null, null), levelCode('low', null), levelCode(null, 'low'), levelCode('critical', 'critical')],
    [0, 5, 1, 24],
  );
});
