/**
 * `npm run fuzz`: texts that reach code that none before reached are kept and changed further; after each, what must hold is asked.
 * `--target NAME` (all), `--seconds N` a target (60), `--seed S` (1), `--minimize`: the corpus is written anew, the shortest texts that reach all.
 * Ends with 1 and the text that broke something, made as short as can be.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Random, seededRandom } from '../support/random.ts';
import { corpusFile, corpusOf } from './corpus.ts';
import { coverageOf } from './coverage.ts';
import { mutate } from './mutate.ts';
import { TARGETS, type Target } from './targets.ts';

/** Texts between two looks at what they reached. */
const BATCH = 64;

const option = { type: 'string' } as const;
const { values } = parseArgs({ options: { target: option, seconds: option, seed: option, minimize: { type: 'boolean', default: false } } });
const names = values.target === undefined ? Object.keys(TARGETS) : [values.target];
for (const name of names) {
  const target = TARGETS[name] ?? stop(`There is no target ${name}: ${Object.keys(TARGETS).join(', ')}`);
  const { texts, runs, blocks } = fuzz(name, target, seededRandom(Number(values.seed ?? 1)), Number(values.seconds ?? 60));
  console.log(`${name}: ${runs} texts, ${texts.length} kept for ${blocks} blocks reached; nothing broken`);
  if (values.minimize) writeFileSync(corpusFile(name), texts.map((text) => `${JSON.stringify(text)}\n`).join(''));
}

function stop(message: string): never {
  console.error(message);
  process.exit(1);
}

/** The fewest texts, as found by taking the shortest first, that reach what all reach. */
function fuzz(name: string, target: Target, random: Random, seconds: number) {
  const take = coverageOf(target.folder);
  const reached = new Set<string>();
  const kept: string[] = [];
  let runs = 0;
  const run = (text: string) => {
    runs++;
    const fault = faultOf(target, text);
    if (fault !== undefined) stop(`${name} is broken by ${JSON.stringify(shrunk(target, text))}\n${fault}`);
  };
  const keep = (texts: readonly string[]) => {
    for (const text of texts) {
      run(text);
      let isNew = false;
      for (const block of take()) {
        if (!reached.has(block)) isNew = true;
        reached.add(block);
      }
      if (isNew) kept.push(text);
    }
  };
  take();
  keep([...new Set([...corpusOf(name), ...target.seeds])].sort((a, b) => a.length - b.length));
  const end = performance.now() + seconds * 1000;
  let told = performance.now();
  while (performance.now() < end) {
    // The latest finds are changed more often.
    const parent = () => (random.below(3) === 0 ? kept[kept.length - 1 - random.below(Math.min(32, kept.length))] : random.pick(kept));
    const batch = Array.from({ length: BATCH }, () => mutate(random, parent(), target.words, parent()));
    for (const text of batch) run(text);
    if (![...take()].every((block) => reached.has(block))) keep(batch);
    if (performance.now() - told > 10_000) {
      told = performance.now();
      console.error(`${name}: ${runs} texts, ${kept.length} kept, ${reached.size} blocks`);
    }
  }
  return { texts: values.minimize ? minimal(kept, target, take) : kept, runs, blocks: reached.size };
}

function minimal(texts: readonly string[], target: Target, take: () => ReadonlySet<string>): string[] {
  const reached = new Set<string>();
  return texts
    .toSorted((a, b) => a.length - b.length)
    .filter((text) => {
      take();
      target.run(text);
      const blocks = [...take()];
      const isNew = blocks.some((block) => !reached.has(block));
      for (const block of blocks) reached.add(block);
      return isNew;
    });
}

/** What a text breaks, as the error's stack. */
function faultOf(target: Target, text: string): string | undefined {
  try {
    target.run(text);
    return undefined;
  } catch (error) {
    return (error as Error).stack;
  }
}

/** The text without each part whose loss still breaks something. */
function shrunk(target: Target, text: string): string {
  let short = text;
  for (let size = text.length >> 1; size >= 1; size = size >> 1) {
    for (let at = 0; at < short.length; ) {
      const without = short.slice(0, at) + short.slice(at + size);
      if (faultOf(target, without) === undefined) at += size;
      else short = without;
    }
  }
  return short;
}
