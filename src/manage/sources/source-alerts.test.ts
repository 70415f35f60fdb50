import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_GUARDS, newState, type Source, type SourceState } from '../../account/source.ts';
import { sourceAlertOf } from './source-alerts.ts';

const NOW = Date.parse('2026-11-23T12:00:00Z');
const DAY = 86_400_000;
const source = { id: 's', name: 'drop', purpose: 'block', guards: DEFAULT_GUARDS, isPaused: false } as Source;
const GOOD = { ...newState(NOW), fetchedAt: NOW, confirmedAt: NOW };
const told = (state: Partial<SourceState>, more: Partial<Source> = {}) =>
  sourceAlertOf({ source: { ...source, ...more }, state: { ...GOOD, ...state }, asked: null }, 'default', NOW)?.text;

test('D23.23 a source that is held, stale, expired, stopped, or fails three times in a row needs attention, and no other', () => {
  assert.equal(told({}), undefined);
  assert.equal(told({ failures: 2, fault: 'x' }), undefined);
  assert.equal(told({ failures: 3, fault: 'it was cut short' }), 'has failed 3 times in a row: it was cut short');
  assert.equal(told({ held: { reason: 'it is empty' } as never }), 'has a refresh on hold: it is empty (weir source show)');
  assert.match(told({ stop: 'refused', fault: 'the server answers 403' })!, /is stopped: the server answers 403/);
  assert.match(told({ confirmedAt: NOW - 4 * DAY })!, /last confirmed at 2026-11-19T12.*its list expires at 2026-11-26T12/);
  assert.match(told({ expired: true, confirmedAt: NOW - 8 * DAY })!, /has an empty list/);
  assert.equal(told({ confirmedAt: NOW - 400 * DAY }, { purpose: 'allow' }), undefined);
  assert.equal(told({ failures: 9 }, { isPaused: true }), undefined);
});

test('D44.8 a source that is paused, stopped or held needs attention where its list is emptied soon, or was', () => {
  const [stale, expired] = [{ confirmedAt: NOW - 4 * DAY }, { expired: true, confirmedAt: NOW - 8 * DAY }];
  const state = (of: Partial<SourceState>, more: Partial<Source> = {}) =>
    sourceAlertOf({ source: { ...source, ...more }, state: { ...GOOD, ...of }, asked: null }, 'default', NOW)?.state;
  assert.equal(told({}, { isPaused: true }), undefined);
  assert.match(
    told(stale, { isPaused: true })!,
    /^is paused; it has content that was last confirmed at 2026-11-19.*: its list expires at 2026-11-26/,
  );
  assert.match(told(expired, { isPaused: true })!, /^is paused; it has an empty list/);
  assert.match(told({ ...stale, stop: 'refused', fault: '403' })!, /^is stopped: 403 .*; it has content.*its list expires at/);
  assert.match(told({ ...stale, held: { reason: 'it is empty' } as never })!, /^has a refresh on hold: it is empty.*; it has content/);
  assert.match(told({ ...expired, held: { reason: 'half' } as never })!, /^has an empty list: .*; it has a refresh on hold: half/);
  // Another state is told again, also where it was put off.
  assert.deepEqual(
    [state({}, { isPaused: true }), state(stale, { isPaused: true }), state(expired, { isPaused: true })],
    [undefined, 'stale', 'expired'],
  );
  assert.deepEqual(
    [state({ stop: 'refused' }), state({ ...stale, stop: 'refused' }), state({ ...expired, stop: 'refused' })],
    ['stopped', 'stale', 'expired'],
  );
  assert.match(
    told({ confirmedAt: null, entries: 9 }, { isPaused: true, createdAt: NOW - 8 * DAY })!,
    /^is paused; it has content that was never confirmed/,
  );
});
