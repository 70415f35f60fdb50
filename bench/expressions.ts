/**
 * How many filter expressions a second one core parses: the valid ones of the labelled file, of at most 200 characters, warm.
 * `node bench/expressions.ts [seconds]`
 */
import { readFileSync } from 'node:fs';
import { parseExpression } from '../src/expression/parser.ts';
import { packagedSchemes, type SchemeKind } from '../src/expression/scheme.ts';

interface Labelled {
  readonly kind: SchemeKind;
  readonly expression: string;
  readonly valid: boolean;
}

const TARGET = 150_000;
const seconds = Number(process.argv[2] ?? 3);
const schemes = packagedSchemes();
const file = new URL('../test/fixtures/expressions/expressions.jsonl', import.meta.url);
const work = readFileSync(file, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Labelled)
  .filter(({ valid, expression }) => valid && expression.length <= 200)
  .map(({ kind, expression }) => ({ expression, scheme: schemes[kind] }))
  // Named lists are labelled valid, and refused by weir.
  .filter(({ expression, scheme }) => parseExpression(expression, scheme).ok);

/** Expressions a second over this many milliseconds. */
function run(ms: number): number {
  const start = performance.now();
  let parsed = 0;
  let elapsed = 0;
  while (elapsed < ms) {
    for (const { expression, scheme } of work) if (!parseExpression(expression, scheme).ok) throw new Error(expression);
    parsed += work.length;
    elapsed = performance.now() - start;
  }
  return (parsed / elapsed) * 1000;
}

run(1000);
const characters = work.reduce((sum, { expression }) => sum + expression.length, 0) / work.length;
const rate = run(seconds * 1000);
console.log(`expressions: ${work.length}, ${characters.toFixed(0)} characters on average`);
console.log(
  `parsed: ${Math.round(rate).toLocaleString('en')} a second (target ${TARGET.toLocaleString('en')}: ${(rate / TARGET).toFixed(1)} x)`,
);
