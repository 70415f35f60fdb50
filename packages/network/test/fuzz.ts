/**
 * Compares parsing and coalescing with independent references, seeded: `node packages/network/test/fuzz.ts [--strings N] [--sets N] [--seed
 * S]`. The references are a slow one in BigInt and, if python3 is installed, Python's ipaddress module. Exits with 1 on a difference.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readLines } from '../../../test/support/network-lines.ts';
import { needs } from '../../../test/support/programs.ts';
import { type Random, seededRandom } from '../../../test/support/random.ts';
import { BITS, type Family, slowCoalesce, slowParse, slowText } from '../../../test/support/slow-networks.ts';
import { coalesceV4, coalesceV6, countV4, countV6 } from '../coalesce.ts';
import { formatNetwork } from '../format.ts';
import { parseNetwork } from '../parse.ts';
import { V4Ranges, V6Ranges } from '../ranges.ts';
import { renderCidrs } from '../render.ts';
import { type RandomRange, randomRanges } from './random-ranges.ts';
import { randomText } from './random-text.ts';

/** Counts, and the first differences. */
interface FuzzResult {
  /** Number of valid networks among the texts. */
  readonly valid: number;
  readonly differences: readonly string[];
}

/** Uses texts near the edges of the notation. */
export function fuzzStrings(random: Random, count: number, python: boolean): FuzzResult {
  const texts = Array.from({ length: count }, () => randomText(random));
  const ours = texts.map(weirParse);
  const judges = [ours.map((_, i) => slowParse(texts[i])), ...(python ? [askPython(texts)] : [])];
  const differences = texts.flatMap((text, i) => [
    ...judges.flatMap((judge) => different(`parse ${JSON.stringify(text)}`, ours[i], judge[i])),
    ...different(`read the line ${JSON.stringify(text)}`, weirReadLine(text), text === '' || text.includes('\n') ? undefined : ours[i]),
  ]);
  return { valid: ours.filter((text) => text !== null).length, differences };
}

/** Compares coalescing, counting and rendering, on ranges that overlap, touch and lie at boundaries. */
export function fuzzSets(random: Random, count: number, python: boolean): FuzzResult {
  const sets = Array.from({ length: count }, () => {
    const family = random.pick([4, 6] as const);
    return { family, ranges: randomRanges(random, family) };
  });
  const ours = sets.map(({ family, ranges }) => weirCoalesce(family, ranges));
  const judges = [
    sets.map(({ family, ranges }) => slowCoalesce(family, ranges)),
    ...(python
      ? [askPython(sets.map(({ family, ranges }) => ranges.map(({ start, end }) => [text(family, start), text(family, end)])))]
      : []),
  ];
  const differences = sets.flatMap(({ family, ranges }, i) => {
    const name = `coalesce ${ranges.map(({ start, end }) => `${text(family, start)}-${text(family, end)}`).join(' ')}`;
    return judges.flatMap((judge) => different(name, ours[i], judge[i]));
  });
  return { valid: count, differences };
}

const text = (family: Family, address: bigint) => slowText(family, address, BITS[family], false);

function different(name: string, ours: unknown, theirs: unknown): string[] {
  const [a, b] = [ours, theirs].map((value) => JSON.stringify(value));
  return theirs === undefined || a === b ? [] : [`${name}\n  weir  ${a}\n  judge ${b}`];
}

function weirParse(text: string): string | null {
  const network = parseNetwork(text);
  return typeof network === 'string' ? null : formatNetwork(network);
}

/** Parses a one-line text by the parser of bytes. */
function weirReadLine(text: string): string | null {
  const [v4, v6] = [new V4Ranges(), new V6Ranges()];
  if (readLines(Buffer.from(text), v4, v6) !== null) return null;
  const line = Buffer.from(renderCidrs(coalesceV4(v4), coalesceV6(v6), { separator: '\n' })).toString();
  return line.replace(v4.length === 1 ? /\/32$/ : /\/128$/, '');
}

/** Coalesces one collection and counts another with the same ranges, added in bulk or one by one. */
function weirCoalesce(family: Family, ranges: readonly RandomRange[]): string[] {
  const numbers = ranges.map(({ start, end }) => [...words(family, start), ...words(family, end)]);
  if (family === 4) {
    const [v4, counted] = [new V4Ranges(), new V4Ranges()];
    counted.pushAll(Uint32Array.from(numbers.flat()));
    ranges.forEach(({ prefix }, i) => {
      const [start, end] = numbers[i];
      if (prefix === undefined) v4.push(start, end);
      else v4.pushNetwork(start, prefix);
    });
    return lines(countV4(counted), renderCidrs(coalesceV4(v4), null, { separator: '\n' }));
  }
  const [v6, counted] = [new V6Ranges(), new V6Ranges()];
  counted.pushAll(Uint32Array.from(numbers.flat()));
  ranges.forEach(({ prefix }, i) => {
    if (prefix === undefined) v6.push(numbers[i], 0);
    else v6.pushNetwork(numbers[i], 0, prefix);
  });
  return lines(countV6(counted), renderCidrs(null, coalesceV6(v6), { separator: '\n' }));
}

function lines(count: number, rendered: Uint8Array): string[] {
  const networks = Buffer.from(rendered).toString().split('\n');
  return networks.length === count ? networks : [`counted ${count}, rendered ${networks.length}`];
}

function words(family: Family, address: bigint): number[] {
  const shifts = family === 4 ? [0n] : [96n, 64n, 32n, 0n];
  return shifts.map((shift) => Number((address >> shift) & 0xffff_ffffn));
}

function askPython(questions: readonly unknown[]): unknown[] {
  const script = fileURLToPath(new URL('networks.py', import.meta.url));
  const input = questions.map((question) => `${JSON.stringify(question)}\n`).join('');
  const { status, stdout, stderr } = spawnSync('python3', [script], { input, encoding: 'utf8', maxBuffer: 2 ** 30 });
  if (status !== 0) throw new Error(`python3 failed: ${stderr}`);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

if (import.meta.main) {
  const option = { type: 'string' } as const;
  const { values } = parseArgs({ options: { strings: option, sets: option, seed: option } });
  const [strings, sets, seed] = [Number(values.strings ?? 100_000), Number(values.sets ?? 10_000), Number(values.seed ?? 1)];
  const missing = needs('python3');
  if (missing !== false) console.log(`${missing}: only the slow reference judges`);
  const random = seededRandom(seed);
  const parsed = fuzzStrings(random, strings, missing === false);
  const coalesced = fuzzSets(random, sets, missing === false);
  const differences = [...parsed.differences, ...coalesced.differences];
  for (const difference of differences.slice(0, 20)) console.log(difference);
  console.log(`seed ${seed}: ${strings} strings, ${parsed.valid} of them networks, and ${sets} sets: ${differences.length} differences`);
  process.exitCode = differences.length === 0 ? 0 : 1;
}
