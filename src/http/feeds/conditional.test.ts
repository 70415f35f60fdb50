import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { evaluate, formatHttpDate, httpDate } from './conditional.ts';

const NOW = () => Date.UTC(2026, 10, 20, 10, 0, 0);
const ETAG = '"abc"';
const MODIFIED = Date.UTC(2026, 10, 20, 9, 0, 0) / 1000;
const status = (conditions: Parameters<typeof evaluate>[0]) => evaluate(conditions, { etag: ETAG, lastModified: MODIFIED }, NOW);
const at = (offset: number) => formatHttpDate(MODIFIED + offset);

describe('4.3 conditional requests', () => {
  test('4.3 without conditions the feed is sent', () => assert.equal(status({}), 200));

  test('4.3 D5 If-None-Match: exact, weak, lists, star', () => {
    for (const field of [
      '"abc"',
      'W/"abc"',
      '"x", "abc"',
      'W/"x",W/"abc"',
      ' "abc" ',
      ',, "abc",',
      '*',
      ' * ',
      '"a,b", "abc"',
      '"W/", "abc"',
    ]) {
      assert.equal(status({ 'if-none-match': field }), 304, field);
    }
    for (const field of ['"abd"', 'abc', '', '"abc', '"ABC"', 'w/"abc"', '"abc"x', '"x" "abc"', '"abc-gzip"', '"*"', 'W/ "abc"']) {
      assert.equal(status({ 'if-none-match': field }), 200, field);
    }
  });

  test('4.3 If-Modified-Since alone', () => {
    assert.equal(status({ 'if-modified-since': at(0) }), 304);
    assert.equal(status({ 'if-modified-since': at(1) }), 304);
    assert.equal(status({ 'if-modified-since': at(-1) }), 200);
    assert.equal(status({ 'if-modified-since': 'yesterday' }), 200);
  });

  test('4.3 If-None-Match takes precedence over If-Modified-Since', () => {
    assert.equal(status({ 'if-none-match': '"other"', 'if-modified-since': at(0) }), 200);
    assert.equal(status({ 'if-none-match': ETAG, 'if-modified-since': at(-100) }), 304);
  });

  test('D5 RFC 9110 13.2.2: If-Match and If-Unmodified-Since come first', () => {
    assert.equal(status({ 'if-match': '"other"', 'if-none-match': ETAG }), 412);
    assert.equal(status({ 'if-match': 'W/"abc"' }), 412);
    assert.equal(status({ 'if-match': '*' }), 200);
    assert.equal(status({ 'if-match': ETAG, 'if-unmodified-since': at(-1) }), 200);
    assert.equal(status({ 'if-unmodified-since': at(-1) }), 412);
    assert.equal(status({ 'if-unmodified-since': at(0) }), 200);
    assert.equal(status({ 'if-unmodified-since': 'nonsense' }), 200);
  });
});

describe('D5 HTTP dates in all three forms', () => {
  const seconds = Date.UTC(1994, 10, 6, 8, 49, 37) / 1000;
  test('the three forms name the same instant', () => {
    assert.equal(httpDate('Sun, 06 Nov 1994 08:49:37 GMT', NOW), seconds);
    assert.equal(httpDate('Sunday, 06-Nov-94 08:49:37 GMT', NOW), seconds);
    assert.equal(httpDate('Sun Nov  6 08:49:37 1994', NOW), seconds);
    assert.equal(httpDate(formatHttpDate(seconds), NOW), seconds);
  });

  test('two-digit years are at most 50 years ahead', () => {
    assert.equal(httpDate('Friday, 20-Nov-76 10:00:00 GMT', NOW), Date.UTC(2076, 10, 20, 10) / 1000);
    assert.equal(httpDate('Sunday, 20-Nov-77 10:00:00 GMT', NOW), Date.UTC(1977, 10, 20, 10) / 1000);
  });

  test('a leap second is a date, an impossible one is none', () => {
    assert.equal(httpDate('Sat, 31 Dec 2016 23:59:60 GMT', NOW), Date.UTC(2016, 11, 31, 23, 59, 59) / 1000);
    for (const text of [
      'Sun, 31 Feb 2026 08:49:37 GMT',
      'Sun, 06 Nov 1994 24:00:00 GMT',
      'Sun, 06 Nov 1994 08:60:00 GMT',
      'Sun, 6 Nov 1994 08:49:37 GMT',
      'Sun, 06 Nov 1994 08:49:37 UTC',
      'Sun, 06 nov 1994 08:49:37 GMT',
      'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT',
      '1994-11-06T08:49:37Z',
      '784111777',
      '',
    ]) {
      assert.equal(httpDate(text, NOW), undefined, text);
    }
  });
});
