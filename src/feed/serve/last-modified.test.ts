import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { agrees, dateContent, decideLastModified } from './last-modified.ts';

const NOW = 1_000;
const NEVER = Number.POSITIVE_INFINITY;
const shown = (hash: string, lastModified: number, servable = true) => ({ hash, lastModified, servable, sharesInstant: false });
const dated = (lastModified: number, rest = {}) => ({
  ...{ lastModified, sharesInstant: false, isPublished: true, waits: false, settlesAt: NEVER },
  ...rest,
});
const waiting = (lastModified: number) => dated(lastModified, { waits: true });
const shared = (lastModified: number, rest = {}) => dated(lastModified, { sharesInstant: true, ...rest });
const unsettled = (lastModified: number, settlesAt: number) => shared(lastModified, { settlesAt });
/** Known here alone. */
const untold = (lastModified: number) => shared(lastModified, { isPublished: false });

/** Of the content `a`, ready at second 1000 from a snapshot of second 990. */
const of = (record: Parameters<typeof decideLastModified>[3], was: Parameters<typeof decideLastModified>[4]) =>
  decideLastModified('a', NOW, 990_500, record, was);

describe('D5 Last-Modified', () => {
  test('the store decides, where it knows the content', () => {
    assert.deepEqual(of({ hash: 'a', since: 900 }, undefined), dated(900));
    assert.deepEqual(of({ hash: 'a', since: 900 }, shown('b', 800)), dated(900));
  });

  test('a beginning that lies ahead waits while what was shown can stand in', () => {
    assert.deepEqual(of({ hash: 'a', since: 1_002 }, shown('b', 1_000)), waiting(1_002));
  });

  test('nothing to stand in: it begins now, proves nothing, and settles when its second has come', () => {
    assert.deepEqual(of({ hash: 'a', since: 1_002 }, undefined), unsettled(NOW, 1_002));
    assert.deepEqual(of({ hash: 'a', since: 1_002 }, shown('b', 999, false)), unsettled(NOW, 1_002));
    assert.deepEqual(of({ hash: 'a', since: 1_002 }, shown('a', 950, false)), unsettled(950, 1_002));
  });

  test('far ahead is a wrong clock', () => {
    assert.deepEqual(of({ hash: 'a', since: 5_000 }, shown('b', 700)), shared(NOW));
    assert.deepEqual(of({ hash: 'a', since: 5_000 }, shown('a', 700)), shared(700));
    assert.deepEqual(of({ hash: 'a', since: 5_000 }, shown('b', NOW)), shared(1_001, { waits: true }));
  });

  test('D5.18 after the clock was set back by more than the longest wait, a content shares the instant of the one before and begins now', () => {
    assert.deepEqual(of({ hash: 'a', since: 4_601 }, shown('b', 4_600)), shared(4_600));
    assert.deepEqual(of(undefined, shown('b', 4_600)), untold(4_600));
    assert.deepEqual(of({ hash: 'b', since: 4_600 }, shown('b', 4_600)), shared(4_600));
    assert.deepEqual(of({ hash: 'a', since: 4_600 }, shown('a', 4_600, false)), shared(4_600));
    // Set back by a little: it waits, or shows nothing earlier than before.
    assert.deepEqual(of({ hash: 'a', since: 1_003 }, shown('b', 1_002)), waiting(1_003));
    assert.deepEqual(of({ hash: 'a', since: 1_003 }, shown('b', 1_002, false)), shared(1_002, { settlesAt: 1_003 }));
  });

  test('D35.2 a content of an older snapshot looks older than the newer one and proves nothing, and is never older than what was shown', () => {
    assert.deepEqual(of({ hash: 'b', since: 995 }, undefined), shared(990));
    assert.deepEqual(of({ hash: 'b', since: 985 }, undefined), shared(984));
    assert.deepEqual(of({ hash: 'b', since: 985 }, shown('c', 984)), shared(984));
    assert.equal(of({ hash: 'b', since: 995 }, shown('c', 991)).lastModified, 992);
    assert.equal(of({ hash: 'b', since: 995 }, shown('a', 991)).lastModified, 991);
    assert.deepEqual(decideLastModified('a', NOW, 1_003_000, { hash: 'b', since: 1_010 }, undefined).lastModified, NOW);
  });

  test('an instant is shared by contents that were shown with it', () => {
    const isShared = (since: number, was: Parameters<typeof of>[1]) => of({ hash: 'a', since }, was).sharesInstant;
    assert.equal(isShared(900, undefined), false);
    assert.equal(isShared(900, shown('b', 899)), false);
    assert.equal(isShared(900, shown('a', 900)), false);
    assert.equal(isShared(900, { ...shown('a', 900), sharesInstant: true }), true);
    assert.equal(isShared(901, { ...shown('a', 900), sharesInstant: true }), false);
    assert.equal(of({ hash: 'b', since: 901 }, shown('c', 900)).sharesInstant, true, 'no room for another instant');
  });

  test('D35.1 without the store another content than the one before has no date for clients', () => {
    assert.deepEqual(of(undefined, undefined), untold(990));
    assert.deepEqual(of(undefined, shown('a', 800)), dated(800));
    assert.deepEqual(of(undefined, shown('b', 800)), untold(990));
    // The store comes back with what it knew before.
    assert.equal(of({ hash: 'a', since: 700 }, shown('a', 800)).lastModified, 800);
    assert.equal(of({ hash: 'a', since: 700 }, shown('b', 800)).lastModified, 801);
  });

  test('D13.4 of a variant that requests can make up it proves nothing, and nothing waits for it', () => {
    const page = { document: 'access_rule', type: null, label: null, page: null, name: 'x' } as const;
    const unproven = (was: Parameters<typeof of>[1]) => dateContent(page, 'a', NOW, 990_500, undefined, was);
    assert.deepEqual(unproven(undefined), shared(NOW));
    assert.deepEqual(unproven(shown('b', NOW)), shared(NOW));
    assert.deepEqual([unproven(shown('a', 900)), unproven(shown('b', 1_001))], [shared(900), shared(1_001)]);
  });

  test('a record agrees that is of the content, and not later; so does a store that takes no writes', () => {
    const content = { hash: 'a', lastModified: 900, sharesInstant: false, isPublished: true };
    const records = [undefined, { hash: 'a', since: 900 }, { hash: 'a', since: 899 }, { hash: 'a', since: 901 }, { hash: 'b', since: 900 }];
    assert.deepEqual(
      records.map((record) => agrees(record, content, NOW)),
      [true, true, true, false, false],
    );
  });

  test('D35.3 so does one that lies far ahead, where the date proves nothing; D35.1 none agrees with a date that is not told', () => {
    const content = { hash: 'a', lastModified: 900, sharesInstant: true, isPublished: true };
    const records = [1_003, 1_004].map((since) => ({ hash: 'a', since }));
    assert.deepEqual(
      records.map((record) => agrees(record, content, NOW)),
      [false, true],
    );
    assert.equal(agrees(records[1], { ...content, sharesInstant: false }, NOW), false);
    assert.equal(agrees({ hash: 'a', since: 900 }, { ...content, isPublished: false }, NOW), false);
  });
});
