/** What functions and operators give for single values at the edges of what they take. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileExpression } from '../evaluate/compile.ts';
import { requestOfJson } from '../evaluate/json-request.ts';
import { layoutOf } from '../evaluate/value.ts';
import { parseExpression } from '../parser.ts';
import { packagedSchemes } from '../scheme.ts';

const { waf_rule: scheme } = packagedSchemes();
const layout = layoutOf(scheme);
const FIELD = 'http.request.path';

/** Whether an expression, in which `p` stands for the value, is true. */
function isTrue(expression: string, value: unknown): boolean {
  const parsed = parseExpression(expression.replace(/\bp\b/, FIELD), scheme);
  assert.ok(parsed.ok, expression);
  return compileExpression(
    parsed.ast,
    layout,
  )(requestOfJson(layout, { [FIELD]: value, 'http.request.content_length': value, 'ip.src': '2001:db8::ffff' }));
}

const bytes = (hex: string) => ({ base64: Buffer.from(hex, 'hex').toString('base64') });
const TEXT = 'json_lookup_string(p, "a") == "x"';
const INTEGER = (value: string) => `json_lookup_integer(p, "a") == ${value}`;
const ANY = 'json_lookup_integer(p, "a") >= -9223372036854775808';

const ROWS: Readonly<Record<string, readonly (readonly [expression: string, value: unknown, expected: boolean])[]>> = {
  'D19.5 json_lookup_string: one JSON text, read strictly': [
    [TEXT, '{"f":false,"t":true,"n":null,"a":"x"}', true],
    [TEXT, '{"f":falsy,"a":"x"}', false],
    [TEXT, '{"n":nul,"a":"x"}', false],
    [TEXT, ' \t\r\n{ "b" : [ [ 1 , -2.5e3 ] , { "a" : "y" } ] , "a" : "x" }\n', true],
    [TEXT, '{"b":"\\"\\u00e9","a":"x"}', true],
    [TEXT, '{"a":"y","a":"x"}', true],
    [TEXT, '{"a":"x"}x', false],
    [TEXT, '{"a":"x",}', false],
    [TEXT, '{a:"x"}', false],
    [TEXT, '{xa":"x"}', false],
    [TEXT, '{"a""x"}', false],
    [TEXT, '{"a":"x","b":01}', false],
    [TEXT, '{"a":"x","b":1e400}', false],
    ['json_lookup_string(p, 1, "a") == "x"', '[{"a":"y"},{"a":"x"},{"a":"z"}]', true],
    ['json_lookup_string(p, 0) == "x"', '[["x"],"x"]', false],
    ['json_lookup_string(p, "a") == "😀\\x0aA"', '{"a":"\\ud83d\\ude00\\n\\u0041"}', true],
    ['json_lookup_string(p, "a") contains ""', '{"a":"\\ud83d"}', false],
    ['json_lookup_string(p, "a") contains ""', '{"a":"\\ude00\\ude00"}', false],
    ['json_lookup_string(p, "a") contains ""', '{"a":"\\ud83d\\u0041"}', false],
    ['json_lookup_string(p, "a") contains ""', '{"a":"\\x41"}', false],
  ],
  'D19.5 json_lookup_integer: integers of 64 bits as they are written': [
    [INTEGER('9223372036854775807'), '{"a":9223372036854775807}', true],
    [INTEGER('-9223372036854775808'), '{"a":-9223372036854775808}', true],
    [INTEGER('9007199254740993'), '{"a":9007199254740993}', true],
    [INTEGER('9007199254740992'), '{"a":9007199254740993}', false],
    ...['9223372036854775808', '-9223372036854775809', '100000000000000000000', '1.0', '1e2', '-0', '"1"'].map(
      (number) => [ANY, `{"a":${number}}`, false] as const,
    ),
  ],
  'D19.5 wildcard_replace: a question mark is one character of UTF-8': [
    ...['61', 'c280', 'c3a9', 'e0a080', 'e697a5', 'ed9fbf', 'ee8080', 'f0908080', 'f09f9880', 'f48fbfbf'].map(
      (hex) => ['wildcard_replace(p, "?", "x") == "x"', bytes(hex), true] as const,
    ),
    ...['0a', '80', 'c1bf', 'c3', 'c341', 'e09fbf', 'e69741', 'eda080', 'edbfbf', 'f08fbfbf', 'f4908080', 'f5808080', 'f09f98'].map(
      (hex) => ['wildcard_replace(p, "?", "x") contains "x"', bytes(hex), false] as const,
    ),
    ['wildcard_replace(p, "?é*b", "<$'.concat('{1}>") == "<c\\xe6\\x97\\xa5>d"'), 'aéc日bd', true],
    ['wildcard_replace(p, "*b", "x") contains "x"', 'a\nb', false],
    ['wildcard_replace(p, "ÉK", "x") == "x"', 'éK', false],
    ['wildcard_replace(p, "ÉK?k", "x", "i") == "x"', 'éKzK', true],
    ['wildcard_replace(p, "ÉK", "x", "s") == "x"', 'éK', false],
    ['wildcard_replace(p, "*'.concat('ab'.repeat(40), '", "x") == "xc"'), `${'ab'.repeat(60)}c`, false],
    ['wildcard_replace(p, "*'.concat('ab'.repeat(40), 'c", "x") == "xd"'), `${'ab'.repeat(60)}cd`, true],
  ],
  'D19.5 decode_base64 is strict': [
    ['decode_base64(p) == "A"', 'QQ==', true],
    ['decode_base64(p) == "AB"', 'QUI=', true],
    ...['QR==', 'QUJ=', 'QQ=', 'QQ', 'Q===', 'QU!=', ' QQ='].map((text) => ['decode_base64(p) == ""', text, true] as const),
    ['len(decode_base64(p)) == 30001', Buffer.alloc(30_001, 'a').toString('base64'), true],
  ],
  'D19.5 url_decode decodes ten times at most': [
    ['url_decode(p, "r") == "A"', `%${'25'.repeat(9)}41`, true],
    ['url_decode(p, "r") == "%41"', `%${'25'.repeat(10)}41`, true],
    ['url_decode(p) == "%41 "', '%2541+', true],
    ['url_decode(p, "u") == "é%ud800"', '%u00e9%ud800', true],
  ],
  'D19.5 cidr: no bit of a longer prefix is kept': [
    ['cidr(ip.src, 24, 128) == 2001:db8::ffff', '', true],
    ['cidr(ip.src, 24, 127) == 2001:db8::fffe', '', true],
    ['cidr(ip.src, 24, 129) == ::', '', true],
  ],
  'D19.5 remove_query_args compares whole names': [['remove_query_args(p, "a", "b") == "c=1&ab=2"', 'a&c=1&b=2&ab=2&a=', true]],
};

for (const [title, rows] of Object.entries(ROWS)) {
  test(title, () => {
    for (const [expression, value, expected] of rows) {
      assert.equal(isTrue(expression, value), expected, `${expression.slice(0, 100)} of ${JSON.stringify(value).slice(0, 100)}`);
    }
  });
}

test('D19.6 & of 64 bits', () => {
  for (const [right, value, expected] of [
    ['1', 4294967297, true],
    ['1', 4294967296, false],
    ['4294967296', 4294967296, true],
    ['4294967296', 1, false],
    ['2147483648', 2147483648, true],
    ['2147483648', -1, true],
    ['-9223372036854775808', -1, true],
    ['-9223372036854775808', 1, false],
    ['-1', '9223372036854775807', true],
    ['-1', 1099511627776, true],
    ['9007199254740993', '9007199254740992', true],
  ] as const) {
    assert.equal(isTrue(`http.request.content_length & ${right}`, value), expected, `${value} & ${right}`);
  }
});

test('D19.7 bytes in base64 are refused where they are none', () => {
  assert.equal(isTrue('p == ""', { base64: '' }), true);
  for (const value of [{ base64: '!' }, { base64: 'QQ=' }, { base64: 7 }, {}, [], 7]) {
    assert.throws(() => isTrue('p == ""', value), { code: 'request' }, JSON.stringify(value));
  }
});
