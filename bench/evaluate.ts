/**
 * What evaluating filter expressions costs, on one core: `node bench/evaluate.ts [--rounds 5]`.
 * 1. 99 realistic rules on 10,000 requests, regular expressions included: evaluations a second; compiling all 99.
 * 2. One rule more with `wildcard_replace`.
 * 3. Hostile patterns: milliseconds for a value of 8 KiB.
 * Times are those of the processor, so what else runs does not count.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { compileExpression } from '@weir/expression/evaluate/compile.ts';
import type { Run } from '@weir/expression/evaluate/compiler.ts';
import { requestOfJson } from '@weir/expression/evaluate/json-request.ts';
import { layoutOf } from '@weir/expression/evaluate/value.ts';
import { parseExpression } from '@weir/expression/parser.ts';
import { compileMatcher } from '@weir/expression/regex/matcher.ts';
import { packagedSchemes } from '@weir/expression/scheme.ts';
import { printTable, quantile } from './support/load.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } });
const ROUNDS = Number(values.rounds);
const TARGET_RATE = 400_000;
const TARGET_COMPILE = 30;
const TARGET_HOSTILE = 5;

interface Pair {
  readonly scheme: string;
  readonly expression: string;
  readonly request: Record<string, unknown>;
  readonly tags: readonly string[];
}

const scheme = packagedSchemes().waf_rule;
const layout = layoutOf(scheme);
const file = new URL('../packages/expression/test/fixtures/evaluations.jsonl.gz', import.meta.url);
const pairs = gunzipSync(readFileSync(file))
  .toString('utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Pair)
  .filter(({ scheme, tags }) => scheme === 'waf_rule' && tags.includes('realistic'));
const REPLACING = 'wildcard_replace(http.request.path, "/old/*/x", "/new/$1") == "/new/a"';
const realistic = [...new Set(pairs.map(({ expression }) => expression))].filter((expression) => !expression.includes('wildcard_replace'));
const rules = realistic.slice(0, 99);
const requests = Array.from({ length: 10_000 }, (_, i) => pairs[i % pairs.length].request);

/** Milliseconds that this thread has worked. */
function worked(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function compileAll(): Run[] {
  return rules.map((expression) => {
    const parsed = parseExpression(expression, scheme);
    if (!parsed.ok) throw new Error(expression);
    return compileExpression(parsed.ast, layout);
  });
}

/** Evaluations a second; every round has requests whose values are not converted yet. */
function rate(runs: readonly Run[]): number {
  const fresh = requests.map((request) => requestOfJson(layout, request));
  const start = worked();
  let matched = 0;
  for (const request of fresh) for (const run of runs) if (run(request)) matched++;
  if (matched === 0) throw new Error('nothing matched');
  return (runs.length * fresh.length * 1000) / (worked() - start);
}

const compile: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  const start = worked();
  compileAll();
  compile.push(worked() - start);
}
const runs = compileAll();
const rates = Array.from({ length: ROUNDS }, () => rate(runs));
const parsed = parseExpression(REPLACING, scheme);
if (!parsed.ok) throw new Error(REPLACING);
const withReplace = [...runs, compileExpression(parsed.ast, layout)];
const replaced = Array.from({ length: ROUNDS }, () => rate(withReplace));

const round = (value: number) => Math.round(value).toLocaleString('en');
const range = (list: readonly number[]) => `${round(quantile([...list], 0.5))} (${round(Math.min(...list))}–${round(Math.max(...list))})`;
const regexes = rules.filter((expression) => / matches | ~ /.test(expression)).length;
console.log(`rules: ${rules.length}, ${regexes} with a regular expression; requests: ${requests.length}`);
printTable([
  ['figure', 'median (range)', 'limit'],
  ['evaluations a second', range(rates), `≥ ${round(TARGET_RATE)}`],
  ['with a wildcard_replace', range(replaced), ''],
  ['compile of all, first, ms', compile[0].toFixed(1), `≤ ${TARGET_COMPILE}`],
  ['compile of all, warm, ms', quantile([...compile.slice(1)], 0.5).toFixed(1), ''],
]);

const A = 'a'.repeat(8192);
const HOSTILE: readonly [name: string, pattern: string, value: string][] = [
  ['(a+)+$', '(a+)+$', `${A.slice(1)}!`],
  ['(a|a)*b', '(a|a)*b', A],
  ['4,096 characters of a?', 'a?'.repeat(2048), A],
  ['4,096 characters of (a|b)', `${'(a|b)'.repeat(800)}c`, A],
  ['a{1,1000}b', 'a{1,1000}b', A],
  ['(a{1,30}){1,30}b', '(a{1,30}){1,30}b', A],
  ['[ab]*a[ab]{200}c', '[ab]*a[ab]{200}c', 'ab'.repeat(4096)],
  ['(?u)(\\p{L}+)+\\d', '(?u)(\\p{L}+)+\\d', A],
];
console.log();
printTable([
  ['hostile pattern, ms for 8 KiB', 'first', 'median', `limit ${TARGET_HOSTILE}`],
  ...HOSTILE.map(([name, pattern, value]) => {
    const matcher = compileMatcher(pattern);
    if (typeof matcher === 'string') return [name, matcher, '', ''];
    const times = Array.from({ length: ROUNDS }, () => {
      const start = worked();
      matcher(value);
      return worked() - start;
    });
    return [name, times[0].toFixed(2), quantile([...times], 0.5).toFixed(2), ''];
  }),
]);
