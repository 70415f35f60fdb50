/**
 * `npm run simulate`: the state machines that threads and replicas share under seeded schedules, and then with faults planted, each of which has
 * to be found. `--steps N` (1,000,000 of each), `--seed S` (1): the first seed, `--of NAME`: one of them. Ends with 1 and the seed and step of what
 * was broken.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { MUTATIONS, type Mutation, plant } from './mutations.ts';

const STEPS_A_SEED = 10_000;
/** Steps in which a planted fault has to be found. */
const STEPS_OF_A_FAULT = 400_000;

const option = { type: 'string' } as const;
const { values } = parseArgs({
  options: { steps: { ...option, default: '1000000' }, seed: { ...option, default: '1' }, plant: option, of: option },
});
if (values.plant !== undefined) plant(MUTATIONS[values.plant]!);

// Read only now: a fault is planted where a file is read.
const { simulateFeeds } = await import('./feeds.ts');
const { simulateLanding } = await import('./landing.ts');
const { simulateLease } = await import('./lease.ts');
const SIMULATIONS: Readonly<Record<Mutation['in'], (seed: number, steps: number) => Promise<object>>> = {
  feeds: (seed, steps) => simulateFeeds(seed, steps, { setClocks: seed % 4 === 0 }),
  landing: simulateLanding,
  lease: simulateLease,
};

const [steps, first] = [Number(values.steps), Number(values.seed)];
for (const [name, simulate] of Object.entries(SIMULATIONS)) {
  if ((values.of ?? name) !== name) continue;
  const begun = performance.now();
  const total: Record<string, number> = {};
  for (let seed = first; seed < first + Math.ceil(steps / STEPS_A_SEED); seed++) {
    const done = await simulate(seed, Math.min(steps, STEPS_A_SEED));
    for (const [key, count] of Object.entries(done)) total[key] = (total[key] ?? 0) + count;
  }
  const counts = Object.entries(total).map(([key, count]) => `${count} ${key}`);
  console.log(`${name}: ${((performance.now() - begun) / 1000).toFixed(0)} s, ${counts.join(', ')}; nothing broken`);
}
if (values.plant === undefined) {
  const self = fileURLToPath(import.meta.url);
  const missed = Object.entries(MUTATIONS).filter(([name, mutation]) => {
    if ((values.of ?? mutation.in) !== mutation.in) return false;
    const { status, stderr } = spawnSync(process.execPath, [
      self,
      '--plant',
      name,
      '--of',
      mutation.in,
      '--steps',
      String(STEPS_OF_A_FAULT),
    ]);
    const found = /Violation: (.*)/.exec(String(stderr))?.[1];
    console.log(`planted: ${name}: ${found ?? `not found${status === 0 ? '' : `\n${stderr}`}`}`);
    return found === undefined;
  });
  process.exitCode = missed.length === 0 ? 0 : 1;
}
