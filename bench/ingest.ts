/**
 * How fast signals are accepted, and accepted and landed, embedded engine: `node bench/ingest.ts [--seconds 60]`.
 * Landing is measured with senders that wait while too many entries have yet to land; accepting alone in a short burst.
 * Peer, in the same run: a bare loop of the same upserts (weir's schema and indexes, one prepared statement,
 * transactions of 1,000, synchronous=FULL), and single-row durable commits for the single-entry posts.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { migrateDatabase, openDatabase } from '../src/store/sqlite/database.ts';
import { BARE_UPSERT } from '../src/store/sqlite/landing-statements.ts';
import { openSqliteReads } from '../src/store/sqlite/store.ts';
import { openSqliteStream } from '../src/stream/sqlite/stream.ts';
import { KEY, startWeir } from '../test/support/weir.ts';
import { postLoad, printTable, quantile } from './support/load.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' } } });
const SECONDS = Number(values.seconds);
const BATCH = 1000;
/** How long the shorter parts take: accepting alone, freshness, single entries, s. */
const SHORT = Math.min(SECONDS, 10);
/** Entries that may wait to be landed while landing is measured. */
const BACKLOG = 100_000;
/** Entries a second for which the bodies of a burst are made in advance. */
const MOST = 120_000;
const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };

let seed = 7;
const random = () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed;
};
const dotted = (address: number) => [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.');
const event = () => ({
  type: 'access_rules',
  action: 'block',
  ip: dotted(random()),
  expiration: 86_400,
  description: 'brute force on the login page',
});

const batchOf = (entries: number) => Buffer.from(JSON.stringify(Array.from({ length: entries }, event)));

function folder(): string {
  return mkdtempSync(join(tmpdir(), 'weir-bench-'));
}

/** Rows a second of the bare loop: as many rows as weir has landed, because an index gets slower as it grows. */
function bareLoop(count: number, perTransaction: number): number {
  const dir = folder();
  const db = openDatabase(join(dir, 'weir.db'));
  migrateDatabase(db);
  const statement = db.prepare(BARE_UPSERT);
  const now = Date.now();
  const begun = performance.now();
  for (let row = 0; row < count; ) {
    db.exec('BEGIN IMMEDIATE');
    for (let i = 0; i < perTransaction; i += 1) {
      const address = random();
      row += 1;
      const about = [0, address * 64 + 32, null, dotted(address)];
      statement.run(1, row, null, now, ...about, now + 86_400_000, 0, null, 'brute force on the login page', null, null, now, row);
    }
    db.exec('COMMIT');
  }
  const rate = count / ((performance.now() - begun) / 1000);
  db.close();
  rmSync(dir, { recursive: true });
  return rate;
}

/** Sends entries for a while, with at most `backlog` of them waiting to be landed (if finite, all of them land); entries a second. */
async function weirRun(seconds: number, perRequest: number, lanes: number, backlog: number) {
  const dir = folder();
  const weir = await startWeir({
    DATA_DIR: dir,
    BOOTSTRAP_API_KEY: KEY,
    RATE_LIMIT_SIGNALS: '0',
    RATE_LIMIT_ENTRIES: '0',
    LOG_LEVEL: 'error',
  });
  const reads = openSqliteReads(dir);
  const stream = openSqliteStream(dir);
  const streamId = await stream.id();
  // Batches of a burst are made before the clock starts; a single entry costs nothing, and senders that wait have the time.
  const pool = Array.from({ length: Number.isFinite(backlog) ? 0 : Math.ceil((seconds * MOST) / BATCH) }, () => batchOf(perRequest));
  const landed = async () => (await reads.position(streamId, 0)) ?? 0;
  const begun = performance.now();
  let sent = 0;
  const load = await postLoad(new URL('/v1/signal', weir.url), headers, lanes, async () => {
    while (Number.isFinite(backlog) && sent * perRequest - backlog > (await landed())) await sleep(5);
    if (performance.now() - begun > seconds * 1000) return undefined;
    sent += 1;
    return pool[sent - 1] ?? batchOf(perRequest);
  });
  const { end } = await stream.bounds(0);
  while (Number.isFinite(backlog) && (await landed()) < end) await sleep(5);
  const landedSeconds = (performance.now() - begun) / 1000;
  await weir.kill('SIGTERM');
  await reads.close();
  await stream.close();
  rmSync(dir, { recursive: true });
  return {
    entries: end,
    accepted: end / load.seconds,
    landed: end / landedSeconds,
    requests: load.latencies.length / load.seconds,
    p50: quantile(load.latencies, 0.5),
    p99: quantile(load.latencies, 0.99),
  };
}

/** Batches at a steady rate; ms from each answer until its entries have landed. */
async function freshness(seconds: number, entriesPerSecond: number): Promise<number[]> {
  const dir = folder();
  const weir = await startWeir({
    DATA_DIR: dir,
    BOOTSTRAP_API_KEY: KEY,
    RATE_LIMIT_SIGNALS: '0',
    RATE_LIMIT_ENTRIES: '0',
    LOG_LEVEL: 'error',
  });
  const reads = openSqliteReads(dir);
  const stream = openSqliteStream(dir);
  const streamId = await stream.id();
  const waits: number[] = [];
  const pending: Promise<void>[] = [];
  const count = Math.floor((seconds * entriesPerSecond) / BATCH);
  const bodies = Array.from({ length: count }, () => batchOf(BATCH));
  const begun = performance.now();
  for (const [n, body] of bodies.entries()) {
    await sleep(Math.max(0, begun + (n * BATCH * 1000) / entriesPerSecond - performance.now()));
    pending.push(
      postLoad(new URL('/v1/signal', weir.url), headers, 1, once(body)).then(async () => {
        const accepted = performance.now();
        const { end } = await stream.bounds(0);
        while (((await reads.position(streamId, 0)) ?? 0) < end) await sleep(2);
        waits.push(performance.now() - accepted);
      }),
    );
  }
  await Promise.all(pending);
  await weir.kill('SIGTERM');
  await reads.close();
  await stream.close();
  rmSync(dir, { recursive: true });
  return waits;
}

function once(body: Buffer): () => Buffer | undefined {
  let left: Buffer | undefined = body;
  return () => {
    const given = left;
    left = undefined;
    return given;
  };
}

const burst = await weirRun(SHORT, BATCH, 4, Number.POSITIVE_INFINITY);
const batches = await weirRun(SECONDS, BATCH, 4, BACKLOG);
const bareRate = bareLoop(batches.entries, BATCH);
printTable([
  ['batches of 1000', 'entries/s', 'of the bare loop', 'p50 ms', 'p99 ms'],
  ['bare upsert loop', bareRate, 1, '', ''],
  [`accepted, ${SHORT} s`, burst.accepted, burst.accepted / bareRate, burst.p50, burst.p99],
  [`accepted and landed, ${SECONDS} s`, batches.landed, batches.landed / bareRate, batches.p50, batches.p99],
]);
const half = batches.landed / 2;
const waits = await freshness(SHORT, half);
console.log();
printTable([
  ['freshness at half that rate', 'entries/s', 'p50 ms', 'p99 ms', 'limit ms'],
  ['accepted → landed', half, quantile(waits, 0.5), quantile(waits, 0.99), 250],
]);
const singles = await weirRun(SHORT, 1, 64, Number.POSITIVE_INFINITY);
const singleRate = bareLoop(singles.entries, 1);
console.log();
printTable([
  ['single entries, 64 connections', 'requests/s', 'of single durable commits', 'p50 ms', 'p99 ms'],
  ['single-row durable commits', singleRate, 1, '', ''],
  ['accepted', singles.requests, singles.requests / singleRate, singles.p50, singles.p99],
]);
