import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_GUARDS, expiresAt, type LogState, newState, type SourceState, stateOf } from './source.ts';

const NOW = 1_800_000_000_000;
const WEEK = DEFAULT_GUARDS.staleAfter * 1000;
const SOURCE = { purpose: 'block', guards: DEFAULT_GUARDS, isPaused: false } as const;
const held = { replacement: 'r', since: NOW, reason: 'half of it would go', digest: 'd', difference: null };

test('D23.7 how a source is, in a word: the first of these that is so', () => {
  const good = { ...newState(NOW), fetchedAt: NOW - 1, confirmedAt: NOW - 1 };
  const cases: [Partial<SourceState>, LogState][] = [
    [{}, 'ok'],
    [{ fetchedAt: null, confirmedAt: null }, 'new'],
    [{ fetchedAt: null, confirmedAt: null, failures: 1 }, 'failing'],
    [{ failures: 3, fault: 'no answer' }, 'failing'],
    [{ failures: 3, confirmedAt: NOW - WEEK / 2 + 1 }, 'failing'],
    [{ failures: 3, confirmedAt: NOW - WEEK / 2 }, 'stale'],
    [{ held, confirmedAt: NOW - WEEK / 2 }, 'held'],
    [{ held, expired: true }, 'expired'],
    [{ expired: true, stop: 'refused' }, 'stopped'],
    [{ stop: 'secret' }, 'stopped'],
  ];
  for (const [state, told] of cases) assert.equal(stateOf(SOURCE, { ...good, ...state }, NOW), told, JSON.stringify(state));
  assert.equal(stateOf({ ...SOURCE, isPaused: true }, { ...good, stop: 'refused' }, NOW), 'paused');
  assert.equal(stateOf({ ...SOURCE, purpose: 'allow' }, { ...good, confirmedAt: NOW - 100 * WEEK }, NOW), 'ok', 'never for allow');
});

test('D23.1 a list that blocks expires so long after its content was confirmed, one that is never blocked does not', () => {
  const state = { ...newState(NOW), confirmedAt: NOW };
  assert.equal(expiresAt(SOURCE, state), NOW + WEEK);
  assert.equal(expiresAt({ ...SOURCE, purpose: 'allow' }, state), null);
  assert.equal(expiresAt(SOURCE, newState(NOW)), null, 'nothing is there that could');
});
