import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkRegex } from './check.ts';

const isGood = (pattern: string) => checkRegex(pattern).fault === null;

/** The largest number that is good, of those from 0 on; all below it are. */
function largest(most: number, isGoodNumber: (n: number) => boolean): number {
  let [low, high] = [0, most];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (isGoodNumber(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** How often a class may be repeated before its automaton is too large: the fewer, the larger the class is. */
const largestCount = (pattern: string, flags = '') => largest(400_000, (n) => isGood(`${flags}${pattern}{${n}}`));

test('2.4 a class is as large as the ranges that it is made of', () => {
  const [one, two, three, four, five] = ['[a]', '[ab]', '[abc]', '[abcd]', '[abcde]'].map((pattern) => largestCount(pattern));
  assert.ok(one > two && two > three && three > four && four > five);
  for (const [size, same] of [
    [two, ['[cd]', '[-a]', '[]a]', '[a-cx]', '[a--b]', '[a~~b]', '[a-b-]']],
    [three, ['[^ab]', '[[ab]]', '[[^a]b]']],
    [four, ['[[:alpha:]]', '[[ab]c]', '[ab&&cd]', '[a&&[bc]]']],
    [five, ['[[[:alpha:]]]', '[[:alpha:]a]', '[abc&&d--e]']],
  ] as const)
    for (const pattern of same) assert.equal(largestCount(pattern), size, pattern);
  assert.ok(largestCount('[\\dab]') < largestCount('[\\da]'));
});

test('2.4 without regard to case a class has twice the ranges, and one character is no literal', () => {
  assert.equal(largestCount('[ab]', '(?i)'), largestCount('[abcd]'));
  assert.equal(largestCount('[a]', '(?i)'), largestCount('[ab]'));
  assert.equal(largestCount('[^ab]', '(?i)'), largestCount('[abcde]'));
});

test('2.4 members beyond ASCII and negations make a class larger where it is one of characters', () => {
  const sizes = ['[ab]', '[éa]', '[éü]', '[é-ü]', '[^a]', '[^é]', '[\\pL]'].map((pattern) => largestCount(pattern, '(?u)'));
  assert.deepEqual(
    sizes,
    [...sizes].sort((a, b) => b - a),
  );
  assert.equal(new Set(sizes).size, sizes.length);
  assert.equal(largestCount('[é&&a]', '(?u)'), largestCount('[éa]', '(?u)'));
  assert.ok(largestCount('[[é]a]', '(?u)') < largestCount('[éa]', '(?u)'));
});

test('2.4 classes, unions of several members and operators are a level each, 250 at most', () => {
  const open = (text: string, n: number) => text.repeat(n);
  const levels: Readonly<Record<string, readonly [(n: number) => string, number]>> = {
    'one member': [(n) => `${open('[', n)}a${open(']', n)}`, 250],
    negated: [(n) => `${open('[^', n)}a${open(']', n)}`, 250],
    'two members': [(n) => `${open('[', n)}ab${open(']a', n - 1)}]`, 125],
    'left of an operator': [(n) => `${open('[', n)}a${open('&&b]', n)}`, 125],
    'left of an operator, two members in the middle': [(n) => `${open('[', n)}ab${open('&&b]', n)}`, 124],
    'right of an operator': [(n) => `${open('[b&&', n)}a${open(']', n)}`, 125],
    'right of an operator, two members': [(n) => `${open('[b&&c', n)}a${open(']', n)}`, 83],
    'operators in a row': [(n) => `[a${open('--b', n)}]`, 249],
    'operators in a row, two members first': [(n) => `[ab${open('--a', n)}]`, 248],
    'operators in a row, two members each': [(n) => `[a${open('~~ab', n)}]`, 248],
  };
  for (const [name, [make, most]] of Object.entries(levels))
    assert.equal(
      largest(300, (n) => n === 0 || isGood(make(n))),
      most,
      name,
    );
});

test('2.4 a fault of a class names the character where it begins', () => {
  const at = (place: number) => `, at character ${place} of the regular expression`;
  for (const pattern of ['[', '[^', '[-', '[]', '[a', '[a-', '[a-b', '[a-b-', '[^-', '[a&&', '[&', '[\\d'])
    assert.equal(checkRegex(pattern).fault, `the class is not closed${at(1)}`, pattern);
  const faults = {
    '[[a]': `the class is not closed${at(1)}`,
    '[a[b': `the class is not closed${at(3)}`,
    '(?x)[a b': `the class is not closed${at(5)}`,
    '[\\b]': `an assertion is not allowed in a class${at(2)}`,
    '[\\d-a]': `a range must begin with one character${at(2)}`,
    '[a-\\d]': `a range must end with one character${at(4)}`,
    '[b-a]': `the range ends before it begins${at(2)}`,
    '[é]': `in a class, characters beyond ASCII need the flag u, as in (?u)${at(2)}`,
    '[a-é]': `in a class, characters beyond ASCII need the flag u, as in (?u)${at(4)}`,
  };
  for (const [pattern, fault] of Object.entries(faults)) assert.equal(checkRegex(pattern).fault, fault, pattern);
});
