import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { confirmedBy, type DocumentRead, goodRead, isFreshFor, isOutdated, type KnownSnapshot, snapshotOf } from './reads.ts';

const INTERVAL = 30_000;
/** A moment of a wall clock that is 7 s ahead of the monotonic one, ms. */
const at = (monotonic: number, sequence = 4) => ({ wall: monotonic + 7_000, monotonic, sequence });
const known: KnownSnapshot = { revision: 7, at: at(1_000), confirmed: { at: at(1_000), readAt: 1_001, freshUntil: 31_000 } };

/** A read that began as number `sequence` at `ms`, and found this revision of the feed, on a store whose clock is 5 ms ahead. */
const read = (revision: number, sequence: number, ms: number): DocumentRead => ({
  ...goodRead({ revision: 70, readAt: ms + 5 }, { at: at(ms, sequence), freshUntil: ms + INTERVAL, keyRevision: 1 }),
  revision,
});

describe('D5.13 a known snapshot', () => {
  test('is as current as a later read of the workspace that finds its revision', () => {
    const later = read(7, 5, 40_000);
    assert.deepEqual(confirmedBy(known, later), { ...known, confirmed: later });
    assert.deepEqual([later.readAt, later.freshUntil], [40_005, 70_000]);
  });

  test('is not confirmed by a read that began before it, nor by another revision', () => {
    assert.equal(confirmedBy(known, read(7, 4, 40_000)), known);
    assert.equal(confirmedBy(known, read(8, 5, 40_000)), known);
  });

  test('is outdated once its revision has moved and the interval is over', () => {
    assert.equal(isOutdated(known, read(8, 5, 31_000), 31_000, INTERVAL), true);
    assert.equal(isOutdated(known, read(8, 5, 30_999), 30_999, INTERVAL), false);
    assert.equal(isOutdated(known, read(7, 5, 31_000), 31_000, INTERVAL), false);
    assert.equal(isOutdated(known, read(8, 4, 31_000), 31_000, INTERVAL), false);
  });

  test('is replaced by the snapshot of a build, unless it is the same', () => {
    const facts = { entryCount: 0, entryLimit: 9, nextExpiry: 9 };
    const made = { name: 'n', geoVersion: '1', facts, asOf: 8, completeSince: 0 };
    const build = { ...made, revision: 7, at: at(1_000), readAt: 1_001 };
    assert.equal(snapshotOf(build, known, INTERVAL), known);
    assert.deepEqual(snapshotOf(build, undefined, INTERVAL), known);
    const next = { revision: 8, at: at(50_000, 5) };
    const confirmed = { at: next.at, readAt: 50_001, freshUntil: 80_000 };
    assert.deepEqual(snapshotOf({ ...build, ...next, readAt: 50_001 }, known, INTERVAL), { ...next, confirmed });
  });
});

test('D5.13 a read serves requests until it is old, and those that came before it', () => {
  const fresh = read(7, 5, 40_000);
  assert.deepEqual(
    [at(69_999, 6), at(70_000, 6), at(70_000, 4)].map((arrival) => isFreshFor(fresh, arrival)),
    [true, false, true],
  );
});
