import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkRegex } from './check.ts';

const faultOf = (pattern: string) => checkRegex(pattern).fault;

test('2.4 hostile patterns are refused or accepted without deep stacks', () => {
  for (const unit of ['(', '[', '(?:', '[^', 'a|', '(?i)(']) assert.doesNotThrow(() => checkRegex(unit.repeat(100_000)), unit);
  assert.match(faultOf(`${'('.repeat(100_000)}${')'.repeat(100_000)}`)!, /nested deeper than 250/);
  assert.match(faultOf(`a${'*'.repeat(100_000)}`)!, /nested deeper than 250/);
  assert.match(faultOf(`${'['.repeat(1000)}a${']'.repeat(1000)}`)!, /nested deeper than 250/);
});

test('2.4 nesting counts groups, sequences, branches, repetitions and classes, as the engine does', () => {
  assert.equal(faultOf(`${'('.repeat(250)}${')'.repeat(250)}`), null);
  assert.notEqual(faultOf(`${'('.repeat(251)}${')'.repeat(251)}`), null);
  assert.equal(faultOf(`${'(a'.repeat(125)}${')'.repeat(125)}`), null);
  assert.notEqual(faultOf(`${'(a'.repeat(126)}${')'.repeat(126)}`), null);
  assert.equal(faultOf(`a${'*'.repeat(250)}`), null);
  assert.notEqual(faultOf(`a${'*'.repeat(251)}`), null);
  assert.equal(faultOf(`[a${'&&a'.repeat(249)}]`), null);
  assert.notEqual(faultOf(`[a${'&&a'.repeat(250)}]`), null);
});

test('2.4 repetitions whose automaton would be too large are refused', () => {
  for (const pattern of [
    'a{300000}',
    '[a-z]{100000}',
    '(?:){4294967295}',
    '(?:^|$){99999999}',
    '(?:a{1000}){300}',
    'a{0}{4294967295}',
    '(?u)\\w{200}',
  ])
    assert.equal(faultOf(pattern), null, pattern);
  const large = [
    'a{400000}',
    '(?:a{1000}){1000}',
    '([a-z]{100000}){2}',
    'a{4294967295}',
    `a${'{9999}'.repeat(200)}`,
    '(?u)\\w{1000}',
    '(?:a|b*){200000}',
  ];
  for (const pattern of large) assert.match(faultOf(pattern)!, /too large/, pattern);
});

test('2.4 a fault of a pattern names the character', () => {
  assert.equal(faultOf('é😀(?=a)'), 'look-around is not supported, at character 3 of the regular expression');
  assert.match(faultOf('a{1,')!, /at character 2 /);
});

test('2.4 flags end with their group', () => {
  assert.equal(faultOf('(?u)\\pL|\\pL'), null);
  assert.equal(faultOf('((?u)\\pL)a'), null);
  assert.notEqual(faultOf('((?u)\\pL)\\pL'), null);
  assert.equal(faultOf('(?x: a # )\n)'), null);
  assert.notEqual(faultOf('(?x: a) # )'), null);
});

test('2.4 Unicode properties are known by loose names', () => {
  for (const name of [
    'Greek',
    'is_greek',
    'GREEK',
    'sc=Grek',
    'Script Extensions:Deva',
    'gc!=Lu',
    'age=16.0',
    'wb=ZWJ',
    'ExtPict',
    'Todhri',
  ])
    assert.equal(faultOf(`(?u)\\p{${name}}`), null, name);
  for (const name of ['', 'Grek1', 'cs', 'age=99', 'alpha=yes', 'block=Thai', 'isc', 'hrkt'])
    assert.notEqual(faultOf(`(?u)\\p{${name}}`), null, name);
});
