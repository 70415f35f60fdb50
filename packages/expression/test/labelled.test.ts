import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseExpression } from '../parser.ts';
import { checkRegex } from '../regex/check.ts';
import { packagedSchemes } from '../scheme.ts';
import { expressions, regexes } from './corpus.ts';

const schemes = packagedSchemes();
const certain = expressions.filter(({ doubtful }) => doubtful !== true);

test('2.4 every certain expression gets the verdict of the engine', () => {
  assert.ok(certain.length > 600);
  for (const { kind, expression, valid } of certain) {
    const result = parseExpression(expression, schemes[kind]);
    assert.equal(result.ok, valid, `${expression}\n${result.ok ? 'accepted' : result.fault.text}`);
  }
});

test('2.4 of the doubtful expressions only named lists get another verdict', () => {
  const others = expressions.filter(({ kind, expression, valid }) => parseExpression(expression, schemes[kind]).ok !== valid);
  assert.ok(others.length > 0);
  for (const { kind, expression } of others) {
    const result = parseExpression(expression, schemes[kind]);
    assert.match(result.ok ? '' : result.fault.text, /^named lists are not supported/, expression);
  }
});

test('4.2 every fault is on the line and byte where the engine finds it', () => {
  const faulty = expressions.filter(({ valid }) => !valid);
  assert.ok(faulty.length > 300);
  for (const { kind, expression, line, column } of faulty) {
    const result = parseExpression(expression, schemes[kind]);
    assert.ok(!result.ok, expression);
    assert.deepEqual([result.fault.line, result.fault.column], [line, column], expression);
    assert.ok(result.fault.length >= 1);
    assert.doesNotMatch(result.fault.text, /\n/, 'a fault is one line');
  }
});

test('2.4 the phase is detected from the tree', () => {
  const phased = certain.filter(({ valid, phase }) => valid && phase !== undefined);
  assert.ok(phased.some(({ phase }) => phase === 'response'));
  for (const { kind, expression, phase } of phased) {
    const result = parseExpression(expression, schemes[kind]);
    assert.equal(result.ok && result.phase, phase, expression);
  }
});

test('2.4 every regular expression gets the verdict of the engine', () => {
  assert.ok(regexes.length > 250);
  for (const { pattern, valid } of regexes) {
    const { fault } = checkRegex(pattern);
    assert.equal(fault === null, valid, `${pattern}\n${fault}`);
  }
});
