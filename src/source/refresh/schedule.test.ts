import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goesAlong, leftAlone, stops, waitAfter } from './schedule.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const daily = { every: 24 * HOUR, least: 0 };

test('D23.12 a refresh comes after the interval and up to a tenth of it, of ten minutes at most', () => {
  assert.equal(waitAfter({ every: HOUR, least: 0 }, 0, undefined, 0), HOUR);
  assert.equal(waitAfter({ every: HOUR, least: 0 }, 0, undefined, 0.5), HOUR + 3 * MINUTE);
  assert.equal(waitAfter(daily, 0, undefined, 1), 24 * HOUR + 10 * MINUTE);
});

test('D23.12 failures are tried again after an eighth of the interval, then after twice as long each time, until it is whole', () => {
  const waits = [1, 2, 3, 4, 5, 2000].map((failures) => waitAfter(daily, failures, undefined, 0) / HOUR);
  assert.deepEqual(waits, [3, 6, 12, 24, 24, 24]);
});

test('D23.12 nothing is asked sooner than its host wants, nor more often than every five minutes', () => {
  assert.equal(waitAfter({ every: HOUR, least: HOUR }, 1, undefined, 0), HOUR);
  assert.equal(waitAfter({ every: 5 * MINUTE, least: 0 }, 1, undefined, 0), 5 * MINUTE);
});

test('D23.13 a server is left alone for as long as it asks for, a week at most', () => {
  assert.equal(waitAfter({ every: HOUR, least: 0 }, 1, 2 * HOUR, 0), 2 * HOUR);
  assert.equal(waitAfter({ every: HOUR, least: 0 }, 0, 10, 0), HOUR);
  assert.equal(waitAfter({ every: HOUR, least: 0 }, 1, 1e15, 0), 7 * 24 * HOUR);
});

test('D23.13 statuses that mean that one is not wanted stop a source, others do not', () => {
  assert.deepEqual([401, 403, 404, 410].map(stops), [true, true, true, true]);
  assert.deepEqual([400, 429, 500, 503, 304].map(stops), [false, false, false, false, false]);
});

test('D23.14 what is due within half of its interval goes along with a download of its address', () => {
  assert.ok(goesAlong(HOUR, 2 * HOUR, 0));
  assert.ok(goesAlong(-5, HOUR, 0));
  assert.ok(!goesAlong(HOUR + 1, 2 * HOUR, 0));
});

test('D23.13 what asks to be left alone is not asked by anybody meanwhile, also after 429 without a time', () => {
  assert.deepEqual([leftAlone(429, undefined), leftAlone(503, 7000), leftAlone(500, undefined)], [5 * MINUTE, 7000, 0]);
});
