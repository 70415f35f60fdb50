import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_CHARACTERS, parseExpression } from '../parser.ts';
import { packagedSchemes } from '../scheme.ts';
import { expressions } from './corpus.ts';

const schemes = packagedSchemes();
const MOST_STEPS = 64;

/** `before`, then `unit` as often as fits, then `after`: 4,096 characters in all. */
function fill(before: string, unit: string, after = ''): string {
  const room = MAX_CHARACTERS - before.length - after.length;
  return (before + unit.repeat(Math.floor(room / unit.length)) + after).padEnd(MAX_CHARACTERS, ' ');
}

const PATH = 'http.request.path';
const matches = (before: string, unit: string, after = '') => fill(`${PATH} matches r###"${before}`, unit, `${after}"###`);

/** The worst that we know for each production. */
const WORST: Readonly<Record<string, string>> = {
  'white space': fill('threat.score', ' ', '== 1'),
  'white space around': fill('', '\u2003', 'threat.score == 1'),
  parentheses: fill('', '('),
  'parentheses with white space': fill('', '(   '),
  'white space before closing parentheses': fill(`${'('.repeat(128)}threat.score == 1`, ` ${' '.repeat(28)})`),
  negations: fill('', 'not '),
  'glued negations': fill('', '!'),
  'operands of one operator': fill('threat.score == 1', ' or threat.score == 1'),
  'operands of all operators': fill('threat.score == 1', ' or threat.score&1 and threat.score in{} xor ip.src in{}'),
  'an operator without operands': fill('threat.score == 1 ', 'and '),
  'an identifier': fill('', 'a'),
  'a dotted identifier': fill('', 'a.'),
  'a near miss': fill('http.request.', 'path'),
  calls: fill('', 'lower('),
  'calls that are tried as literals': fill('', 'decode_base64('),
  'calls that are tried as literals, and fail': fill('decode_base64(', 'decode_base64( ', '!'),
  arguments: fill('concat("a"', ',"a"', ') == "a"'),
  'arguments that are tried as everything': fill('concat("a"', ',aa', ')'),
  'arguments that are addresses': fill('concat("a"', ',::1', ')'),
  'an argument of address characters': fill('lower(', '1:'),
  'an argument of digits': fill('substring(http.request.path, ', '1', ')'),
  'an argument of white space': fill('lower(', ' ', 'http.request.path) == "a"'),
  quantifiers: fill('', 'any('),
  'quantifiers far from their parentheses': fill('', 'any      ('),
  'a quantifier without parentheses': fill('any', ' '),
  indexes: fill('http.request.headers["a"]', '[0]'),
  'an index of white space': fill('http.request.headers[', ' ', '"a"][0] == "a"'),
  'an index of digits': fill('http.request.headers["a"][', '0', '] == "a"'),
  'a decimal integer': fill('threat.score == ', '9'),
  'an octal integer': fill('threat.score == ', '0'),
  'a hexadecimal integer': fill('threat.score == 0x', 'f'),
  'a list of integers': fill('threat.score in {', '1-', '1}'),
  'a list of ranges': fill('threat.score in {', '1..2 ', '}'),
  'a list of addresses': fill('ip.src in {', '1.1.1.1 ', '}'),
  'a list of networks': fill('ip.src in {', '::/0 ', '}'),
  'an address': fill('ip.src == ', '1'),
  'an address of dots': fill('ip.src in {', '.'),
  'an address of colons': fill('ip.src in {', ':'),
  'an address of zeros': fill('ip.src in {', '0', '}'),
  'a prefix length of zeros': fill('ip.src in {::/', '0', '}'),
  'a string': fill(`${PATH} == "`, 'a', '"'),
  'a string of escapes': fill(`${PATH} == "`, '\\\\', '"'),
  'a string of other characters': fill(`${PATH} == "`, '日', '"'),
  'a string without end': fill(`${PATH} == "`, '\\"'),
  'a raw string of quotes': fill(`${PATH} == r###"`, '"##', '"###'),
  'a raw string without end': fill(`${PATH} == r##"`, '"#'),
  hashes: fill(`${PATH} == r`, '#'),
  'bytes in hexadecimal': fill(`${PATH} == 00`, ':00'),
  'a list of strings': fill(`${PATH} in {`, '""', '}'),
  'a wildcard': fill(`${PATH} wildcard "`, '*a', '"'),
  'a list name': fill('ip.src in $', 'a'),
  'a quoted regex': fill(`${PATH} matches "`, '\\"', '"'),
  regexes: fill(`${PATH}~""`, ` or ${PATH}~""`),
  'regex: characters': matches('', 'a'),
  'regex: groups': matches('', '('),
  'regex: nested groups': matches('('.repeat(1200), 'a', ')'.repeat(1200)),
  'regex: branches': matches('', '|'),
  'regex: repetitions': matches('a', '*'),
  'regex: counted repetitions': matches('a', '{9,}'),
  'regex: digits of a repetition': matches('a{', '9', '}'),
  'regex: classes': matches('', '['),
  'regex: a class of names': matches('[', '[:alpha:]', ']'),
  'regex: a class of half names': matches('[', '[:'),
  'regex: operators of a class': matches('[a', '&&a', ']'),
  'regex: ranges': matches('[', 'a-b', ']'),
  'regex: verbose ranges': matches('(?x)[', 'a -  ', ']'),
  'regex: verbose white space in a class': matches('(?x)[a-', ' ', 'b]'),
  'regex: comments': matches('(?x)', '#\n'),
  'regex: a comment': matches('(?x)#', 'a'),
  'regex: flags': matches('', '(?i)'),
  'regex: names': matches('', '(?<a>)'),
  'regex: a name': matches('(?<', 'a', '>)'),
  'regex: hexadecimal escapes': matches('', '\\x{0}'),
  'regex: a hexadecimal escape': matches('\\x{', '0', '}'),
  'regex: properties': matches('(?u)', '\\pL'),
  'regex: a property': matches('(?u)\\p{', ' ', 'L}'),
  'regex: word boundaries': matches('', '\\b{1}'),
  'regex: verbose word boundaries': matches('(?x)', '\\b{      1}'),
};

for (const [production, text] of Object.entries(WORST)) {
  test(`2.4 the work is linear: ${production}`, () => {
    assert.equal(Array.from(text).length, MAX_CHARACTERS);
    const { steps } = parseExpression(text, schemes.waf_rule);
    assert.ok(steps <= MOST_STEPS * text.length, `${steps} steps`);
  });
}

test('2.4 the counter of steps misses nothing: a good expression is looked at whole', () => {
  for (const { kind, expression } of expressions) {
    const result = parseExpression(expression, schemes[kind]);
    if (result.ok) assert.ok(result.steps >= expression.trim().length, expression);
    assert.ok(result.steps <= MOST_STEPS * (expression.length + 1), expression);
  }
});
