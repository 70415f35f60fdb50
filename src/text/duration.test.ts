import assert from 'node:assert/strict';
import { test } from 'node:test';
import { durationText, readDuration, readSince, readUntil, withDurations } from './duration.ts';

test('D42.10 a duration is a number of the unit, or has one of its own', () => {
  assert.deepEqual(
    ['3600', '90s', '15m', '12h', '7d', '2w', '0'].map((text) => readDuration(text)),
    [3600, 90, 900, 43_200, 604_800, 1_209_600, 0],
  );
  assert.deepEqual(
    [readDuration('24', 'h'), readDuration('7d', 'h'), readDuration('90m', 'h'), readDuration('2w', 'd')],
    [24, 168, 1.5, 14],
  );
  for (const text of ['', 'd', '-1d', '1.5h', '1 d', '7D', '1y', '1h30m', '12345678901', 'soon'])
    assert.equal(readDuration(text), undefined, text);
  assert.deepEqual([readSince('2h', 7_200_000), readUntil('1m', 0), readSince('1970-01-01T00:00:01Z', 9)], [0, 60_000, 1000]);
  assert.deepEqual([90, 3600, 86_400, 172_801].map(durationText), ['90s', '1h', '1d', '172801s']);
  const properties = { days: { 'x-unit': 'd' as const }, count: {} };
  assert.deepEqual(withDurations({ days: '2w', count: '2w', other: '2w' }, properties), { days: 14, count: '2w', other: '2w' });
  assert.deepEqual(withDurations({ days: 3, __proto__: null }, properties), { days: 3 });
});
