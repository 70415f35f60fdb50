/**
 * A file of 1,000 lists, 1,000 feeds of two of them each and 100 keys, both engines: `node bench/apply.ts [--json]`. How long `weir apply`
 * takes for it as a process of its own, a second time, and of a file that changes each of them.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noOwnPostgres, startOwnPostgres } from '../test/support/postgres.ts';
import { MAIN, testEnvironment } from '../test/support/weir.ts';
import { type Figure, report } from './support/figures.ts';

const THINGS = 1000;
const KEYS = 100;
/** ms */
const LIMIT = 5000;

const file = (cap: number) => ({
  lists: Array.from({ length: THINGS }, (_, n) => ({ name: `list-${n}`, description: `the list ${n}`, max_entries: cap })),
  feeds: Array.from({ length: THINGS }, (_, n) => ({
    name: `feed-${n}`,
    lists: [`list-${n}`, `list-${(n + 1) % THINGS}`],
    target: 'pan-os',
    max_entries: cap,
  })),
  keys: Array.from({ length: KEYS }, (_, n) => ({ name: `key-${n}`, feed: `feed-${n}` })),
});

const rows: (string | number)[][] = [['engine', 'made, ms', 'no difference, ms', `changed, ms (limit ${LIMIT})`]];
const figures: Figure[] = [];

async function measure(engine: string, settings: { readonly DATA_DIR: string; readonly DATABASE_URL?: string }): Promise<void> {
  const weir = (...args: string[]) =>
    execFileSync(process.execPath, [MAIN, ...args], {
      env: testEnvironment(settings),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  mkdirSync(settings.DATA_DIR, { recursive: true, mode: 0o700 });
  weir('org', 'create', 'bench');
  weir('workspace', 'create', 'bench', '--org', 'bench');
  const path = join(settings.DATA_DIR, 'file.json');
  const timed = (cap: number, expected: RegExp) => {
    writeFileSync(path, JSON.stringify(file(cap)));
    const begun = performance.now();
    const told = weir('apply', path, '--workspace', 'bench');
    if (!expected.test(told)) throw new Error(told.slice(0, 1000));
    return Math.round(performance.now() - begun);
  };
  const [made, same, changed] = [timed(5000, /^\+ list /), timed(5000, /^no difference/), timed(6000, /^~ list /)];
  rows.push([engine, made, same, changed]);
  figures.push({ what: `${THINGS} lists and ${THINGS} feeds made, ${engine}, ms`, figure: made, limit: LIMIT });
  figures.push({ what: `${THINGS} lists and ${THINGS} feeds changed, ${engine}, ms`, figure: changed, limit: LIMIT });
}

const folder = mkdtempSync(join(tmpdir(), 'weir-bench-'));
await measure('SQLite', { DATA_DIR: join(folder, 'sqlite') });
if (noOwnPostgres() === false) {
  const postgres = await startOwnPostgres();
  await measure('PostgreSQL', { DATA_DIR: join(folder, 'postgres'), DATABASE_URL: await postgres.createDatabase() });
  await postgres.stop();
}
rmSync(folder, { recursive: true });
report(rows, figures);
