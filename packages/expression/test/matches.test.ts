/** Regular expressions are run as the enforcement engine runs them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { seededRandom } from '../../../test/support/random.ts';
import { encodeText } from '../bytes.ts';
import { checkRegex } from '../regex/check.ts';
import { compileMatcher, type Matcher } from '../regex/matcher.ts';
import { programOf } from '../regex/run/program.ts';
import { simulate } from '../regex/run/simulate.ts';

interface Line {
  readonly pattern: string;
  /** One character a byte. */
  readonly values: readonly string[];
  /** What the engine's library (regex-automata 0.4.14, Unicode off) says of each. */
  readonly matches: readonly boolean[];
}

const lines = readFileSync(new URL('fixtures/matches.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Line);

function matcherOf(pattern: string): Matcher {
  const matcher = compileMatcher(pattern);
  return typeof matcher === 'string' ? assert.fail(`${pattern}: ${matcher}`) : matcher;
}

test('2.4 random patterns match what the engine matches: assertions, classes, flags, folding, bytes that are no UTF-8', () => {
  assert.ok(lines.length > 1000);
  for (const { pattern, values, matches } of lines) {
    assert.deepEqual(values.map(matcherOf(pattern)), matches, JSON.stringify({ pattern, values }));
  }
});

test('2.4 the states that are kept change nothing: the plain automaton agrees, also on values that make many states', () => {
  const random = seededRandom(26);
  const letters = (length: number, from: string) => Array.from({ length }, () => random.pick(from)).join('');
  for (const { pattern } of lines.filter((_, i) => i % 10 === 0)) {
    const [matcher, program] = [matcherOf(pattern), programOf(checkRegex(pattern).tree!, 100_000)];
    for (let i = 0; i < 5; i++) {
      const value = letters(40, 'abckAKsS1_ -\n\r\xe9\xc3\xa9');
      assert.equal(matcher(value), simulate(program, value), JSON.stringify({ pattern, value }));
    }
  }
  for (const pattern of ['[ab]*a[ab]{9}$', '(a.|b){1,40}c?(a.|b){1,40}bbabab$', '^(?:[ab]{3}a)+$', 'a.{30}b.{30}a$', '(?m)^a.{20}$']) {
    const [matcher, program] = [matcherOf(pattern), programOf(checkRegex(pattern).tree!, 100_000)];
    // The same matcher for all of them: states that do not fit are dropped in between.
    for (let i = 0; i < 60; i++) {
      const value = letters(1 + random.below(3000), i % 3 === 0 ? 'ab\n' : 'ab');
      assert.equal(matcher(value), simulate(program, value), JSON.stringify({ pattern, value }));
    }
  }
});

for (const [name, rows] of Object.entries({
  'values are bytes': [
    ['^.$', 'é', false],
    ['^..$', 'é', true],
    ['.', '\n', false],
    ['^[^a]{2}$', 'é', true],
    ['(?u)^.$', 'é', true],
    ['(?iu)\udc7c', '\ufffd', false],
    ['(?i)É', 'é', false],
    ['(?iu)É', 'é', true],
    ['(?i)k', '\u212a', false],
    ['(?iu)k', '\u212a', true],
    ['\\s', '\u00a0', false],
    ['\\x{e9}', 'é', true],
    ['\\xc3', 'é', true],
    ['\\xe9', 'é', false],
  ],
  'the end is the very end, unless lines are asked for': [
    ['a$', 'a\n', false],
    ['(?m)a$', 'a\nb', true],
    ['(?m)a$', 'a\r\n', false],
    ['(?mR)a$', 'a\r\n', true],
    ['(?mR)^\\n', '\r\n', false],
    ['\\bb', 'a b', true],
    ['\\b{end}', 'ab', true],
  ],
  'a doubled backslash is a backslash': [
    ['a\\\\.b', 'a.b', false],
    ['a\\\\.b', 'a\\xb', true],
  ],
} satisfies Record<string, readonly (readonly [string, string, boolean])[]>)) {
  test(`2.4 ${name}`, () => {
    for (const [pattern, value, expected] of rows) assert.equal(matcherOf(pattern)(encodeText(value)), expected, `${pattern} on ${value}`);
  });
}

test('2.4 no pattern takes more than linear time, whatever the value', () => {
  const same = `${'a'.repeat(8191)}!`;
  const mixed = `${Array.from({ length: 8191 }, (_, i) => 'ab'[(i * i * 7 + (i >> 3)) & 1]).join('')}!`;
  for (const pattern of [
    '(a+)+$',
    '(a|aa)+$',
    '(a*)*$b',
    '(.*a){20}$',
    '(a|b)*a(a|b){1000}c',
    '(x+x+)+y',
    '(a?){500}a{500}$',
    'x*a.{2000}c',
  ]) {
    for (const value of [same, mixed]) assert.equal(matcherOf(pattern)(value), false, pattern);
  }
});

test('2.4 what cannot be run says why', () => {
  assert.match(compileMatcher('(?u)\\p{Age=3.0}') as string, /the Unicode property Age=3.0 cannot be run/);
  assert.match(compileMatcher('a{300000}') as string, /too large to be run/);
  assert.match(compileMatcher('(') as string, /not closed/);
});
