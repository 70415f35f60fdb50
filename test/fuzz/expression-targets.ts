/** What holds for expressions and regular expressions, whatever the text. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { encodeText } from '../../packages/expression/bytes.ts';
import { compileExpression } from '../../packages/expression/evaluate/compile.ts';
import { explainExpression } from '../../packages/expression/evaluate/explain.ts';
import { CannotRun, EvaluationError, layoutOf, requestOf, type Value } from '../../packages/expression/evaluate/value.ts';
import { hintsOf } from '../../packages/expression/hints/hints.ts';
import { MAX_CHARACTERS, parseExpression } from '../../packages/expression/parser.ts';
import { printExpression } from '../../packages/expression/print.ts';
import { checkRegex } from '../../packages/expression/regex/check.ts';
import { compileMatcher } from '../../packages/expression/regex/matcher.ts';
import { UnknownProperty } from '../../packages/expression/regex/run/members.ts';
import { programOf, TooLarge } from '../../packages/expression/regex/run/program.ts';
import { simulate } from '../../packages/expression/regex/run/simulate.ts';
import { packagedSchemes } from '../../packages/expression/scheme.ts';
import { evaluatePlain } from '../../packages/expression/test/plain.ts';
import { plainOf, valueOfType } from '../../packages/expression/test/requests.ts';

const { waf_rule, smart_firewall_rule } = packagedSchemes();
const layout = layoutOf(waf_rule);
const field = fc.record(Object.fromEntries(layout.fields.map(({ name, type }) => [name, valueOfType(type)])));
const requests = fc.sample(field, { seed: 29, numRuns: 6 }) as Record<string, Value>[];
/** Characters read for each of the text: see work.test.ts. */
const MOST_STEPS = 64;

/**
 * An expression gets a verdict under both schemes, in linear time; a fault lies inside the text. A valid one is printed and read again as the same
 * tree, has hints, and is true or false as the plain evaluator says and as its explanation says.
 */
export function oneExpression(text: string): void {
  if (Array.from(text).length > MAX_CHARACTERS) return;
  for (const scheme of [waf_rule, smart_firewall_rule]) {
    const result = parseExpression(text, scheme);
    assert.ok(result.steps <= MOST_STEPS * (text.length + 1), `${result.steps} steps`);
    if (!result.ok) {
      const line = text.split('\n')[result.fault.line - 1];
      assert.ok(result.fault.column >= 1 && result.fault.column <= Buffer.byteLength(line) + 1, 'the fault lies inside the text');
      assert.notEqual(result.fault.text, '');
      continue;
    }
    const again = parseExpression(printExpression(result.ast), scheme);
    assert.deepStrictEqual(again.ok && again.ast, result.ast, 'printed and read again');
    for (const hint of hintsOf(result.ast, scheme)) assert.notEqual(hint, '');
    if (scheme === waf_rule) evaluated(result.ast);
  }
}

type Tree = Parameters<typeof compileExpression>[0];

function evaluated(tree: Tree): void {
  let run: ReturnType<typeof compileExpression>;
  try {
    run = compileExpression(tree, layout);
  } catch (error) {
    assert.ok(error instanceof CannotRun, String(error));
    return;
  }
  for (const values of requests) {
    const request = () => requestOf(layout, ({ name }) => values[name]);
    let ours: boolean;
    try {
      ours = run(request());
    } catch (error) {
      assert.ok(error instanceof EvaluationError, String(error));
      explainExpression(tree, layout, request());
      continue;
    }
    assert.equal(explainExpression(tree, layout, request()).value, ours, 'as explained');
    const plain = new Map(Object.entries(values).map(([name, value]) => [name, plainOf(value)]));
    assert.equal(plainTruth(tree, plain) ?? ours, ours, 'as the plain evaluator says');
  }
}

/** Undefined where a regular expression is too large for the plain evaluator. */
function plainTruth(tree: Tree, request: Parameters<typeof evaluatePlain>[1]): boolean | undefined {
  try {
    return evaluatePlain(tree, request);
  } catch (error) {
    if (error instanceof TooLarge) return undefined;
    throw error;
  }
}

/** Values that most assertions, classes and foldings tell apart. */
const VALUES = [
  '',
  'a',
  'ab',
  'aab',
  'b\n',
  'a\r\nb',
  ' a_1 ',
  'Kk\u212a',
  'éÉ',
  '日本',
  '\xff',
  'abcabcabcabc',
  '/path?x=1&y=%41',
  '-01',
  '"\\',
].map((value) => (value === '\xff' ? value : encodeText(value)));
/** What JavaScript's own engine means by as we do. */
const COMMON = /^[a-z0-9 .()|*+?^$]{0,24}$/;

/** A regular expression gets a verdict; the fast matcher agrees with the plain automaton, and in the common syntax with JavaScript. */
export function oneRegex(text: string): void {
  const { tree, fault } = checkRegex(text);
  if (tree === undefined) {
    assert.ok(fault, 'a fault says what');
    return;
  }
  const matcher = compileMatcher(text);
  if (typeof matcher === 'string') return;
  const values = [...VALUES, encodeText(text).slice(0, 40)];
  let program: ReturnType<typeof programOf>;
  try {
    program = programOf(tree, 5000);
  } catch (error) {
    assert.ok(error instanceof TooLarge || error instanceof UnknownProperty, String(error));
    return;
  }
  for (const value of values) assert.equal(matcher(value), simulate(program, value), JSON.stringify(value));
  if (!COMMON.test(text) || text.includes('(?')) return;
  let theirs: RegExp;
  try {
    theirs = new RegExp(text.replaceAll('.', '[^\\n]'));
  } catch {
    return;
  }
  for (const value of VALUES) assert.equal(matcher(value), theirs.test(value), `${JSON.stringify(value)}, as JavaScript says`);
}
