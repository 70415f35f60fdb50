import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseExpression } from '../parser.ts';
import { printExpression } from '../print.ts';
import { loadSchemes, packagedSchemes, type SchemeKind } from '../scheme.ts';
import { expressions } from './corpus.ts';
import { truth } from './trees.ts';

const schemes = packagedSchemes();
const valid = expressions.filter(({ kind, expression }) => parseExpression(expression, schemes[kind]).ok);

/** A verdict without a throw: its shape is checked, for a fault also that it lies inside the text. */
function judge(text: string, kind: SchemeKind): boolean {
  const result = parseExpression(text, schemes[kind]);
  if (result.ok) return true;
  const line = text.split('\n')[result.fault.line - 1];
  assert.ok(result.fault.column >= 1 && result.fault.column <= Buffer.byteLength(line) + 1, text);
  assert.notEqual(result.fault.text, '');
  return false;
}

test('2.4 a printed tree parses to the same tree', () => {
  const property = fc.property(truth(3), (tree) => {
    const text = printExpression(tree);
    const result = parseExpression(text, schemes.waf_rule);
    assert.ok(result.ok, `${text}\n${result.ok ? '' : result.fault.text}`);
    assert.deepStrictEqual(result.ast, tree, text);
  });
  fc.assert(property, { seed: 20261, numRuns: 1500 });
});

test('2.4 every valid expression, printed, parses to the same tree', () => {
  for (const { kind, expression } of valid) {
    const first = parseExpression(expression, schemes[kind]);
    assert.ok(first.ok);
    const again = parseExpression(printExpression(first.ast), schemes[kind]);
    assert.deepStrictEqual(again.ok && again.ast, first.ast, expression);
  }
});

test('2.4 every prefix of a valid expression gets a verdict', () => {
  let refused = 0;
  for (const { kind, expression } of valid) {
    // Of the few very long ones, every sixteenth.
    const step = expression.length > 512 ? 16 : 1;
    for (let end = 0; end < expression.length; end += step) if (!judge(expression.slice(0, end), kind)) refused++;
  }
  assert.ok(refused > 1000);
});

test('2.4 every expression with one byte changed gets a verdict', () => {
  const random = fc.sample(fc.nat(255), { seed: 20262, numRuns: 4096 });
  let next = 0;
  let accepted = 0;
  for (const { kind, expression } of valid) {
    const bytes = Buffer.from(expression);
    const step = bytes.length > 512 ? 64 : 1;
    for (let at = 0; at < bytes.length; at += step) {
      const original = bytes[at];
      for (let times = 0; times < 4; times++) {
        bytes[at] = random[next++ % random.length];
        if (judge(bytes.toString('utf8'), kind)) accepted++;
      }
      bytes[at] = original;
    }
  }
  assert.ok(accepted > 1000);
});

test('2.4 no text makes the parser throw', () => {
  const piece = fc.oneof(
    fc.constantFrom(...'"\\()[]{}*$#.,:/-+~^&|!=<> \n\t0129afrx'),
    fc.constantFrom(
      'not',
      'any(',
      'and',
      'or',
      'in',
      ' in {',
      'matches',
      ' == ',
      'r#"',
      '\\x',
      'lower(',
      'decode_base64(',
      'ip.src',
      'http.request.path',
    ),
    fc.constantFrom('http.request.headers', '[*]', '["a"]', '..', '0x', '(?', '[[:', '\ud83d', '\u0000', 'é', '😀'),
  );
  const property = fc.property(
    fc.array(piece, { maxLength: 24 }),
    fc.constantFrom('waf_rule' as const, 'smart_firewall_rule' as const),
    (pieces, kind) => {
      parseExpression(pieces.join(''), schemes[kind]);
    },
  );
  fc.assert(property, { seed: 20263, numRuns: 20_000 });
});

test("2.4 no operator's scheme file makes the loader or the parser throw", () => {
  const type = fc.constantFrom(
    'Bool',
    'Int',
    'Ip',
    'Bytes',
    'Array(Bool)',
    'Array(Array(Bool))',
    'Map(Bool)',
    'Map(Map(Int))',
    'Set(Int)',
    '',
    `${'Array('.repeat(5000)}Int`,
  );
  const argument = fc.oneof(
    type,
    fc.constantFrom('any', 'any...', 'field any', '[literal Int]', 'literal Bytes|Int...', 'field Bytes|Array(_)', '[any...]', '|', 'x'),
  );
  const entry = fc.record({
    name: fc.constantFrom('f', 'decode', 'lower', 'any', '__proto__', ''),
    args: fc.array(argument, { maxLength: 3 }),
    returns: fc.oneof(type, fc.constant('type of first')),
  });
  const field = fc.dictionary(
    fc.constantFrom('f', 'abc', 'x.y', '__proto__', 'notes', '9'),
    fc.oneof(fc.record({ type, phase: fc.constantFrom('request', 'response', undefined) }), fc.jsonValue()),
  );
  const file = fc.oneof(
    fc.jsonValue(),
    fc.record({ waf_rule: field, functions: fc.array(fc.oneof(entry, fc.jsonValue()), { maxLength: 3 }) }, { requiredKeys: [] }),
  );
  let loaded = 0;
  const property = fc.property(
    file,
    fc.constantFrom(
      'f(abc)',
      'any(f(x.y[*])[*])',
      'f(x.y[*], 1, "a")[0] == 1',
      'abc[*][*]',
      'x.y["a"]["b"] == 1',
      'f()',
      'lower(abc) == "x"',
    ),
    (json, text) => {
      const result = loadSchemes(json);
      if (Array.isArray(result)) {
        assert.ok(result.length > 0 && result.every((line) => typeof line === 'string' && !line.includes('\n')));
        return;
      }
      loaded++;
      parseExpression(text, result.waf_rule);
    },
  );
  fc.assert(property, { seed: 20264, numRuns: 3000 });
  assert.ok(loaded > 100);
});
