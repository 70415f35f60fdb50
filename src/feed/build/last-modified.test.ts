import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decideLastModified, isFarAhead, isInstantShared } from './last-modified.ts';

const NOW = 1_000;
const NEVER = Number.POSITIVE_INFINITY;
const shown = (hash: string, lastModified: number, servable = true) => ({ hash, lastModified, servable, sharesInstant: false });
const final = (lastModified: number, servableFrom = NOW) => ({ lastModified, servableFrom, provisionalUntil: NEVER });
const provisional = (lastModified: number, provisionalUntil: number) => ({ lastModified, servableFrom: NOW, provisionalUntil });

/** Of the content `a`, ready at second 1000 from a snapshot of second 990. */
const of = (record: Parameters<typeof decideLastModified>[3], was: Parameters<typeof decideLastModified>[4]) =>
  decideLastModified('a', NOW, 990_500, record, was);

describe('D5 Last-Modified', () => {
  test('the store decides, where it knows the content', () => {
    assert.deepEqual(of({ hash: 'a', since: 900 }, undefined), final(900));
    assert.deepEqual(of({ hash: 'a', since: 900 }, shown('b', 800)), final(900));
  });

  test('a beginning that lies ahead waits while what was shown can stand in', () => {
    assert.deepEqual(of({ hash: 'a', since: 1_002 }, shown('b', 1_000)), final(1_002, 1_002));
  });

  test('nothing to stand in: it begins now, and settles when its second has come', () => {
    assert.deepEqual(of({ hash: 'a', since: 1_002 }, undefined), provisional(NOW, 1_002));
    assert.deepEqual(of({ hash: 'a', since: 1_002 }, shown('b', 999, false)), provisional(NOW, 1_002));
    assert.deepEqual(of({ hash: 'a', since: 1_002 }, shown('a', 950, false)), provisional(950, 1_002));
  });

  test('far ahead is a wrong clock', () => {
    assert.deepEqual(of({ hash: 'a', since: 5_000 }, shown('b', 700)), final(NOW));
    assert.deepEqual(of({ hash: 'a', since: 5_000 }, shown('a', 700)), final(700));
    assert.deepEqual(of({ hash: 'a', since: 5_000 }, shown('b', NOW)), final(1_001, 1_001));
  });

  test('D5.18 after the clock was set back by more than the longest wait, a content shares the instant of the one before and begins now', () => {
    assert.deepEqual(of({ hash: 'a', since: 4_601 }, shown('b', 4_600)), final(4_600));
    assert.deepEqual(of(undefined, shown('b', 4_600)), final(4_600));
    assert.deepEqual(of({ hash: 'b', since: 4_600 }, shown('b', 4_600)), final(4_600));
    assert.deepEqual(of({ hash: 'a', since: 4_600 }, shown('a', 4_600, false)), final(4_600));
    // Set back by a little: it waits, or shows nothing earlier than before.
    assert.deepEqual(of({ hash: 'a', since: 1_003 }, shown('b', 1_002)), final(1_003, 1_003));
    assert.deepEqual(of({ hash: 'a', since: 1_003 }, shown('b', 1_002, false)), provisional(1_002, 1_003));
    assert.deepEqual(
      [1_003, 1_004].map((since) => isFarAhead({ hash: 'a', since }, NOW)),
      [false, true],
    );
    assert.equal(isFarAhead(undefined, NOW), false);
  });

  test('a content of an older snapshot looks older than the newer one, and never older than what was shown', () => {
    assert.deepEqual(of({ hash: 'b', since: 995 }, undefined), final(990));
    assert.deepEqual(of({ hash: 'b', since: 985 }, undefined), final(984));
    assert.deepEqual(of({ hash: 'b', since: 985 }, shown('c', 984)), final(984));
    assert.equal(of({ hash: 'b', since: 995 }, shown('c', 991)).lastModified, 992);
    assert.equal(of({ hash: 'b', since: 995 }, shown('a', 991)).lastModified, 991);
    assert.deepEqual(decideLastModified('a', NOW, 1_003_000, { hash: 'b', since: 1_010 }, undefined).lastModified, NOW);
  });

  test('an instant is shared by contents that were shown with it', () => {
    assert.equal(isInstantShared('a', 900, undefined), false);
    assert.equal(isInstantShared('a', 900, shown('b', 899)), false);
    assert.equal(isInstantShared('a', 900, shown('b', 900)), true);
    assert.equal(isInstantShared('a', 900, shown('a', 900)), false);
    assert.equal(isInstantShared('a', 900, { ...shown('a', 900), sharesInstant: true }), true);
    assert.equal(isInstantShared('a', 901, { ...shown('a', 900), sharesInstant: true }), false);
  });

  test('without the store it lives in memory', () => {
    assert.equal(of(undefined, undefined).lastModified, NOW);
    assert.equal(of(undefined, shown('a', 800)).lastModified, 800);
    assert.equal(of(undefined, shown('b', 800)).lastModified, NOW);
    assert.deepEqual(of(undefined, shown('b', NOW)), final(1_001, 1_001));
    // The store comes back with what it knew before.
    assert.equal(of({ hash: 'a', since: 700 }, shown('a', 800)).lastModified, 800);
    assert.equal(of({ hash: 'a', since: 700 }, shown('b', 800)).lastModified, 801);
  });
});
