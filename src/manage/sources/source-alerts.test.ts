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
  assert.equal(told({ held: { reason: 'it is empty' } as never }), 'holds a refresh back: it is empty (weir source show)');
  assert.match(told({ stop: 'refused', fault: 'the server answers 403' })!, /is stopped: the server answers 403/);
  assert.match(told({ confirmedAt: NOW - 4 * DAY })!, /confirmed last at 2026-11-19T12.*its list is emptied at 2026-11-26T12/);
  assert.match(told({ expired: true, confirmedAt: NOW - 8 * DAY })!, /has an empty list/);
  assert.equal(told({ confirmedAt: NOW - 400 * DAY }, { purpose: 'allow' }), undefined);
  assert.equal(told({ failures: 9 }, { isPaused: true }), undefined);
});
