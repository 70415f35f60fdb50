/**
 * `npm run test:kill`: rounds in which clients work and an adversary harms; after each everything has to be as the contract says.
 * `--rounds N` (20), `--seed S` (1), `--scaled`: three weirs on three brokers and a PostgreSQL with a standby. A run that fails writes its steps to a file; `--replay FILE` does these
 * again, `--shrink FILE` looks for fewer that fail.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbedded } from './embedded.ts';
import { planRound, type Round } from './plan.ts';
import { runRounds, type Tally } from './rounds.ts';
import { startScaled } from './scaled/scaled.ts';
import { faultOf, shrink } from './shrink.ts';

const ENGINES = { embedded: startEmbedded, scaled: (origin: number) => startScaled(origin) };
/** Rounds on the same data, before a fresh world is made. */
const EPISODE = 20;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    scaled: { type: 'boolean', default: false },
    replay: { type: 'string' },
    shrink: { type: 'string' },
    quiet: { type: 'boolean', default: false },
  },
});

interface Steps {
  readonly engine: keyof typeof ENGINES;
  readonly rounds: readonly Round[];
  /** What was broken. */
  readonly fault?: string;
}

/** The steps of a round in a few lines. */
const brief = (round: Round | undefined) =>
  Object.entries(round ?? {})
    .map(([name, value]) => `  ${name}: ${JSON.stringify(value)}`.slice(0, 1500))
    .join('\n');
const report = values.quiet ? () => {} : console.log;
const fresh = (): Tally => ({ rounds: 0, acknowledged: 0, failed: 0, harms: 0 });
const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Steps;

if (values.shrink !== undefined) {
  const { engine, rounds, fault } = read(values.shrink);
  const least = await shrink(rounds, (fewer) => runRounds(ENGINES[engine], fewer, fresh()), console.log, fault);
  writeFileSync(`${values.shrink}.least`, JSON.stringify({ engine, rounds: least, fault }, null, 1));
  console.log(`${values.shrink}.least has what is left`);
} else if (values.replay !== undefined) {
  const { engine, rounds } = read(values.replay);
  await runRounds(ENGINES[engine], rounds, fresh(), console.log);
  console.log('nothing is broken');
} else {
  const engine = values.scaled ? 'scaled' : 'embedded';
  const [total, begun] = [fresh(), performance.now()];
  for (let seed = Number(values.seed); total.rounds < Number(values.rounds); seed += 1) {
    const done: Round[] = [];
    const length = Math.min(EPISODE, Number(values.rounds) - total.rounds);
    try {
      const tally = { ...total };
      await runRounds(
        ENGINES[engine],
        function* ({ targets }) {
          for (let n = 0; n < length; n += 1) {
            done.push(planRound(seed, n, targets));
            yield done[n]!;
          }
        },
        tally,
        report,
      );
      Object.assign(total, tally);
      console.log(
        `seed ${seed}: ${length} rounds; so far ${total.acknowledged} acknowledged, ${total.failed} failed, ${total.harms} harms`,
      );
    } catch (error) {
      const file = join(tmpdir(), `weir-kill-${engine}-${seed}.json`);
      writeFileSync(file, JSON.stringify({ engine, rounds: done, fault: faultOf(error) }, null, 1));
      console.log(`seed ${seed}, round ${done.length}: ${error}\nits steps: ${file}; --replay or --shrink it\n${brief(done.at(-1))}`);
      process.exit(1);
    }
  }
  const minutes = ((performance.now() - begun) / 60_000).toFixed(0);
  console.log(
    `${total.rounds} rounds on ${engine} in ${minutes} min: ${total.acknowledged} acknowledged, ${total.failed} tries without, ${total.harms} harms; nothing is broken`,
  );
}
process.exit(0);
