/**
 * `npm run test:hold`: what hostile and clumsy clients can do to a real server, on both engines, as a table of figures and limits.
 * About ten minutes on a machine with two cores; exit code 1 when a limit is missed. `npm run test:hold NAME…` runs the parts
 * whose name contains one of these words.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Figure, holds, limitText } from '../../bench/support/figures.ts';
import { printTable } from '../../bench/support/load.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { needs } from '../support/programs.ts';
import { addressFloods } from './addresses.ts';
import { bouncerFilters, bouncerNames, expiredRules, waitingClients } from './bouncers.ts';
import { canaryChanges } from './canary.ts';
import { deafClients, keyFlood, type Settings, slowPosts, whileLanding } from './checks.ts';
import { enrolmentFlood } from './enroll.ts';
import { filesOfWorkspaces } from './files.ts';
import { hostileGeo } from './geo.ts';
import { growthOfOne } from './growth.ts';
import { importsOfLines } from './imports.ts';
import { slowSignIns } from './sign-in.ts';
import { signedFeeds } from './signed.ts';
import { politeSources, queuedReads } from './sources.ts';
import { undoPreviews } from './undo.ts';
import { hookSecrets } from './webhooks.ts';

interface Part {
  readonly name: string;
  run(): Promise<readonly Figure[]>;
  /** It only waits, and may do so while others run. */
  readonly waits?: true;
}

const postgres = noPostgres() === false ? await startPostgres() : undefined;

/** A benchmark in a process of its own; one that misses a limit ends with 1, and still prints its figures. */
const bench = (name: string, file: string, ...args: string[]): Part => ({
  name,
  async run() {
    const path = fileURLToPath(new URL(`../../bench/${file}`, import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [path, ...args, '--json']).catch((error) => {
      if (!error.stdout) throw error;
      return error as { stdout: string };
    });
    return JSON.parse(stdout) as Figure[];
  },
});

/** A check on a server with an empty store. */
const check = (name: string, engine: 'embedded' | 'PostgreSQL', work: (settings: Settings) => Promise<Figure[]>): Part => ({
  name: `${name}, ${engine}`,
  async run() {
    const folder = mkdtempSync(join(tmpdir(), 'weir-hold-'));
    try {
      const settings = { DATA_DIR: folder, ...(engine === 'PostgreSQL' && { DATABASE_URL: await postgres!.createDatabase() }) };
      return (await work(settings)).map((figure) => ({ ...figure, what: `${figure.what}, ${engine}` }));
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  },
});

/** weir-follow and its kernel in a network namespace of their own. */
const kernel = (engine: 'embedded' | 'PostgreSQL'): Part => ({
  name: `kernel, ${engine}`,
  async run() {
    const path = fileURLToPath(new URL('kernel/run.ts', import.meta.url));
    const { stdout, stderr } = await promisify(execFile)('unshare', ['-n', process.execPath, path, engine]);
    console.error(stderr);
    return JSON.parse(stdout) as Figure[];
  },
});
const isRoot = process.getuid?.() === 0 && needs('ip', 'nft', 'unshare', 'python3') === false;

/** What one tenant, or a stranger, may take from the others. */
const ofOneTenant = (engine: 'embedded' | 'PostgreSQL'): readonly Part[] => [
  check('names of bouncers', engine, bouncerNames),
  check('waiting clients', engine, waitingClients),
  check('undo previews', engine, undoPreviews),
  check('imports', engine, importsOfLines),
  check('files', engine, filesOfWorkspaces),
  check('slow sign-ins', engine, slowSignIns),
  check('enrolment flood', engine, enrolmentFlood),
  check('secrets of webhooks', engine, hookSecrets),
  check('growth', engine, growthOfOne),
  check('sources', engine, politeSources),
  check('queued reads', engine, queuedReads),
  check('hostile geo data', engine, hostileGeo),
  check('canaries', engine, canaryChanges),
  check('addresses', engine, (settings) => addressFloods(settings)),
];

// Of a few hundred polls the slowest one is their p99.9: the machine's share is of thousands.
const BODIES = 'brackets, open;empty entries;v2, arrays;v2, text';
const ON_POSTGRES = [
  bench('bodies, PostgreSQL', 'hold-body.ts', '--engine', 'postgres', '--seconds', '10', '--only', 'empty entries;v2, text'),
  bench('directory, PostgreSQL', 'directory.ts', '--engine', 'postgres', '--rounds', '3'),
  check('flood of unknown keys', 'PostgreSQL', keyFlood),
  check('landing', 'PostgreSQL', whileLanding),
  check('slow posts', 'PostgreSQL', slowPosts),
  ...ofOneTenant('PostgreSQL'),
  ...(isRoot ? [kernel('PostgreSQL')] : []),
];
const PARTS: readonly Part[] = [
  { ...check('clients that do not read', 'embedded', deafClients), waits: true },
  bench('bodies, embedded', 'hold-body.ts', '--seconds', '10', '--only', BODIES),
  bench('directory, embedded', 'directory.ts', '--rounds', '3'),
  bench('unblocks, both engines', 'unblock.ts'),
  check('flood of unknown keys', 'embedded', keyFlood),
  check('landing', 'embedded', whileLanding),
  check('slow posts', 'embedded', slowPosts),
  ...ofOneTenant('embedded'),
  check('filters of bouncers', 'embedded', bouncerFilters),
  check('expired rules', 'embedded', expiredRules),
  check('signed feeds', 'embedded', signedFeeds),
  ...(isRoot ? [kernel('embedded')] : []),
  ...(postgres === undefined ? [] : ON_POSTGRES),
];

const [load] = loadavg();
const asked = process.argv.slice(2);
const begun = performance.now();
const figures: Figure[] = [];
const broken: string[] = [];
async function runPart({ name, run }: Part): Promise<void> {
  const started = performance.now();
  try {
    figures.push(...(await run()));
  } catch (error) {
    broken.push(name);
    console.error(`${name}: ${(error as Error).stack}`);
  }
  console.error(`${name}: ${Math.round((performance.now() - started) / 1000)} s`);
}
const chosen = PARTS.filter(({ name }) => asked.length === 0 || asked.some((word) => name.includes(word)));
const waiting = Promise.all(chosen.filter(({ waits }) => waits).map(runPart));
for (const part of chosen.filter(({ waits }) => !waits)) await runPart(part);
await waiting;
await postgres?.stop();

const row = (each: Figure) => [each.what, each.figure, limitText(each), holds(each) ? 'ok' : 'MISSED'];
printTable([['what', 'figure', 'limit', ''], ...figures.map(row)]);
const missed = figures.filter((figure) => !holds(figure)).length;
if (load > 1)
  console.log(`The machine was busy at the beginning (load ${load.toFixed(1)}): what it added to times is allowed on top of their limits.`);
if (postgres === undefined) console.log(`PostgreSQL was left out: ${noPostgres()}`);
for (const name of broken) console.log(`broke off: ${name}`);
console.log(`${figures.length - missed} of ${figures.length} limits hold, ${Math.round((performance.now() - begun) / 1000)} s`);
process.exit(missed + broken.length === 0 ? 0 : 1);
