/**
 * How fast a text of networks becomes the smallest sorted text: `node bench/networks.ts`.
 * Peers, same input, same run: FireHOL `iprange` (C; the whole process, reading and writing files in memory) and npm `cidr-tools`.
 * weir and cidr-tools go from text in memory to text in memory, warm. Figures are medians.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mergeCidr } from 'cidr-tools';
import { coalesceV4, coalesceV6 } from '../src/network/coalesce.ts';
import { readLines } from '../src/network/lines.ts';
import { V4Ranges, V6Ranges } from '../src/network/ranges.ts';
import { renderCidrs } from '../src/network/render.ts';
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
const TURNS = 5;
const CALLS = 5;
const WARM_UP_MS = 2000;

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

/** Median milliseconds of each work: in turns, so that a noisy neighbour meets them all, several calls a turn, so that each stays warm. */
function medians(turns: number, works: readonly (() => void)[]): number[] {
  const times = works.map((): number[] => []);
  for (let turn = 0; turn < turns; turn++) {
    works.forEach((work, i) => {
      for (let call = 0; call < CALLS; call++) {
        const begun = performance.now();
        work();
        times[i].push(performance.now() - begun);
      }
    });
  }
  return times.map((each) => quantile(each, 0.5));
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
  for (const { name, source, count, family, ...goal } of WORKLOADS) {
    const text = networkText(source, seededRandom(count + family), count);
    const bytes = Buffer.from(text);
    writeFileSync(input, bytes);

    let ours = '';
    for (const begun = performance.now(); performance.now() - begun < WARM_UP_MS; ) ours = Buffer.from(weir(bytes)).toString();
    assertEqual(name, ours, cidrTools(text));
    const peers = family === 4 ? [iprange] : [];
    for (const peer of peers) {
      peer();
      assertEqual(name, ours, readFileSync(output, 'latin1'));
    }
    const [ms, iprangeMs] = medians(TURNS, [() => weir(bytes), ...peers]);
    const [cidrToolsMs] = medians(1, [() => cidrTools(text)]);
    const against = (peer: number | undefined) => (peer === undefined ? ['-', '-'] : [peer.toFixed(1), (ms / peer).toFixed(3)]);
    const target = 'target' in goal ? `<= ${goal.target}` : '';
    rows.push([name, ours.split('\n').length - 1, ms.toFixed(1), ...against(iprangeMs), target, ...against(cidrToolsMs)]);
  }
  printTable(rows);
  const [start] = medians(TURNS, [() => run('true', [], input, output)]);
  console.log(`\nOf each iprange figure, ${start.toFixed(1)} ms are the start of a process (\`true\` in the same harness).`);
} finally {
  rmSync(folder, { recursive: true });
}
