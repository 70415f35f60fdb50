import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureLines, startFailureLog } from './failed-keys.ts';

test('D2.11 wrong keys are logged once a minute, a line for each address, and what is left at the end', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let failures = [{ source: '192.0.2.1', count: 21 }];
  const lines: string[] = [];
  const end = startFailureLog(
    () => failures.splice(0),
    (level, line) => lines.push(`${level}: ${line}`),
  );
  assert.deepEqual(lines, []);
  t.mock.timers.tick(60_000);
  t.mock.timers.tick(60_000);
  assert.deepEqual(lines, ['warn: 21 wrong API keys or enrolment codes within a minute from 192.0.2.1']);
  failures = [{ source: '2001:db8::/64', count: 1 }];
  end();
  t.mock.timers.tick(60_000);
  assert.deepEqual(lines.slice(1), ['warn: 1 wrong API keys or enrolment codes within a minute from 2001:db8::/64']);
});

test('D2.11 however many addresses guess, a minute has 21 lines at most', () => {
  const many = Array.from({ length: 100 }, (_, i) => ({ source: `192.0.2.${i}`, count: 100 - i }));
  const lines = failureLines(many);
  assert.equal(lines.length, 21);
  assert.equal(lines[20], '3240 wrong API keys or enrolment codes within a minute from 80 other addresses');
});
