/**
 * `npm run simulate`: the state machines of feeds under seeded schedules, and then with faults planted, each of which has to be found.
 * `--steps N` (1,000,000), `--seed S` (1): the first seed. Ends with 1 and the seed and step of what was broken.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { MUTATIONS, plant } from './mutations.ts';

const STEPS_A_SEED = 10_000;
/** Steps in which a planted fault has to be found. */
const STEPS_OF_A_FAULT = 400_000;

const { values } = parseArgs({
  options: { steps: { type: 'string', default: '1000000' }, seed: { type: 'string', default: '1' }, plant: { type: 'string' } },
});
if (values.plant !== undefined) plant(MUTATIONS[values.plant]!);
const { simulateFeeds } = await import('./feeds.ts');
const [steps, first] = [Number(values.steps), Number(values.seed)];
const begun = performance.now();
const total = { answers: 0, notModified: 0, stale: 0, refused: 0 };
for (let seed = first; seed < first + Math.ceil(steps / STEPS_A_SEED); seed++) {
  const done = await simulateFeeds(seed, Math.min(steps, STEPS_A_SEED), { setClocks: seed % 4 === 0 });
  for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += done[key];
}
if (values.plant === undefined) {
  const seconds = ((performance.now() - begun) / 1000).toFixed(0);
  const { answers, notModified, stale, refused } = total;
  console.log(
    `${steps} steps in ${seconds} s: ${answers} answers (${notModified} of them 304, ${stale} stale), ${refused} refused; nothing broken`,
  );
  const self = fileURLToPath(import.meta.url);
  const missed = Object.keys(MUTATIONS).filter((name) => {
    const { status, stderr } = spawnSync(process.execPath, [self, '--plant', name, '--steps', String(STEPS_OF_A_FAULT)]);
    const found = /Violation: (.*)/.exec(String(stderr))?.[1];
    console.log(`planted: ${name}: ${found ?? `not found${status === 0 ? '' : `\n${stderr}`}`}`);
    return found === undefined;
  });
  process.exitCode = missed.length === 0 ? 0 : 1;
}
