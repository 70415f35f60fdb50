/** What a soak looks at: memory, files, tables, descriptors and processor time of weir, and how long its clients waited. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { administer } from '../../test/support/postgres.ts';
import { quantile } from '../support/load.ts';
import { cpuSeconds, memoryMb } from '../support/process.ts';
import type { Asking } from './asking.ts';
import type { Held } from './probe.ts';
import type { SoakWorld } from './world.ts';

/** One reading: figures by the name of their line, of the time since the one before. */
export interface Sample {
  /** Hours since the beginning, and days of the clock of weir. */
  readonly hours: number;
  readonly days: number;
  readonly figures: Readonly<Record<string, number>>;
}

export interface Sampler {
  read(): Promise<Sample>;
  stop(): void;
}

const LOOK = 5000;
const MIB = 2 ** 20;
const TRIES = 20;

export function sampler(world: SoakWorld, asked: Asking): Sampler {
  const { weir, dataDir, databaseUrl } = world;
  const [begun, since] = [performance.now(), world.now()];
  let [rss, descriptors]: number[][] = [[], []];
  const look = () => {
    rss.push(memoryMb(weir.pid));
    descriptors.push(readdirSync(`/proc/${weir.pid}/fd`).length);
  };
  const timer = setInterval(look, LOOK);
  let last = { at: begun, cpu: cpuSeconds(weir.pid) };
  return {
    stop: () => clearInterval(timer),
    async read() {
      look();
      const [at, cpu] = [performance.now(), cpuSeconds(weir.pid)];
      const waits = asked.taken();
      const memory = { 'memory: resident': quantile(rss, 0.5), 'descriptors: least': Math.min(...descriptors) };
      const share = (cpu - last.cpu) / ((at - last.at) / 1000);
      [rss, descriptors, last] = [[], [], { at, cpu }];
      const figures = {
        ...memory,
        ...heaps(await heldBy(world)),
        ...(databaseUrl === undefined ? embedded(dataDir, world.now()) : await database(databaseUrl, world.now())),
        ...files(dataDir),
        'cpu: of one core': share,
        ...times(waits),
      };
      return { hours: (at - begun) / 3_600_000, days: (world.now() - since) / 86_400_000, figures };
    },
  };
}

async function heldBy({ weir }: SoakWorld): Promise<readonly Held[]> {
  const known = weir.output().stderr.length;
  weir.child.kill('SIGUSR2');
  for (;;) {
    const line = /^soak (.*)\n/m.exec(weir.output().stderr.slice(known));
    if (line !== null) return JSON.parse(line[1]) as Held[];
    await sleep(50);
  }
}

function heaps(held: readonly Held[]): Record<string, number> {
  const sum = (of: (each: Held) => number) => held.reduce((all, each) => all + of(each), 0);
  const each = Object.fromEntries(held.map(({ thread, heap }) => [`heap: ${thread}`, heap]));
  return { 'memory: heaps': sum(({ heap }) => heap), 'memory: external': sum(({ external }) => external), ...each };
}

/** MiB of each file, and of all. */
function files(folder: string): Record<string, number> {
  const found: Record<string, number> = {};
  let all = 0;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const stat = statSync(join(folder, name), { throwIfNoEntry: false });
    if (!stat?.isFile()) continue;
    // What is there for a while has a number in its name.
    const line = `file: ${name.replace(/[0-9a-f-]{8,}|\d{2,}/g, 'N')}`;
    found[line] = (found[line] ?? 0) + stat.size / MIB;
    all += stat.size / MIB;
  }
  return { ...found, 'files: all of DATA_DIR': all };
}

/** Rows and MiB of each table of the embedded store and stream, indexes included, and of what is free. */
function embedded(folder: string, now: number): Record<string, number> {
  const found: Record<string, number> = {};
  for (const [prefix, name] of [
    ['', 'weir.db'],
    ['stream.', 'stream.db'],
  ]) {
    const db = new DatabaseSync(join(folder, name), { readOnly: true, timeout: 5000 });
    try {
      const sizes = db.prepare(
        `SELECT s.tbl_name AS name, sum(d.pgsize) AS bytes FROM dbstat('main', 1) d JOIN sqlite_schema s ON s.name = d.name
         GROUP BY s.tbl_name`,
      );
      for (const { name: table, bytes } of sizes.all()) {
        const { rows } = db.prepare(`SELECT count(*) AS rows FROM "${table}"`).get()!;
        found[`rows: ${prefix}${table}`] = Number(rows);
        found[`table: ${prefix}${table}`] = Number(bytes) / MIB;
      }
      const [{ freelist_count: free }, { page_size: page }] = [
        db.prepare('PRAGMA freelist_count').get()!,
        db.prepare('PRAGMA page_size').get()!,
      ];
      found[`free pages: ${name}`] = (Number(free) * Number(page)) / MIB;
      if (prefix === '') found['rules: active'] = Number(db.prepare(ACTIVE).get(now)!.rows);
    } finally {
      db.close();
    }
  }
  return found;
}

const ACTIVE = 'SELECT count(*) AS rows FROM access_rules WHERE expires_at IS NULL OR expires_at > ?';

/** One statement; on a machine that is busy a connection may take longer than the tests give it. */
async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await administer(url, text);
    } catch (error) {
      if (tries === TRIES) throw error;
    }
  }
}

/** The same of a PostgreSQL database. */
async function database(url: string, now: number): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  const sizes = await query(url, 'SELECT relname AS name, pg_total_relation_size(relid) AS bytes FROM pg_stat_user_tables');
  for (const { name, bytes } of sizes) {
    const [{ rows }] = await query(url, `SELECT count(*) AS rows FROM "${name}"`);
    found[`rows: ${name}`] = Number(rows);
    found[`table: ${name}`] = Number(bytes) / MIB;
  }
  const [{ bytes }] = await query(url, 'SELECT pg_database_size(current_database()) AS bytes');
  const [{ rows }] = await query(url, ACTIVE.replace('?', String(now)));
  return { ...found, 'files: database': Number(bytes) / MIB, 'rules: active': Number(rows) };
}

/** p50 and p99 of each kind of request, ms. */
function times(waits: ReadonlyMap<string, number[]>): Record<string, number> {
  const each = [...waits].flatMap(([kind, all]) => [
    [`p50: ${kind}`, quantile(all, 0.5)],
    [`p99: ${kind}`, quantile(all, 0.99)],
  ]);
  const found = Object.fromEntries(each) as Record<string, number>;
  const share = (of: string) => ({ [`${of}: poll beyond bare`]: Math.max(0, found[`${of}: poll`] - found[`${of}: bare`]) });
  return { ...found, ...share('p50'), ...share('p99') };
}
