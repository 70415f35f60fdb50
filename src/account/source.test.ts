import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_GUARDS, newState, type SourceState } from './source.ts';
import { askedAfter } from './source-run.ts';
import { expiresAt, isCounted, isExpiring, type LogState, stateOf } from './source-state.ts';

const NOW = 1_800_000_000_000;
const WEEK = DEFAULT_GUARDS.staleAfter * 1000;
const SOURCE = { purpose: 'block', guards: DEFAULT_GUARDS, isPaused: false, createdAt: NOW - WEEK } as const;
const undone = { batch: 'b', seq: 7, at: NOW };
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

test('D44.10 a source whose refresh was undone is in a state of its own, behind what is more urgent', () => {
  const state = { ...newState(NOW), fetchedAt: NOW - 1, confirmedAt: NOW - 1, undone };
  assert.equal(stateOf(SOURCE, state, NOW), 'undone');
  assert.equal(stateOf(SOURCE, { ...state, failures: 1 }, NOW), 'undone');
  assert.deepEqual(
    [stateOf(SOURCE, { ...state, held }, NOW), stateOf(SOURCE, { ...state, confirmedAt: NOW - WEEK / 2 }, NOW)],
    ['held', 'stale'],
  );
});

test('D44.7 a list that is there before its source, or was brought back by an undo, expires as well', () => {
  const state = newState(NOW);
  assert.equal(expiresAt(SOURCE, { ...state, entries: 3 }), NOW);
  assert.ok(isExpiring(SOURCE, { ...state, entries: 3 }, NOW));
  const emptied = { ...state, expired: true, confirmedAt: NOW - WEEK };
  assert.equal(isExpiring(SOURCE, emptied, NOW), false);
  assert.deepEqual([stateOf(SOURCE, { ...emptied, undone }, NOW), expiresAt(SOURCE, { ...emptied, undone })], ['undone', NOW + WEEK]);
  assert.ok(isExpiring(SOURCE, { ...emptied, undone }, NOW + WEEK));
});

test('D44.11 entries are counted again where an undo stands or stands no more, and where a list was there before its source', () => {
  const state = { ...newState(NOW), confirmedAt: NOW };
  assert.deepEqual([isCounted(state), isCounted({ ...state, undone }), isCounted({ ...state, countedFor: '' })], [true, false, false]);
  assert.deepEqual([isCounted({ ...state, undone, countedFor: 'b' }), isCounted({ ...state, countedFor: 'b' })], [true, false]);
});

test('D44.13 what was asked for before an answer was asked for is done behind it', () => {
  const by = { keyId: null, actor: 'x' };
  const refresh = { what: 'refresh', at: 1, by } as const;
  const accept = { what: 'accept', at: 2, by, next: refresh } as const;
  assert.deepEqual(
    [askedAfter(accept, 2), askedAfter(refresh, 1), askedAfter(refresh, 9), askedAfter(null, undefined)],
    [refresh, null, refresh, null],
  );
});
