import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { compileExpression } from '../evaluate/compile.ts';
import { requestOfJson } from '../evaluate/json-request.ts';
import { EvaluationError, type Layout, layoutOf, MAX_MADE, requestOf } from '../evaluate/value.ts';
import { parseExpression } from '../parser.ts';
import { printExpression } from '../print.ts';
import { packagedSchemes, type SchemeKind } from '../scheme.ts';
import { evaluatePlain } from './plain.ts';
import { plainOf, valueOfType } from './requests.ts';
import { truth } from './trees.ts';

const schemes = packagedSchemes();
const layouts = Object.fromEntries(Object.values(schemes).map((scheme) => [scheme.kind, layoutOf(scheme)])) as Record<SchemeKind, Layout>;

interface Labelled {
  readonly id: number;
  readonly scheme: SchemeKind;
  readonly expression: string;
  readonly request: Record<string, unknown>;
  readonly result?: boolean;
  readonly error?: 'panic';
}

function evaluate(kind: SchemeKind, expression: string, request: Record<string, unknown>): boolean | string {
  const parsed = parseExpression(expression, schemes[kind]);
  assert.ok(parsed.ok, expression);
  try {
    return compileExpression(parsed.ast, layouts[kind])(requestOfJson(layouts[kind], request));
  } catch (error) {
    if (error instanceof EvaluationError) return error.code;
    throw error;
  }
}

test('D19.1, D19.2, D19.3, D19.4, D19.5, D19.6 every labelled pair of expression and request gets what the engine says', () => {
  const file = gunzipSync(readFileSync(new URL('fixtures/evaluations.jsonl.gz', import.meta.url))).toString('utf8');
  const pairs = file
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Labelled);
  assert.equal(pairs.length, 10_024);
  for (const { id, scheme, expression, request, result, error } of pairs) {
    assert.equal(evaluate(scheme, expression, request), error ?? result, `${id} ${expression}`);
  }
});

test('D19.1, D19.2, D19.3, D19.4, D19.5, D19.6 random trees give what a second, plain evaluator gives', () => {
  const { fields } = layouts.waf_rule;
  const request = fc.record(Object.fromEntries(fields.map((field) => [field.name, valueOfType(field.type)])));
  let truths = 0;
  const property = fc.property(truth(3), fc.array(request, { minLength: 4, maxLength: 4 }), (tree, requests) => {
    const run = compileExpression(tree, layouts.waf_rule);
    for (const values of requests) {
      const plain = new Map(Object.entries(values).map(([name, value]) => [name, plainOf(value)]));
      const expected = evaluatePlain(tree, plain);
      if (expected) truths++;
      assert.equal(run(requestOf(layouts.waf_rule, (field) => values[field.name])), expected, printExpression(tree));
    }
  });
  fc.assert(property, { seed: 20265, numRuns: 800 });
  assert.ok(truths > 300 && truths < 2900, `${truths} are true`);
});

test('D19.7 a value of a request that is of another type is named; what is absent has its default', () => {
  const first = (value: unknown) => {
    const parsed = parseExpression('http.request.port == 0', schemes.waf_rule);
    assert.ok(parsed.ok);
    return compileExpression(parsed.ast, layouts.waf_rule)(requestOfJson(layouts.waf_rule, { 'http.request.port': value }));
  };
  assert.throws(() => first(1.5), { code: 'request', message: /^http\.request\.port must be an integer/ });
  assert.throws(() => first('9223372036854775808'), { code: 'request' });
  assert.equal(first(undefined), true);
});

const PATH = 'http.request.path';
const GROUP = '$'.concat('{1}');

test('D19.8 values that functions blow up are refused in time', () => {
  const grow = (depth: number, inner: string): string =>
    depth === 0 ? inner : `wildcard_replace(${grow(depth - 1, inner)}, "*z", "${GROUP.repeat(15)}z")`;
  const cases: [expression: string, request: Record<string, unknown>][] = [
    [`len(${grow(40, PATH)}) > 0`, { [PATH]: `${'a'.repeat(1000)}z` }],
    [
      `any(concat(http.request.headers["x"][*], ${PATH})[*] == "a")`,
      { [PATH]: 'a'.repeat(100_000), 'http.request.headers': { x: new Array(5000).fill('a') } },
    ],
  ];
  for (const [expression, request] of cases) {
    assert.ok(expression.length <= 4096);
    const start = performance.now();
    assert.equal(evaluate('waf_rule', expression, request), 'budget');
    assert.ok(performance.now() - start < 10_000);
  }
  const most = MAX_MADE / 2;
  assert.equal(evaluate('waf_rule', `len(concat(${PATH}, ${PATH})) == ${2 * most}`, { [PATH]: 'a'.repeat(most) }), true);
});

test('D19.8 hostile literals do not make comparisons slow', () => {
  const needle = `${'a'.repeat(1900)}b${'a'.repeat(1900)}`;
  const value = 'a'.repeat(1_000_000);
  for (const expression of [
    `${PATH} contains "${needle}"`,
    `${PATH} matches "${needle}"`,
    `${PATH} wildcard "*${needle}*"`,
    `${PATH} wildcard "${'*a'.repeat(1900)}*b*"`,
    `wildcard_replace(${PATH}, "*${needle}", "") == ""`,
    `wildcard_replace(${PATH}, "*${'?a'.repeat(1900)}b", "") == ""`,
    `url_decode(${PATH}, "r") == "b"`,
    `json_lookup_string(${PATH}, "a") == "b"`,
  ]) {
    const start = performance.now();
    assert.equal(evaluate('waf_rule', expression, { [PATH]: value }), false, expression.slice(0, 60));
    assert.ok(performance.now() - start < 10_000, `${expression.slice(0, 60)}: ${performance.now() - start} ms`);
  }
});
