import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultLine } from './fault.ts';
import { parseExpression } from './parser.ts';
import { printExpression } from './print.ts';
import { packagedSchemes } from './scheme.ts';

const { waf_rule: waf } = packagedSchemes();

function printed(text: string): string {
  const result = parseExpression(text, waf);
  return result.ok ? printExpression(result.ast) : faultLine(result.fault);
}

test('2.4 precedence: or, xor, and, not; chains of one operator are one node', () => {
  const [a, b, c, d] = [1, 2, 3, 4].map((n) => `threat.score == ${n}`);
  assert.equal(printed(`(${a} and ${b}) or ${c}`), `${a} and ${b} or ${c}`);
  assert.equal(printed(`${a} or (${b} xor (${c} and ${d}))`), `${a} or ${b} xor ${c} and ${d}`);
  assert.equal(printed(`${a} and (${b} or ${c}) and ${d}`), `${a} and (${b} or ${c}) and ${d}`);
  assert.equal(printed(`${a} and (${b} and ${c})`), `${a} and (${b} and ${c})`);
  assert.equal(printed(`!(${a}) && not(${b} || ${c})`), `not ${a} and not (${b} or ${c})`);
  const chain = parseExpression(`${a} or ${b} or ${c} or ${d}`, waf);
  assert.equal(chain.ok && chain.ast.kind === 'combination' && chain.ast.items.length, 4);
});

test('2.4 literals mean what the engine reads', () => {
  const cases: Record<string, string> = {
    'threat.score == 017': 'threat.score == 15',
    'threat.score == -010': 'threat.score == -10',
    'threat.score == 0x7fffffffffffffff': 'threat.score == 9223372036854775807',
    'threat.score == -9223372036854775808': 'threat.score == -9223372036854775808',
    'threat.score in {80-443 1..2 5..5}': 'threat.score in {80 -443 1..2 5}',
    'http.request.path == "\\x41\\102\\"é"': 'http.request.path == "AB\\"é"',
    'http.request.path == r#"a\\"b"#': 'http.request.path == "a\\\\\\"b"',
    'http.request.path in {61:62 +f-+0}': 'http.request.path in {"ab" "\\x0f\\x00"}',
    'http.request.path ~ "[\\"]\\"\\d"': 'http.request.path matches r#"[\\"]"\\d"#',
    'ip.src in {10/8 1.1.1 ::/127}': 'ip.src in {10.0.0.0..10.255.255.255 1.1.1.0 ::..::1}',
    'starts_with(http.request.path, 6a:62)': 'starts_with(http.request.path, "jb")',
  };
  for (const [text, expected] of Object.entries(cases)) assert.equal(printed(text), expected, text);
});

test('2.4 an argument that three letters cannot tell from a number is tried, and its own fault is lost', () => {
  assert.equal(printed('lower(decode_base64(http.request.path)) == "a"'), 'lower(decode_base64(http.request.path)) == "a"');
  assert.match(printed('lower(decode_base64("x")) == "a"'), /^\(1:7\) expected an argument/);
});

test('2.4 the result names the fields used, in order, and counts the regular expressions', () => {
  const text =
    'threat.score > 1 and any(lower(http.request.headers["a"][*])[*] matches "x") and (threat.score < 9 or http.request.path ~ "y")';
  const result = parseExpression(text, waf);
  assert.ok(result.ok);
  assert.deepEqual(result.fields, ['threat.score', 'http.request.headers', 'http.request.path']);
  assert.equal(result.regexes, 2);
  assert.equal(result.phase, 'request');
});

test('2.4 the phase comes from the tree, not from the text', () => {
  const phase = (text: string) => {
    const result = parseExpression(text, waf);
    return result.ok && result.phase;
  };
  assert.equal(phase('http.request.path contains "http.response.code"'), 'request');
  assert.equal(phase('http.request.path == "/" and not any(lower(http.response.headers["server"][*])[*] == "x")'), 'response');
});

test('2.4 named lists are refused, but only when nothing else is wrong', () => {
  assert.equal(printed('ip.src in $office and threat.score > 1'), '(1:11) named lists are not supported: write the elements in braces');
  assert.match(printed('ip.src in $office and threat.score >'), /^\(1:37\) expected an integer/);
  assert.match(printed('ip.src in $Office'), /^\(1:12\) a list name/);
});

test('2.4 nesting ends at 128, whatever nests', () => {
  const nested = (open: string, close: string, levels: number) => `${open.repeat(levels)}threat.score == 1${close.repeat(levels)}`;
  for (const [open, close] of [
    ['(', ')'],
    ['not ', ''],
    ['!(', ')'],
  ]) {
    const per = open === '!(' ? 2 : 1;
    assert.doesNotMatch(printed(nested(open, close, 128 / per)), /nested deeper/);
    assert.match(printed(nested(open, close, 128 / per + 1)), /nested deeper than 128/);
  }
  const calls = (levels: number) => `${'lower('.repeat(levels)}http.request.path${')'.repeat(levels)} == "a"`;
  assert.doesNotMatch(printed(calls(128)), /^\(/);
  assert.match(printed(calls(129)), /^\(1:774\) nested deeper/);
  const quantified = `${'('.repeat(127)}any(http.request.headers["a"][*] == "x")${')'.repeat(127)}`;
  assert.doesNotMatch(printed(quantified), /^\(/);
  assert.match(printed(`(${quantified})`), /^\(1:132\) nested deeper/);
});

test('2.4 what follows a whole expression is told as what it most likely is', () => {
  const expected = (text: string) => `expected "and", "or", "xor" or the end, found "${text}"`;
  const comparison = 'the left side of this operator is a truth value already and takes no other comparison';
  const faults: Readonly<Record<string, string>> = {
    ...{ '\tand x': 'a tab is no white space here', ' # why': 'comments are not supported', '  // why': 'comments are not supported' },
    ...Object.fromEntries([' AND x', ' OR x', ' XOR x'].map((rest) => [rest, 'operators are lower case: "and", "or", "xor"'])),
    ...Object.fromEntries([' == 1', ' & 1', ' in {1}', ' contains "x"'].map((rest) => [rest, comparison])),
    ...{ ' )': 'the closing parenthesis closes nothing', ')': 'the closing parenthesis closes nothing' },
    ...Object.fromEntries(['ORBIT', 'inside', 'x)', 'x # AND == 1', 'x\t'].map((rest) => [` ${rest}`, expected(rest.trimEnd())])),
    [` ${'😀'.repeat(30)}`]: expected('😀'.repeat(20)),
  };
  for (const [rest, text] of Object.entries(faults)) {
    const result = parseExpression(`\u2003threat.score == 1${rest}`, waf);
    assert.ok(!result.ok, rest);
    assert.deepEqual([result.fault.text, result.fault.column], [text, 21], rest);
  }
});
