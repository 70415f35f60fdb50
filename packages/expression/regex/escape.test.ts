import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeText } from '../bytes.ts';
import { checkRegex } from './check.ts';
import { compileMatcher } from './matcher.ts';

function matches(pattern: string, value: string): boolean {
  const matcher = compileMatcher(pattern);
  return typeof matcher === 'string' ? assert.fail(`${pattern}: ${matcher}`) : matcher(value);
}

/** Values are bytes, a character each. */
const byteString = (text: string) => encodeText(text);

test('2.4 an escape is the character that it names', () => {
  const named: Readonly<Record<string, string>> = {
    ...{ '\\a': '\x07', '\\f': '\x0c', '\\t': '\t', '\\n': '\n', '\\r': '\r', '\\v': '\x0b' },
    ...{ '\\x41': 'A', '\\x{41}': 'A', '\\u0041': 'A', '\\u{000041}': 'A', '\\U00000041': 'A', '\\x4a': 'J', '\\x4F': 'O', '\\x09': '\t' },
    ...{ '\\u{e9}': 'é', '\\u{d7ff}': '\ud7ff', '\\u{e000}': '\ue000', '\\u{10ffff}': '\u{10ffff}', '\\U0001F600': '😀' },
    ...{
      '\\.': '.',
      '\\ ': ' ',
      '\\-': '-',
      '\\/': '/',
      '\\~': '~',
      '\\"': '"',
      '\\_': '_',
      '\\@': '@',
      '\\[': '[',
      '\\`': '`',
      '\\{': '{',
    },
  };
  for (const [pattern, text] of Object.entries(named)) {
    assert.ok(matches(`^${pattern}$`, byteString(text)), pattern);
    assert.ok(!matches(`^${pattern}$`, byteString('Z')), pattern);
    assert.ok(matches(`(?u)^[${pattern}]$`, byteString(text)), `[${pattern}]`);
  }
  // Two digits without braces are a byte in a class that is one of bytes.
  assert.ok(matches('^[\\xe9]$', '\xe9'));
  assert.ok(matches('(?x)^\\x { 4 1 } \\x 4 2 \\u{0 0 4 3}$', 'ABC'));
});

test('2.4 \\d, \\s and \\w, and what they leave out', () => {
  const has: Readonly<Record<string, string>> = { d: '09', s: ' \t\n\v\f\r', w: 'azAZ09_' };
  for (const [letter, members] of Object.entries(has))
    for (const member of `${members}-é`.split('')) {
      const isMember = members.includes(member);
      assert.equal(matches(`^\\${letter}$`, byteString(member)), isMember, `\\${letter} of ${JSON.stringify(member)}`);
      if (member !== 'é') assert.equal(matches(`^\\${letter.toUpperCase()}$`, member), !isMember);
      if (member !== 'é') assert.equal(matches(`^[\\${letter.toUpperCase()}x]$`, member), !isMember);
    }
  // With the flag u they know more than ASCII.
  assert.ok(matches('(?u)^\\d\\s\\w$', byteString('٣\u2003é')));
  assert.ok(!matches('(?u)^\\W$', byteString('é')));
});

test('2.4 assertions hold where the field says', () => {
  const where: Readonly<Record<string, readonly [yes: readonly string[], no: readonly string[]]>> = {
    '\\Aab': [['ab', 'abc'], ['xab']],
    'ab\\z': [
      ['ab', 'xab'],
      ['abx', 'ab\n'],
    ],
    'a\\bb|a\\b-': [['a-'], ['ab']],
    'a\\Bb': [['ab'], ['a-b']],
    '\\<b': [['b', 'a b'], ['ab']],
    'a\\>': [['a', 'a b'], ['ab']],
    '\\b{start}b': [['a b'], ['ab']],
    'a\\b{end}': [['a b'], ['ab']],
    'x*\\b{start-half}-': [['-', ' -'], ['a-']],
    '-\\b{end-half}': [['-', '- a'], ['-a']],
    '\\b{2}a': [['a', ' a'], ['ba']],
  };
  for (const [pattern, [yes, no]] of Object.entries(where)) {
    for (const value of yes) assert.ok(matches(pattern, value), `${pattern} in ${value}`);
    for (const value of no) assert.ok(!matches(pattern, value), `${pattern} not in ${value}`);
  }
  assert.ok(matches('(?u)é\\B', byteString('éa')));
  assert.ok(!matches('(?u)é\\b', byteString('éa')));
});

test('2.4 Unicode properties, with and without braces, and what they leave out', () => {
  for (const pattern of [
    '\\pL',
    '\\p{L}',
    '\\p{Greek}',
    '[\\p{Greek}]',
    '\\PN',
    '\\P{Latin}',
    '[^\\p{Latin}]',
    '(?x) \\p L',
    '(?i)\\p{Lu}',
  ])
    assert.ok(matches(`(?u)^(?:${pattern})$`, byteString('λ')), pattern);
  for (const pattern of ['\\PL', '\\P{L}', '\\p{Latin}', '\\p{Lu}', '[^\\p{Greek}]'])
    assert.ok(!matches(`(?u)^(?:${pattern})$`, byteString('λ')), pattern);
});

test('2.4 a fault of an escape says what and where', () => {
  const faults: Readonly<Record<string, readonly [text: string, place: number]>> = {
    'a\\': ['the pattern ends behind a backslash', 2],
    'a\\0': ['backreferences and octal escapes are not supported', 2],
    'a\\9': ['backreferences and octal escapes are not supported', 2],
    'a\\q': ['the escape \\q is unknown', 2],
    'a\\é': ['the escape \\é is unknown', 2],
    'a\\\u{80}': ['the escape \\\u{80} is unknown', 2],
    'a\\x': ['the escape is not complete', 2],
    'a\\x4': ['the escape is not complete', 2],
    'a\\u004': ['the escape is not complete', 2],
    'a\\x{41': ['the escape is not complete', 2],
    'a\\x{': ['the escape is not complete', 2],
    'a\\x{}': ['the escape holds no digits', 2],
    'a\\x4g': ['expected a hexadecimal digit', 5],
    'a\\x/1': ['expected a hexadecimal digit', 4],
    'a\\x:1': ['expected a hexadecimal digit', 4],
    'a\\x`1': ['expected a hexadecimal digit', 4],
    'a\\x\u{c1}1': ['expected a hexadecimal digit', 4],
    'a\\x{4g}': ['expected a hexadecimal digit', 6],
    'a\\u{d800}': ['the escape names no character', 2],
    'a\\u{dfff}': ['the escape names no character', 2],
    'a\\u{110000}': ['the escape names no character', 2],
    'a\\u{ffffffffffffffffffff}': ['the escape names no character', 2],
    'a\\p': ['the escape is not complete', 2],
    'a\\p{L': ['the escape is not complete', 2],
    'a\\p\\d': ['expected a Unicode property', 4],
    'a\\pL': ['Unicode properties need the flag u, as in (?u)', 2],
    'a\\b{': ['the braces are not closed', 2],
    'a\\b{start': ['the braces are not closed', 4],
    'a\\b{start!}': ['the braces are not closed', 4],
    'a\\b{middle}': ['a word boundary is one of: start, end, start-half, end-half', 4],
    'a\\b{A}': ['a word boundary is one of: start, end, start-half, end-half', 4],
    'a\\b{Z}': ['a word boundary is one of: start, end, start-half, end-half', 4],
    'a\\b{a}': ['a word boundary is one of: start, end, start-half, end-half', 4],
    'a\\b{z}': ['a word boundary is one of: start, end, start-half, end-half', 4],
    'a\\b{-}': ['a word boundary is one of: start, end, start-half, end-half', 4],
  };
  for (const [pattern, [text, place]] of Object.entries(faults))
    assert.equal(checkRegex(pattern).fault, `${text}, at character ${place} of the regular expression`, pattern);
});
