/**
 * A long run that should leave no trace: `node bench/soak.ts --hours 1 [--engine postgres] [--seed 1] [--days 42] [--picture FILE] [--samples FILE]`.
 * Appliances that poll, bouncers, sources that refresh, 50 signals a second whose rules expire, undo, and people at the console, all against one
 * real `weir serve`. Most of what is kept is kept for a week, so the clock of weir goes faster (`--days`: how many days it has in the run; 0: as
 * the real one) and what is kept comes and goes within the run; requests, timers and how long things take are of real time. Every so often
 * memory, files, tables, descriptors, processor time and how long clients waited are noted. A line that rises over the second half by more than
 * 5% an hour, beyond its scatter, is named, and the exit code is 1. Times are told beside those of a bare server that is polled as often.
 */
import { appendFileSync, writeFileSync } from 'node:fs';
import { loadavg, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { asking } from './soak/asking.ts';
import { startClients } from './soak/clients.ts';
import { type Line, linesOf } from './soak/lines.ts';
import { picture } from './soak/picture.ts';
import { type Sample, sampler } from './soak/sample.ts';
import { startWorld } from './soak/world.ts';
import { printTable } from './support/load.ts';

const { values } = parseArgs({
  options: {
    hours: { type: 'string', default: '1' },
    days: { type: 'string', default: '42' },
    engine: { type: 'string', default: 'embedded' },
    seed: { type: 'string', default: '1' },
    workspaces: { type: 'string', default: '10' },
    devices: { type: 'string', default: '1000' },
    bouncers: { type: 'string', default: '100' },
    signals: { type: 'string', default: '50' },
    picture: { type: 'string' },
    samples: { type: 'string' },
  },
});
const number = (name: 'hours' | 'days' | 'seed' | 'workspaces' | 'devices' | 'bouncers' | 'signals') => Number(values[name]);
const HOURS = number('hours');
if (values.engine !== 'embedded' && values.engine !== 'postgres') throw new Error('--engine must be embedded or postgres');
/** Readings: one a quarter of an hour, and at least so many in the run. */
const READINGS = 24;
const every = Math.min(900_000, (HOURS * 3_600_000) / READINGS);
/** Housekeeping comes once a minute of real time: a clock that goes faster than this would have days between two. */
const FASTEST = 1000;
const factor = Math.min(FASTEST, Math.max(1, (number('days') * 24) / HOURS));
/** Of the load generator: weir and the bare server go before it. */
const NICE = 2;

const COLUMNS: Readonly<Record<string, string>> = {
  ...{ 'memory: resident': 'MiB', 'memory: heaps': 'heaps', 'memory: external': 'external', 'files: all of DATA_DIR': 'DATA_DIR, MiB' },
  ...{ 'files: database': 'database, MiB', 'rules: active': 'rules', 'rows: access_rules': 'kept', 'descriptors: least': 'descriptors' },
  ...{ 'cpu: of one core': 'of a core', 'p50: poll': 'poll p50', 'p99: poll': 'p99', 'p99: bare': 'bare p99' },
  ...{ 'p50: signal': 'signal p50', 'p99: signal': 'p99' },
};

const world = await startWorld({ engine: values.engine, workspaces: number('workspaces'), factor });
setPriority(NICE);
const asked = asking();
const stopClients = await startClients(world, asked, {
  ...{ devices: number('devices'), bouncers: number('bouncers'), signals: number('signals'), seed: number('seed'), factor },
  length: HOURS * 3600 * factor,
});
const { read, stop } = sampler(world, asked);
const samples: Sample[] = [];
const title = `${number('devices')} appliances, ${number('bouncers')} bouncers, ${number('signals')} signals a second, ${values.engine === 'postgres' ? 'PostgreSQL' : 'embedded'}`;
console.error(`${title}: a reading every ${Math.round(every / 1000)} s, the clock ${factor.toFixed(0)} times as fast`);
const begun = performance.now();
for (let n = 1; performance.now() - begun < HOURS * 3_600_000 - every / 2; n += 1) {
  await sleep(begun + n * every - performance.now());
  const sample = await read();
  samples.push(sample);
  if (values.samples !== undefined) appendFileSync(values.samples, `${JSON.stringify(sample)}\n`);
  if (values.picture !== undefined) writeFileSync(values.picture, picture(samples, title));
  console.error(
    row(sample)
      .map((cell) => (typeof cell === 'number' ? cell.toFixed(2) : cell))
      .join('  '),
    `load ${loadavg()[0].toFixed(1)}`,
  );
}
stop();
await stopClients();
const told = logOf(world.weir.output().stderr);
await world.stop();

const columns = Object.keys(COLUMNS).filter((name) => samples[0] !== undefined && name in samples[0].figures);
printTable([['minute', 'day', ...columns.map((name) => COLUMNS[name])], ...samples.map((sample) => row(sample, columns))]);
console.log(`${asked.answered()} requests were answered as they should be`);
const lines = linesOf(samples);
const lineText = (line: Line) => `${line.name}: ${line.mean.toFixed(2)}, ${(line.slope * 100).toFixed(1)}% an hour`;
for (const line of lines.filter(({ verdict }) => verdict === 'fills')) console.log(`fills, what it has is kept longer: ${lineText(line)}`);
const rising = lines.filter(({ verdict }) => verdict === 'rises');
for (const line of rising) console.log(`rises: ${lineText(line)}`);
for (const [what, times] of asked.faults) console.log(`not as it should be: ${what} (${times} times)`);
for (const [what, times] of told) console.log(`weir has logged: ${what} (${times} times)`);
console.log(`${lines.length} lines, ${rising.length} of them rise`);
process.exitCode = rising.length > 0 || asked.faults.size > 0 ? 1 : 0;

function row({ hours, days, figures }: Sample, names: readonly string[] = Object.keys(COLUMNS)): (string | number)[] {
  return [(hours * 60).toFixed(0), days.toFixed(1), ...names.map((name) => figures[name] ?? '')];
}

/** What weir has logged, how often. */
function logOf(stderr: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const line of stderr.split('\n').filter((text) => text.startsWith('{'))) {
    const { msg, err } = JSON.parse(line) as { msg?: string; err?: { message?: string } };
    const what = [msg, err?.message].filter(Boolean).join(': ').slice(0, 200);
    found.set(what, (found.get(what) ?? 0) + 1);
  }
  return found;
}
