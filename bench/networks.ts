/**
 * How fast a text of networks becomes the smallest sorted text: `node bench/networks.ts`.
 * Peers, same input, same run: FireHOL `iprange` (C; the whole process, reading and writing files in memory) and npm `cidr-tools`.
 * weir and cidr-tools go from text in memory to text in memory, weir warm, cidr-tools once. The other figures are medians.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { coalesceV4, coalesceV6 } from '@weir/network/coalesce.ts';
import { V4Ranges, V6Ranges } from '@weir/network/ranges.ts';
import { renderCidrs } from '@weir/network/render.ts';
import { mergeCidr } from 'cidr-tools';
import { readLines } from '../test/support/network-lines.ts';
import { needs } from '../test/support/programs.ts';
import { seededRandom } from '../test/support/random.ts';
import { denseV4Host, mixedV4, mixedV6, networkText, randomV4Host } from '../test/support/random-networks.ts';
import { printTable, quantile } from './support/load.ts';

const WORKLOADS = [
  { name: '131,072 random v4 hosts', source: randomV4Host, count: 131_072, family: 4, target: 0.15 },
  { name: '131,072 mixed v4 /8-/32', source: mixedV4, count: 131_072, family: 4 },
  { name: '131,072 mixed v6', source: mixedV6, count: 131_072, family: 6 },
  { name: '1,000,000 dense v4 hosts', source: denseV4Host, count: 1_000_000, family: 4, target: 0.25 },
  { name: '1,000,000 mixed v6', source: mixedV6, count: 1_000_000, family: 6 },
] as const;
/** Calls of which the median is told: as many as this, or what comes into the time, ms. */
const CALLS = 15;
const CALLS_MS = 2000;
const WARM_UP_MS = 1000;

function weir(text: Uint8Array): Uint8Array {
  const [v4, v6] = [new V4Ranges(), new V6Ranges()];
  const fault = readLines(text, v4, v6);
  if (fault !== null) throw new Error(`line ${fault.line}: ${fault.fault}`);
  return renderCidrs(coalesceV4(v4), coalesceV6(v6), { separator: '\n', tail: '\n' });
}

function cidrTools(text: string): string {
  return `${mergeCidr(text.trimEnd().split('\n')).join('\n')}\n`;
}

/** Runs a program with its standard input and output in files. */
function run(program: string, args: string[], input: string, output: string): void {
  const [stdin, stdout] = [openSync(input, 'r'), openSync(output, 'w')];
  const { status } = spawnSync(program, args, { stdio: [stdin, stdout, 'inherit'] });
  closeSync(stdin);
  closeSync(stdout);
  if (status !== 0) throw new Error(`${program} ended with ${status}`);
}

/** Median milliseconds of some calls. */
function median(work: () => void): number {
  const times: number[] = [];
  for (const first = performance.now(); times.length < CALLS && performance.now() - first < CALLS_MS; ) {
    const begun = performance.now();
    work();
    times.push(performance.now() - begun);
  }
  return quantile(times, 0.5);
}

/** Throws unless two texts list the same networks in the same order; a host may have its prefix or not. */
function assertEqual(name: string, ours: string, theirs: string): void {
  const bare = (text: string) => text.replaceAll(/\/(?:32|128)$/gm, '');
  const [a, b] = [bare(ours), bare(theirs)];
  if (a !== b) throw new Error(`${name}: the outputs differ`);
}

const missing = needs('iprange');
if (missing !== false) {
  console.error(missing);
  process.exit(1);
}
const folder = mkdtempSync(join('/dev/shm', 'weir-bench-'));
const [input, output] = [join(folder, 'in'), join(folder, 'out')];
const iprange = () => run('iprange', ['--optimize', '-'], input, output);
const rows: (string | number)[][] = [
  ['text to minimal text', 'networks', 'weir ms', 'iprange ms', 'ratio', 'target', 'cidr-tools ms', 'ratio'],
];
try {
  // Weir goes first: once a process has started others, its memory allocator is slower, which no service of ours would meet.
  const measured = WORKLOADS.map((workload) => {
    const text = networkText(workload.source, seededRandom(workload.count + workload.family), workload.count);
    const bytes = Buffer.from(text);
    for (const begun = performance.now(); performance.now() - begun < WARM_UP_MS; ) weir(bytes);
    const ms = median(() => weir(bytes));
    return { ...workload, text, ms, ours: Buffer.from(weir(bytes)).toString() };
  });
  for (const { name, family, text, ms, ours, ...goal } of measured) {
    let iprangeMs: number | undefined;
    if (family === 4) {
      writeFileSync(input, text);
      iprange();
      assertEqual(name, ours, readFileSync(output, 'latin1'));
      iprangeMs = median(iprange);
    }
    const begun = performance.now();
    const theirs = cidrTools(text);
    const cidrToolsMs = performance.now() - begun;
    assertEqual(name, ours, theirs);
    const against = (peer: number | undefined) => (peer === undefined ? ['-', '-'] : [peer.toFixed(1), (ms / peer).toFixed(3)]);
    const target = 'target' in goal ? `<= ${goal.target}` : '';
    rows.push([name, ours.split('\n').length - 1, ms.toFixed(1), ...against(iprangeMs), target, ...against(cidrToolsMs)]);
  }
  printTable(rows);
  const start = median(() => run('true', [], input, output));
  console.log(`\nOf each iprange figure, ${start.toFixed(1)} ms are the start of a process (\`true\` in the same harness).`);
} finally {
  rmSync(folder, { recursive: true });
}
