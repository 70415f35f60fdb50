import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isoTime, readInstant, systemClock, timeUntil, within } from './clock.ts';

const READ: readonly (readonly [text: unknown, at: string | null])[] = [
  ['2027-01-31T12:00:00Z', '2027-01-31T12:00:00.000Z'],
  ['2027-01-31T12:00:00.5Z', '2027-01-31T12:00:00.500Z'],
  ['2027-01-31T13:30:00+01:30', '2027-01-31T12:00:00.000Z'],
  ['2027-01-31 07:00:00-0500', '2027-01-31T12:00:00.000Z'],
  ['2027-01-31T12:00:00', '2027-01-31T12:00:00.000Z'],
  ['2027-01-31 12:00', '2027-01-31T12:00:00.000Z'],
  ['2027-01-31', '2027-01-31T00:00:00.000Z'],
  ['2027-01-31T24:00:00Z', '2027-02-01T00:00:00.000Z'],
  ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ['2027-02-29', null],
  ['2027-02-30T12:00:00Z', null],
  ['2027-04-31', null],
  ['2027-13-01', null],
  ['2027-01-00', null],
  ['2027-01-31T25:00:00Z', null],
  ['2027-01-31T12:00:60Z', null],
  ['2027-01-31T12:00:00+99:00', null],
  ['2027-01-31T12', null],
  ['2027-01-31T12:00:00Z and more', null],
  ['2027-01-31 (noon)', null],
  ['on 2027-01-31', null],
  ['2027', null],
  ['', null],
  [1_800_000_000_000, null],
  [undefined, null],
];

test('D3.30 an instant is that of its zone, without one of UTC, wherever the machine is; days that do not exist are none', (t) => {
  const { TZ } = process.env;
  t.after(() => {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  });
  for (const zone of ['UTC', 'America/New_York', 'Asia/Kolkata']) {
    process.env.TZ = zone;
    for (const [text, at] of READ) assert.equal(isoTime(readInstant(text) ?? null), at, `${text} in ${zone}`);
  }
});

test('D46.9 no timer gets a negative delay: what is left until a past instant is nothing', async (t) => {
  const warned = t.mock.method(process, 'emitWarning');
  await new Promise<void>((resolve) => void systemClock.after(-5, resolve));
  await assert.rejects(within(new Promise(() => {}), -1, 'nobody'), { code: 'TIMEOUT' });
  assert.deepEqual(
    warned.mock.calls.map(({ arguments: [warning] }) => String(warning)),
    [],
  );
  assert.deepEqual([timeUntil(3, 5), timeUntil(5, 3)], [0, 2]);
  const root = new URL('./', import.meta.url);
  const subtracting = globSync('**/*.ts', { cwd: root }).filter((file) =>
    /\b(setTimeout|setInterval|sleep|within|pause|after)\([^;\n]*[\w)] - [^;\n]*\)/.test(readFileSync(new URL(file, root), 'utf8')),
  );
  assert.deepEqual(subtracting, []);
});
