import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Instant } from '../../clock.ts';
import { confirmed, isOutdated, type KnownSnapshot, snapshotOf } from './known-snapshot.ts';
import { type FeedRead, goodRead } from './workspace-read.ts';

const INTERVAL = 30_000;
/** A wall clock that is 7 s ahead of the monotonic one, ms. */
const at = (monotonic: number): Instant => ({ wall: monotonic + 7_000, monotonic });
const known: KnownSnapshot = { generation: 4, revision: 7, readAt: at(1_000), takenAt: 1_001, currentAt: at(1_000), freshUntil: 31_000 };

/** A read that began as number `sequence` at `ms`, and found this revision of the feed, on a store whose clock is 5 ms ahead. */
const read = (revision: number, sequence: number, ms: number): FeedRead => ({
  ...goodRead({ revision: 70, takenAt: ms + 5 }, { ...at(ms), sequence }, at(ms), INTERVAL),
  revision,
});

describe('D5.13 a known snapshot', () => {
  test('is as current as a later read of the workspace that finds its revision', () => {
    assert.deepEqual(confirmed(known, read(7, 5, 40_000)), { ...known, takenAt: 40_005, currentAt: at(40_000), freshUntil: 70_000 });
  });

  test('is not confirmed by a read that began before it, nor by another revision', () => {
    assert.equal(confirmed(known, read(7, 4, 40_000)), known);
    assert.equal(confirmed(known, read(8, 5, 40_000)), known);
  });

  test('is outdated once its revision has moved and the interval is over', () => {
    assert.equal(isOutdated(known, read(8, 5, 31_000), 31_000, INTERVAL), true);
    assert.equal(isOutdated(known, read(8, 5, 30_999), 30_999, INTERVAL), false);
    assert.equal(isOutdated(known, read(7, 5, 31_000), 31_000, INTERVAL), false);
    assert.equal(isOutdated(known, read(8, 4, 31_000), 31_000, INTERVAL), false);
  });

  test('is replaced by the snapshot of a build, unless it is the same', () => {
    const source = {
      generation: 4,
      revision: 7,
      readAt: at(1_000),
      takenAt: 1_001,
      name: 'n',
      geoVersion: '1',
      v4Count: undefined,
      entryCount: 0,
      entryLimit: 9,
    };
    const build = { ...source, asOf: 8, servableFrom: 0, servableUntil: Number.POSITIVE_INFINITY, provisional: false };
    assert.equal(snapshotOf(build, known, INTERVAL), known);
    assert.deepEqual(snapshotOf(build, undefined, INTERVAL), known);
    const next = { generation: 5, revision: 8, readAt: at(50_000), takenAt: 50_001 };
    assert.deepEqual(snapshotOf({ ...build, ...next }, known, INTERVAL), { ...next, currentAt: at(50_000), freshUntil: 80_000 });
  });
});
