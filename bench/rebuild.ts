/**
 * How long a changed feed takes to be ready: `node bench/rebuild.ts [--rules 131072,1000000] [--rounds 5] [--makings] [--gzip]`, on SQLite and on PostgreSQL.
 * With `--makings` also of feeds made of two lists as large, in which both change: of either, of both (min_sources), and where a third is left out (fit).
 * With `--gzip` the feed is asked for compressed (it is not unpacked in the time that is told). Limit, in the same run: the bare scan of the same rows (all columns a feed needs), page by page or by row events.
 * With FEED_REBUILD_SECONDS=0, from a change that has landed until the feed is asked for, read, built and all of it received. Then
 * 304s on a small list, on two connections as fast as they go, while the large one changes and is rebuilt one second after the last
 * time: their p99, limit 10 ms. Needs wrk.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { NO_SETTINGS } from '../src/account/list.ts';
import type { Store } from '../src/ports/store.ts';
import { scanQuery } from '../src/store/postgres/snapshot.ts';
import { openPostgresStore } from '../src/store/postgres/store.ts';
import { openDatabase } from '../src/store/sqlite/database.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { openSqliteStream } from '../src/stream/sqlite/stream.ts';
import { ask } from '../test/support/http.ts';
import { noPostgres, startPostgres } from '../test/support/postgres.ts';
import { KEY, startWeir } from '../test/support/weir.ts';
import { bareScan } from './postgres.ts';
import { fill } from './support/fill.ts';
import { type Cell, printTable } from './support/load.ts';
import { wrk } from './support/wrk.ts';

const { values } = parseArgs({
  options: {
    rules: { type: 'string', default: '131072,1000000' },
    rounds: { type: 'string', default: '5' },
    makings: { type: 'boolean' },
    gzip: { type: 'boolean' },
  },
});
const ROUNDS = Number(values.rounds);
/** Changes before the counted ones: a process that has just started compiles as it goes. */
const WARMUP = 2;
const POLLED_SECONDS = 5;
/** Rebuilds beside which the 304s are to be measured at least. */
const LEAST_REBUILDS = 3;
const rows: Cell[][] = [['after one change', 'bare scan ms', 'ready ms', 'of the scan', "304s' p99 ms", 'beside rebuilds']];

/** Feeds of the two large lists, which have the same rules, beside that of the first. */
const OF_SEVERAL = {
  'one of two lists': {},
  'two agree (min_sources)': { minSources: 2 },
  'one left out (fit)': { fit: 'lists' as const, isTight: true },
};
const MAKINGS = { 'the list': undefined, ...(values.makings ? OF_SEVERAL : {}) };

interface Subject {
  readonly name: string;
  readonly rules: number;
  readonly store: Store;
  /** Reads the rows of the large list, and forgets them. */
  readonly scan: () => Promise<number> | number;
  /** What a service on this store is started with; its stream is to lie in this folder. */
  readonly settings: { readonly DATA_DIR: string; readonly DATABASE_URL?: string };
}

async function measure({ name, rules, store, scan, settings }: Subject): Promise<void> {
  const stream = openSqliteStream(settings.DATA_DIR);
  await store.adoptStream(await stream.id());
  await stream.close();
  await makeFeeds(store, rules);
  for (const [making, feed] of Object.entries(MAKINGS)) {
    const polled = feed === undefined ? 'default' : making;
    const { bare, ready } = await readyAfterChange(settings, polled, async () => {
      const seen = await scan();
      if (seen < rules) throw new Error(`the bare scan saw ${seen} rows`);
    });
    const { p99, rebuilds } = await besideRebuilds(settings, polled);
    rows.push([`${name}, ${rules} rules, ${making}`, bare, ready, ready.map((ms, round) => ms / bare[round]), p99, rebuilds]);
  }
}

async function makeFeeds(store: Store, rules: number): Promise<void> {
  const [workspace] = await store.workspaces();
  const lists = (await store.directory(workspace!.id))!.lists;
  const idOf = (name: string) => lists.find((list) => list.name === name)!.id;
  for (const [name, making] of Object.entries(MAKINGS)) {
    if (making === undefined) continue;
    const { isTight = false, ...set } = { ...making } as { isTight?: boolean };
    // The last list has half as many rules of its own, for which there is no room.
    const of = {
      lists: [idOf('default'), idOf('second'), ...(isTight ? [idOf('more')] : [])],
      maxEntries: isTight ? rules + 1000 : 4_000_000,
    };
    await store.createFeed(workspace!.id, { ...NO_SETTINGS, name, ...of, ...set });
  }
}

/** Services that were started: each blocks addresses of its own. */
let services = 0;

/** A service whose large list changes, and of which a feed is read. */
async function startChanging(settings: Subject['settings'], polled: string, rebuildSeconds: number) {
  const limits = { RATE_LIMIT_FEEDS: '0', RATE_LIMIT_SIGNALS: '0', RATE_LIMIT_ENTRIES: '0', LOG_LEVEL: 'error' };
  const weir = await startWeir({ ...settings, ...limits, BOOTSTRAP_API_KEY: KEY, FEED_REBUILD_SECONDS: String(rebuildSeconds) });
  const headers = { authorization: `Bearer ${KEY}`, 'accept-encoding': values.gzip ? 'gzip' : 'identity' };
  const address = (list: string) => `${weir.url}/v1/threat/feeds/${encodeURIComponent(list)}`;
  async function read(list: string): Promise<string> {
    const { status, headers: told } = await ask(weir.url, new URL(address(list)).pathname, { headers });
    if (status !== 200) throw new Error(`the feed was answered with ${status}`);
    return told.etag!;
  }
  let tag = await read(polled);
  const run = services++;
  let changes = 0;
  async function send(list: string, body: string): Promise<void> {
    const { status } = await fetch(`${weir.url}/v1/signal?list=${list}`, { method: 'POST', headers, body });
    if (status !== 200) throw new Error(`the signal was answered with ${status}`);
  }
  return {
    weir,
    headers,
    address,
    read,
    /** Blocks one more address; resolves when that has landed for certain, and a second feed in the same second is none of it. */
    async change(): Promise<void> {
      // None of the hosts that the lists are filled with.
      const ip = `203.${run}.${changes}.200`;
      changes += 1;
      const body = JSON.stringify([{ type: 'access_rules', action: 'block', ip }]);
      // Where two have to agree, both say it.
      for (const list of values.makings ? ['default', 'second'] : ['default']) await send(list, body);
      await sleep(1100);
    },
    /** ms until all of the changed feed is here. */
    async receive(): Promise<number> {
      const begun = performance.now();
      const before = tag;
      tag = await read(polled);
      if (tag === before) throw new Error('the feed did not change');
      return performance.now() - begun;
    },
  };
}

/** For each round ms of the bare scan after a change, which finds no page in its cache either, and until all of the changed feed is received. */
async function readyAfterChange(
  settings: Subject['settings'],
  polled: string,
  scan: () => Promise<void>,
): Promise<{ bare: number[]; ready: number[] }> {
  const { weir, change, receive } = await startChanging(settings, polled, 0);
  const times = { bare: [] as number[], ready: [] as number[] };
  for (let round = -WARMUP; round < ROUNDS; round += 1) {
    await change();
    const begun = performance.now();
    await scan();
    times.bare.push(performance.now() - begun);
    times.ready.push(await receive());
  }
  await weir.kill('SIGTERM');
  return { bare: times.bare.slice(WARMUP), ready: times.ready.slice(WARMUP) };
}

/** p99 of 304s on a small list beside such rebuilds, ms, and how many rebuilds that were. */
async function besideRebuilds(settings: Subject['settings'], polled: string): Promise<{ p99: number; rebuilds: number }> {
  const { weir, change, receive, headers, address, read } = await startChanging(settings, polled, 1);
  const conditional = { ...headers, 'If-None-Match': await read('small') };
  const { status } = await fetch(address('small'), { headers: conditional });
  if (status !== 304) throw new Error(`the small feed was answered with ${status}`);
  let isOver = false;
  let rebuilds = 0;
  const changing = (async () => {
    for (; !isOver; rebuilds += 1) {
      await change();
      await receive();
    }
  })();
  const { p99 } = await wrk(address('small'), conditional, POLLED_SECONDS, 2);
  isOver = true;
  await changing;
  await weir.kill('SIGTERM');
  if (rebuilds < LEAST_REBUILDS) throw new Error(`only ${rebuilds} rebuilds`);
  return { p99, rebuilds };
}

const lists = (rules: number) => [
  { name: 'default', rules, maxEntries: 4_000_000 },
  { name: 'small', rules: 100, maxEntries: 1000 },
  ...(values.makings
    ? [
        { name: 'second', rules, maxEntries: 4_000_000 },
        { name: 'more', rules: rules + (rules >> 1), maxEntries: 4_000_000 },
      ]
    : []),
];
const COLUMNS = 'SELECT id, action, v4, v6, expires_at, levels, CASE WHEN v4 IS NULL AND v6 IS NULL THEN target END FROM access_rules';
const PAGE = 8192;

async function onSqlite(rules: number): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  const store = await openSqliteStore(dir);
  await fill(store, lists(rules));
  const db = openDatabase(join(dir, 'weir.db'), { readOnly: true });
  const page = db.prepare(`${COLUMNS} WHERE list_pk = 1 AND id > ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY id LIMIT ${PAGE}`);
  page.setReturnArrays(true);
  function scan(): number {
    let seen = 0;
    for (let after = -1; ; ) {
      const read = page.all(after, Date.now()) as unknown as number[][];
      seen += read.length;
      if (read.length < PAGE) return seen;
      after = read[read.length - 1][0];
    }
  }
  await measure({ name: 'SQLite', rules, store, scan, settings: { DATA_DIR: dir } });
  db.close();
  await store.close();
  rmSync(dir, { recursive: true });
}

async function onPostgres(rules: number): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  const server = await startPostgres();
  const url = await server.createDatabase();
  const store = await openPostgresStore(url);
  await fill(store, lists(rules));
  const client = new Client(url);
  await client.connect();
  const { rows: found } = await client.query("SELECT pk FROM lists WHERE name = 'default'");
  const scan = () => bareScan(client, scanQuery([found[0].pk], Date.now()));
  await measure({ name: 'PostgreSQL', rules, store, scan, settings: { DATA_DIR: dir, DATABASE_URL: url } });
  await client.end();
  await store.close();
  await server.stop();
  rmSync(dir, { recursive: true });
}

const skipped = noPostgres();
if (skipped) console.error(`PostgreSQL: ${skipped}`);
for (const rules of values.rules.split(',').map(Number)) {
  console.error(`${rules} rules on SQLite …`);
  await onSqlite(rules);
  if (skipped) continue;
  console.error(`${rules} rules on PostgreSQL …`);
  await onPostgres(rules);
}
printTable(rows);
