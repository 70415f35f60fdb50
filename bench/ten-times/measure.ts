/** What is measured of a population of bench/ten-times.ts: figures by name, each of one weir on one database. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { commandText } from '../../test/support/command.ts';
import { administer } from '../../test/support/postgres.ts';
import { startWeir, type Weir } from '../../test/support/weir.ts';
import { postLoad, quantile } from '../support/load.ts';
import { cpuSeconds, memoryMb } from '../support/process.ts';
import { BATCH, hostOf, keyOf, type Population } from './fill.ts';

/** `of`: what it should be proportional to: to nothing (1), or to how much there is in all. */
export interface Measured {
  readonly name: string;
  readonly of: 'nothing' | 'all';
  readonly value: number;
}

/** Batches of the landing, half of them with rules that are there; requests of each kind; s of idling. */
const [LANDED, ASKED, IDLE] = [60, 200, 20];
/** How long a feed is not asked for anew, s: longer than the polls take that come from memory. */
const REBUILD = 20;

export async function measure(dataDir: string, url: string, population: Population): Promise<Measured[]> {
  const { workspaces } = population;
  const settings = {
    ...{ DATA_DIR: dataDir, DATABASE_URL: url, LOG_LEVEL: 'error', RATE_LIMIT_FEEDS: '0', RATE_LIMIT_SIGNALS: '0' },
    ...{ RATE_LIMIT_ENTRIES: '0', RATE_LIMIT_MANAGE: '0', FEED_REBUILD_SECONDS: String(REBUILD) },
  };
  const found: Measured[] = [];
  const tell = (name: string, value: number, of: Measured['of'] = 'nothing') => {
    found.push({ name, of, value });
    console.error(`  ${name}: ${value.toFixed(3)}`);
  };
  const [{ size, rules }] = await administer(
    url,
    "SELECT pg_database_size(current_database()) AS size, pg_total_relation_size('access_rules') AS rules",
  );
  tell('database, MiB', Number(size) / 2 ** 20, 'all');
  tell('table of rules with its indexes, bytes a rule', Number(rules) / (workspaces * population.rules));

  const before = await readWhole(url);
  const starts: number[] = [];
  for (let n = 0; n < 4; n += 1) {
    const begun = performance.now();
    const started = await startWeir(settings);
    // The first one compiles geo data.
    if (n > 0) starts.push((performance.now() - begun) / 1000);
    await started.kill('SIGTERM');
  }
  tell('start to the ready line, s', quantile(starts, 0.5));

  const weir = await startWeir(settings);
  try {
    await sleep(2000);
    tell('memory after a start, MiB', memoryMb(weir.pid));
    const both = await spending(weir, url);
    await polls(weir, population, tell, both);
    tell('memory with every workspace polled, MiB', memoryMb(weir.pid), 'all');
    const idle = await both(() => sleep(IDLE * 1000));
    tell('idle: CPU of weir, ms a second', (idle.weir * 1000) / IDLE);
    tell('idle: CPU of PostgreSQL, ms a second', (idle.postgres * 1000) / IDLE);
    await landing(weir, url, population, tell, both);
    await reads(weir, population, tell);
    tell('memory at the end, MiB', memoryMb(weir.pid), 'all');
  } finally {
    await weir.kill('SIGTERM');
  }
  await sweeps(url, tell);
  const file = join(dataDir, 'export.ndjson');
  const timed = async (name: string, of: Measured['of'], ...args: string[]) => {
    const begun = performance.now();
    await commandText(args, settings);
    tell(name, (performance.now() - begun) / 1000, of);
  };
  await timed('weir export of one workspace, s', 'nothing', 'export', file, '--workspace', 'workspace 1');
  rmSync(file);
  await timed('weir workspace ls, s', 'all', 'workspace', 'ls');
  const tables = [...(await readWhole(url))].map(([table, rows]) => [table, rows - (before.get(table) ?? 0)] as const);
  for (const [table, rows] of tables) if (rows > 10 * workspaces) console.error(`  without an index: ${rows} rows of ${table}`);
  tell(
    'rows that were read without an index',
    tables.reduce((sum, [, rows]) => sum + rows, 0),
    'all',
  );
  return found;
}

/** Rows that PostgreSQL has read so far without an index, by table. */
async function readWhole(url: string): Promise<Map<string, number>> {
  const rows = await administer(url, 'SELECT relname AS name, seq_tup_read AS rows FROM pg_stat_user_tables');
  return new Map(rows.map((row) => [String(row.name), Number(row.rows)]));
}

type Tell = (name: string, value: number, of?: Measured['of']) => void;
type Both = (work: () => Promise<unknown>) => Promise<{ seconds: number; weir: number; postgres: number }>;

const bearer = (n: number) => ({ authorization: `Bearer ${keyOf(n)}` });
async function asked(weir: Weir, path: string, n: number, status: number, headers: Record<string, string> = {}) {
  const sent = performance.now();
  const response = await fetch(weir.url + path, { headers: { ...bearer(n), ...headers } });
  const text = await response.text();
  if (response.status !== status) throw new Error(`${path} of workspace ${n}: ${response.status} ${text.slice(0, 200)}`);
  return { ms: performance.now() - sent, headers: response.headers, text };
}

/** Each workspace's feed for the first time, and again with its tag. */
async function polls(weir: Weir, { workspaces, rules }: Population, tell: Tell, both: Both): Promise<void> {
  const tags: string[] = [];
  const cold: number[] = [];
  const warm: number[] = [];
  const first = await both(async () => {
    for (let n = 1; n <= workspaces; n += 1) {
      const { ms, headers } = await asked(weir, '/v1/threat/feeds', n, 200);
      if (n > 1 && Number(headers.get('x-feed-entry-count')) < rules * 0.99) throw new Error('a feed is not whole');
      tags[n] = headers.get('etag')!;
      cold.push(ms);
    }
  });
  tell('first poll of a workspace, ms, median', quantile(cold, 0.5));
  tell('first poll of a workspace, ms, p99', quantile(cold, 0.99));
  tell('first poll: CPU of weir, ms', (first.weir * 1000) / workspaces);
  tell('first poll: CPU of PostgreSQL, ms', (first.postgres * 1000) / workspaces);
  const again = async (most: number) => {
    for (let n = 1; n <= Math.min(most, workspaces); n += 1) {
      warm.push((await asked(weir, '/v1/threat/feeds', n, 304, { 'if-none-match': tags[n] })).ms);
    }
  };
  // Behind the interval of rebuilds: each asks the store once more whether anything has changed.
  await sleep(REBUILD * 1000);
  const asking = await both(() => again(workspaces));
  tell('304 that asks the store, ms, median', quantile(warm, 0.5));
  tell('304 that asks the store: CPU of weir, ms', (asking.weir * 1000) / workspaces);
  tell('304 that asks the store: CPU of PostgreSQL, ms', (asking.postgres * 1000) / workspaces);
  const begun = performance.now();
  await again(ASKED);
  warm.length = 0;
  const { weir: cpu } = await both(async () => {
    while (performance.now() - begun < (REBUILD * 1000) / 2) await again(ASKED);
  });
  tell('304, ms, median', quantile(warm, 0.5));
  tell('304, ms, p99', quantile(warm, 0.99));
  tell('304: CPU of weir, ms', (cpu * 1000) / warm.length);
}

/** Signals that land in as many workspaces as there are batches. */
async function landing(weir: Weir, url: string, { workspaces, rules }: Population, tell: Tell, both: Both): Promise<void> {
  const places = Array.from({ length: LANDED }, (_, n) => 1 + Math.floor((n * workspaces) / LANDED));
  const bodies = places.map((workspace, n) => ({
    workspace,
    // Every other batch sends again what is there.
    body: Buffer.from(
      JSON.stringify(
        Array.from({ length: BATCH }, (_, i) => ({
          ...{ type: 'access_rules', action: 'block', ip: hostOf(workspace, n % 2 === 0 ? rules + i : i), description: 'brute force' },
        })),
      ),
    ),
  }));
  const before = await stored(url);
  const spent = await both(async () => {
    for (const { workspace, body } of bodies) {
      await postLoad(new URL('/v1/signal', weir.url), { ...bearer(workspace), 'content-type': 'application/json' }, 1, once(body));
    }
    while ((await stored(url)).landed < before.landed + LANDED * BATCH) await sleep(20);
  });
  tell('landing, rules a second', (LANDED * BATCH) / spent.seconds);
  tell('landing 1,000 rules: CPU of weir, ms', (spent.weir * 1000) / LANDED);
  tell('landing 1,000 rules: CPU of PostgreSQL, ms', (spent.postgres * 1000) / LANDED);
  await sleep(REBUILD * 1000);
  const changed: number[] = [];
  for (const workspace of places) changed.push((await asked(weir, '/v1/threat/feeds', workspace, 200)).ms);
  tell('poll behind 1,000 changes, ms, median', quantile(changed, 0.5));
}

const once = (body: Buffer) => {
  const left = [body];
  return () => left.pop();
};

/** How many entries have landed so far, by their numbers. */
async function stored(url: string): Promise<{ landed: number }> {
  const [{ last }] = await administer(url, 'SELECT last_seq AS last FROM batches ORDER BY landed_at DESC, last_seq DESC LIMIT 1');
  return { landed: Number(last) };
}

async function reads(weir: Weir, { workspaces }: Population, tell: Tell): Promise<void> {
  const at = (n: number) => 1 + ((n * 37) % workspaces);
  const page: number[] = [];
  for (let n = 0; n < 10; n += 1) {
    for (let after = ''; ; ) {
      const { ms, text } = await asked(weir, `/v1/manage/rules?limit=500${after}`, at(n), 200);
      page.push(ms);
      const { next } = JSON.parse(text) as { next: string | null };
      if (next === null) break;
      after = `&after=${encodeURIComponent(next)}`;
    }
  }
  tell('page of 500 rules, ms, median', quantile(page, 0.5));
  tell('page of 500 rules, ms, p99', quantile(page, 0.99));
  for (const [name, path] of [
    ['number of rules', '/rules/count'],
    ['first sorted page of 100', '/rules?limit=100&kind=access_rule&sort=created&descending=true'],
    ['batches', '/batches?limit=50'],
    ['changes of an hour', '/changes?since=2h&limit=100'],
    ['status', '/status'],
  ] as const) {
    const took: number[] = [];
    for (let n = 0; n < 20; n += 1) took.push((await asked(weir, `/v1/manage${path}`, at(n), 200)).ms);
    tell(`${name}, ms, median`, quantile(took, 0.5));
  }
  const lookups: number[] = [];
  for (let n = 0; n < ASKED; n += 1) {
    lookups.push((await asked(weir, `/v1/manage/lookup?target=${hostOf(at(n), n)}&path=true`, at(n), 200)).ms);
  }
  tell('look-up of an address, ms, median', quantile(lookups, 0.5));
  tell('look-up of an address, ms, p99', quantile(lookups, 0.99));
}

/** Housekeeping: what a slice costs that finds nothing, and one that finds a thousand rules that expired a week ago, of all workspaces. */
async function sweeps(url: string, tell: Tell): Promise<void> {
  const store = await openPostgresStore(url);
  try {
    const now = Date.now();
    const sweep = async () => {
      const begun = performance.now();
      await store.sweep({ now, rulesExpiredBefore: now - 7 * 86_400_000, auditBefore: now - 90 * 86_400_000, limit: 1000 });
      return performance.now() - begun;
    };
    await sweep();
    const idle: number[] = [];
    for (let n = 0; n < 10; n += 1) idle.push(await sweep());
    tell('a slice of housekeeping without work, ms', quantile(idle, 0.5), 'all');
    const full: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      const some = 'SELECT (random() * (SELECT max(last_seq) FROM batches))::bigint FROM generate_series(1, 1000)';
      await administer(url, `UPDATE access_rules SET expires_at = ${now - 8 * 86_400_000} WHERE id = ANY (ARRAY(${some}))`);
      full.push(await sweep());
    }
    tell('a slice that deletes 1,000 rules, ms', quantile(full, 0.5));
  } finally {
    await store.close();
  }
}

/** Processor time of weir, and of PostgreSQL with all its processes, s. */
async function spending(weir: Weir, url: string): Promise<Both> {
  const [{ data_directory: folder }] = await administer(url, 'SHOW data_directory');
  const postmaster = Number(readFileSync(join(String(folder), 'postmaster.pid'), 'utf8').split('\n')[0]);
  const postgres = () => {
    const fields = readFileSync(`/proc/${postmaster}/stat`, 'utf8').split(') ')[1].split(' ');
    const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === postmaster);
    const own = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0) / 100;
    return children.reduce((sum, pid) => sum + cpuOf(Number(pid)), own);
  };
  return async (work) => {
    const [begun, weirBefore, postgresBefore] = [performance.now(), cpuSeconds(weir.pid), postgres()];
    await work();
    const seconds = (performance.now() - begun) / 1000;
    return { seconds, weir: cpuSeconds(weir.pid) - weirBefore, postgres: postgres() - postgresBefore };
  };
}

/** A process may end while it is looked at. */
function parentOf(pid: string): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')[1]);
  } catch {
    return undefined;
  }
}
function cpuOf(pid: number): number {
  try {
    return cpuSeconds(pid);
  } catch {
    return 0;
  }
}
