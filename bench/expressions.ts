/**
 * What checking filter expressions costs: `node bench/expressions.ts [--seconds 3] [--batches 40]`.
 * 1. How many a second one core parses: the valid ones of the labelled file, of at most 200 characters, warm.
 * 2. A batch of 1,000 WAF rules from socket to answer, beside batches of 1,000 access rules in the same process; nothing is landing meanwhile.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseExpression } from '@weir/expression/parser.ts';
import { packagedSchemes, type SchemeKind } from '@weir/expression/scheme.ts';
import { openSqliteReads } from '../src/store/sqlite/store.ts';
import { openSqliteStream } from '../src/stream/sqlite/stream.ts';
import { KEY, startWeir } from '../test/support/weir.ts';
import { postLoad, printTable, quantile } from './support/load.ts';

interface Labelled {
  readonly kind: SchemeKind;
  readonly expression: string;
  readonly valid: boolean;
}

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '3' }, batches: { type: 'string', default: '40' } },
});
const TARGET_RATE = 150_000;
const TARGET_RATIO = 2;
const BATCH = 1000;

const schemes = packagedSchemes();
const file = new URL('../packages/expression/test/fixtures/expressions.jsonl', import.meta.url);
const work = readFileSync(file, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Labelled)
  .filter(({ valid, expression }) => valid && expression.length <= 200)
  .map(({ kind, expression }) => ({ kind, expression, scheme: schemes[kind] }))
  // Named lists are labelled valid, and refused by weir.
  .filter(({ expression, scheme }) => parseExpression(expression, scheme).ok);

/** Expressions a second over this many milliseconds. */
function parseRate(ms: number): number {
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

const host = (n: number) => [10, (n >>> 16) & 255, (n >>> 8) & 255, n & 255].join('.');
const expressionsOf = (kind: SchemeKind) => work.filter((line) => line.kind === kind).map(({ expression }) => expression);

function ruleEntry(kind: SchemeKind): (n: number) => unknown {
  const expressions = expressionsOf(kind);
  return (n) => ({
    kind,
    op: 'upsert',
    rule_ref: `${kind}-${n}`,
    reason: 'brute force on the login page',
    rule: { name: `rule ${n}`, type: 'generated', expression: expressions[n % expressions.length], action: 'block', order: n },
  });
}

/** What is measured: path, and the n-th entry. */
const SERIES: readonly [name: string, path: string, entry: (n: number) => unknown][] = [
  [
    'access rules, v1',
    '/v1/signal',
    (n) => ({ type: 'access_rules', action: 'block', ip: host(n), description: 'brute force on the login page' }),
  ],
  [
    'access rules, v2',
    '/v2/signal',
    (n) => ({
      kind: 'access_rule',
      op: 'upsert',
      rule_ref: `access-${n}`,
      reason: 'brute force on the login page',
      rule: { target: { ip: host(n) }, action: 'block' },
    }),
  ],
  ['WAF rules', '/v2/signal', ruleEntry('waf_rule')],
  ['smart firewall rules', '/v2/signal', ruleEntry('smart_firewall_rule')],
];

/** Milliseconds of each answer, per series; the series take turns, and a batch is sent when the last one has landed. */
async function batchLatencies(turns: number, perTurn: number): Promise<{ latencies: number[]; bytes: number }[]> {
  const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  const weir = await startWeir({
    DATA_DIR: dir,
    BOOTSTRAP_API_KEY: KEY,
    RATE_LIMIT_SIGNALS: '0',
    RATE_LIMIT_ENTRIES: '0',
    LOG_LEVEL: 'error',
  });
  const [reads, stream] = [openSqliteReads(dir), openSqliteStream(dir)];
  const streamId = await stream.id();
  const landed = async () => {
    const { end } = await stream.bounds(0);
    while (((await reads.position(streamId, 0)) ?? 0) < end) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const results = SERIES.map(() => ({ latencies: [] as number[], bytes: 0 }));
  let sent = 0;
  // The first turn is for warming up.
  for (let turn = 0; turn <= turns; turn += 1) {
    for (const [index, [, path, entry]] of SERIES.entries()) {
      let left = turn === 0 ? perTurn * 3 : perTurn;
      const load = await postLoad(new URL(path, weir.url), { authorization: `Bearer ${KEY}` }, 1, async () => {
        await landed();
        if (left === 0) return undefined;
        left -= 1;
        const body = Buffer.from(JSON.stringify(Array.from({ length: BATCH }, () => entry(sent++))));
        results[index].bytes = body.length;
        return body;
      });
      if (turn > 0) results[index].latencies.push(...load.latencies);
    }
  }
  await weir.kill('SIGTERM');
  await reads.close();
  await stream.close();
  rmSync(dir, { recursive: true });
  return results;
}

parseRate(1000);
const rate = parseRate(Number(values.seconds) * 1000);
const characters = work.reduce((sum, { expression }) => sum + expression.length, 0) / work.length;
console.log(`expressions: ${work.length}, ${characters.toFixed(0)} characters on average`);
console.log(
  `parsed: ${Math.round(rate).toLocaleString('en')} a second (target ${TARGET_RATE.toLocaleString('en')}: ${(rate / TARGET_RATE).toFixed(1)} x)`,
);

const PER_TURN = 5;
const results = await batchLatencies(Math.ceil(Number(values.batches) / PER_TURN), PER_TURN);
const median = ({ latencies }: { latencies: number[] }) => quantile(latencies, 0.5);
console.log();
printTable([
  ['batches of 1000, socket to answer', 'KB', 'p50 ms', 'p90 ms', 'of v1', 'of v2'],
  ...results.map((result, index) => [
    SERIES[index][0],
    Math.round(result.bytes / 1000),
    median(result),
    quantile(result.latencies, 0.9),
    median(result) / median(results[0]),
    median(result) / median(results[1]),
  ]),
]);
console.log(`target: WAF rules at most ${TARGET_RATIO} x access rules`);
