import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Instant } from '../../clock.ts';
import { DEFAULT_VARIANT } from '../variant.ts';
import { type Body, BodyCache } from './body-cache.ts';
import type { Representation, TooLarge } from './representation.ts';
import {
  atTime,
  type CachedBuild,
  isServable,
  NOT_BUILT,
  readyOutcome as outcomeAt,
  releasedBodies,
  servedBefore,
  type VariantState,
  withExtended,
  withBuild as withNewBuild,
  withoutBuilds,
} from './variant-state.ts';

/** Both clocks at the same ms. */
const at = (ms: number): Instant => ({ wall: ms, monotonic: ms });
const readyOutcome = (state: VariantState, ms: number) => outcomeAt(state, { monotonic: ms, wall: ms });
const NOW = at(100_500);

/** A build that begins at once; where its Last-Modified lies ahead it waits. */
const withBuild = (state: VariantState, build: CachedBuild, now: Instant) =>
  withNewBuild(state, build, build.outcome.kind === 'document' && build.outcome.lastModified * 1000 > now.wall, now);

function feed(hash: string, lastModified: number): Representation {
  const body: Body = new BodyCache(9).add(new Uint8Array(1));
  const etags = { identity: '"i"', gzip: '"g"', md5: '"m"' };
  return {
    kind: 'document',
    feedId: null,
    contentId: null,
    variant: DEFAULT_VARIANT,
    body,
    hash,
    etags,
    lastModified,
    sharesInstant: false,
    isPublished: true,
    facts: { entryCount: 1, entryLimit: 9, nextExpiry: 0 },
    staleSince: undefined,
  };
}
const tooLarge: TooLarge = { kind: 'too_large', facts: { entryCount: 10, entryLimit: 9, nextExpiry: 0 }, hint: '', staleSince: undefined };

/** A build that is fresh until second 130 and expires at second 110. */
function build(outcome: Representation | TooLarge, change: Partial<CachedBuild> = {}): CachedBuild {
  const times = { freshUntil: 130_000, asOf: 100, completeSince: 0, nextExpiry: 110 };
  const moment = { ...at(1), sequence: 1 };
  return { outcome, at: moment, confirmed: { at: moment, readAt: 1, freshUntil: 30_001 }, geoVersion: '1', ...times, ...change };
}

describe('what is served of a variant', () => {
  const [a, b, c] = [feed('a', 90), feed('b', 102), feed('c', 103)];
  const serving = withBuild(NOT_BUILT, build(a), NOW);

  test('D5.14 a build is ready until a rule in it expires, or until it is no longer fresh', () => {
    assert.equal(readyOutcome(serving, 109_999), a);
    assert.equal(readyOutcome(serving, 110_000), undefined);
    const withoutExpiry = withBuild(NOT_BUILT, build(a, { nextExpiry: Number.POSITIVE_INFINITY }), NOW);
    assert.deepEqual([readyOutcome(withoutExpiry, 129_999), readyOutcome(withoutExpiry, 130_000)], [a, undefined]);
    assert.equal(readyOutcome(NOT_BUILT, NOW.wall), undefined);
  });

  test('D5.15 a build whose second lies ahead waits for it behind the one before', () => {
    const waiting = withBuild(serving, build(b), NOW);
    assert.deepEqual([readyOutcome(waiting, 101_999), readyOutcome(waiting, 102_000)], [a, undefined]);
    assert.equal(atTime(waiting, at(101_999)), waiting);
    assert.deepEqual(atTime(waiting, at(102_000)), { ...withBuild(NOT_BUILT, build(b), at(102_000)) });
    assert.equal(readyOutcome(withBuild(NOT_BUILT, build(b), NOW), NOW.wall), b, 'nothing to wait behind');
  });

  test('D5.14 while a build waits, the one before is served no longer than its rules last', () => {
    const waiting = withBuild(withBuild(NOT_BUILT, build(a, { nextExpiry: 101 }), NOW), build(b), NOW);
    assert.deepEqual([readyOutcome(waiting, 100_999), readyOutcome(waiting, 101_000)], [a, undefined]);
  });

  test('D5.13 a build that was found good is ready for longer, but not beyond its rules', () => {
    const extended = (freshUntil: number) => withExtended(serving, { ...serving.current!, freshUntil });
    for (const [freshUntil, end] of [
      [105_000, 105_000],
      [160_000, 110_000],
    ] as const) {
      assert.deepEqual(
        [end - 1, end].map((ms) => readyOutcome(extended(freshUntil), ms)),
        [a, undefined],
      );
    }
  });

  test('D5.15 the next build learns what was served last, also when a 413 or nothing is served now', () => {
    const previous = { hash: 'a', lastModified: 90, sharesInstant: false };
    assert.deepEqual(servedBefore(serving, NOW), { ...previous, servable: true });
    assert.deepEqual(servedBefore(serving, at(110_000)), { ...previous, servable: false });
    assert.deepEqual(servedBefore(withBuild(serving, build(tooLarge), NOW), NOW), { ...previous, servable: false });
    assert.deepEqual(servedBefore(withoutBuilds(serving), NOW), { ...previous, servable: false });
    assert.equal(servedBefore(withBuild(NOT_BUILT, build(tooLarge), NOW), NOW), undefined);
  });

  test('D5.18 a build that waits begins after 3 s of the monotonic clock, when the wall clock was set back meanwhile', () => {
    const waiting = withBuild(serving, build(b), NOW);
    const setBack = (ms: number) => ({ wall: ms - 3_600_000, monotonic: ms });
    assert.equal(outcomeAt(waiting, { monotonic: 103_499, wall: 0 }), a);
    assert.equal(outcomeAt(waiting, { monotonic: 103_500, wall: 0 }), undefined);
    assert.equal(atTime(waiting, setBack(103_499)), waiting);
    assert.equal(outcomeAt(atTime(waiting, setBack(103_500)), { monotonic: 103_500, wall: 0 }), b);
  });

  test('D5.18 a build lacks rules at a wall clock before its own second', () => {
    assert.deepEqual(
      [99_999, 100_000, 109_999, 110_000].map((wall) => isServable(build(a), wall)),
      [false, true, true, false],
    );
  });

  test('D1 a body is released when neither the current nor the pending build has it', () => {
    const waiting = withBuild(serving, build(b), NOW);
    const replaced = withBuild(waiting, build(c), NOW);
    assert.deepEqual(releasedBodies(serving, waiting), []);
    assert.deepEqual(releasedBodies(waiting, replaced), [b.body]);
    assert.deepEqual(releasedBodies(replaced, atTime(replaced, at(103_000))), [a.body]);
    assert.deepEqual(releasedBodies(replaced, withoutBuilds(replaced)), [a.body, c.body]);
    const marked = withExtended(serving, build({ ...a, staleSince: 99 }));
    assert.deepEqual(releasedBodies(serving, marked), []);
  });
});
