/**
 * What metrics cost: `node bench/metrics.ts [--rounds 20]`. CPU time of a 304 with metrics, ledger of devices and counts for the console, and
 * of one without, by one process that serves both in turn (`support/two-servers.ts`): two processes differ by more than the counting
 * costs. And of one scrape of a service that holds 1,000 feeds. wrk has a core of its own. Needs wrk.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ask, bearer } from '../test/support/http.ts';
import { KEY, startWeir } from '../test/support/weir.ts';
import { fillStore } from './support/fill.ts';
import { printTable, quantile } from './support/load.ts';
import { cpuSeconds } from './support/process.ts';
import type { Side } from './support/two-servers.ts';
import { wrk } from './support/wrk.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '20' } } });
const ROUNDS = Number(values.rounds);
const ROUND_SECONDS = 1;
const CONNECTIONS = 8;
const LISTS = 1000;
const SCRAPES = 100;
const TOKEN = 'bench-metrics-token';
const FEED = '/v1/threat/feeds/default';

const pin = (pid: number) => spawn('taskset', ['-a', '-c', '-p', '0', String(pid)], { stdio: 'ignore' });

/** Nanoseconds that the main thread has run. */
const mainThread = (pid: number) => Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]);

/** µs of CPU of the main thread a 304, over one round. */
async function costOf(server: ChildProcess, side: Side, url: string, etag: string): Promise<number> {
  server.send(side);
  await once(server, 'message');
  const before = mainThread(server.pid!);
  const { requestsPerSecond } = await wrk(url + FEED, { ...bearer(KEY), 'If-None-Match': etag }, ROUND_SECONDS, CONNECTIONS);
  return (mainThread(server.pid!) - before) / 1e3 / (requestsPerSecond * ROUND_SECONDS);
}

/** µs of CPU of a 304 on each side, a pair for each round. */
async function measure304s(): Promise<Record<Side, number>[]> {
  const server = fork(fileURLToPath(new URL('support/two-servers.ts', import.meta.url)));
  const [urls] = (await once(server, 'message')) as [Record<Side, string>];
  pin(server.pid!);
  // The same bytes, so the same tag at both.
  const etags = await Promise.all([urls.on, urls.off].map(async (url) => (await ask(url, FEED, { headers: bearer(KEY) })).headers.etag!));
  const cost = (side: Side) => costOf(server, side, urls[side], etags[0]!);
  // To warm up.
  for (const side of ['on', 'off', 'on', 'off'] as const) await cost(side);
  const pairs: Record<Side, number>[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    // Whichever comes first has what the other leaves behind: they take turns in that too.
    const pair = { on: 0, off: 0 };
    for (const side of round % 2 === 0 ? (['on', 'off'] as const) : (['off', 'on'] as const)) pair[side] = await cost(side);
    pairs.push(pair);
  }
  server.disconnect();
  return pairs;
}

/** ms of CPU of a scrape of a service with 1,000 feeds. */
async function measureScrapes(): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  console.error(`filling a store with ${LISTS} lists …`);
  await fillStore(
    dir,
    Array.from({ length: LISTS }, (_, n) => ({ name: n === 0 ? 'default' : `list-${n}`, rules: 10, maxEntries: 1000 })),
  );
  const { url, pid, kill } = await startWeir({
    DATA_DIR: dir,
    BOOTSTRAP_API_KEY: KEY,
    RATE_LIMIT_FEEDS: '0',
    FEED_REBUILD_SECONDS: '3600',
    LOG_LEVEL: 'error',
    METRICS_TOKEN: TOKEN,
  });
  pin(pid);
  for (let n = 0; n < LISTS; n += 1) await ask(url, n === 0 ? FEED : `/v1/threat/feeds/list-${n}`, { headers: bearer(KEY) });
  const scrape = () => ask(url, '/metrics', { headers: bearer(TOKEN) });
  for (let n = 0; n < SCRAPES; n += 1) await scrape();
  const before = cpuSeconds(pid);
  let page = '';
  for (let n = 0; n < SCRAPES; n += 1) page = (await scrape()).text;
  const spent = cpuSeconds(pid) - before;
  const series = page.match(/^weir_feed_entries\{/gm)?.length ?? 0;
  if (series !== LISTS) throw new Error(`${series} feeds in the metrics`);
  await kill('SIGTERM');
  rmSync(dir, { recursive: true, force: true });
  return (spent * 1000) / SCRAPES;
}

const pairs = await measure304s();
// The least disturbed rounds of each: what else the machine does only ever adds.
const [on, off] = (['on', 'off'] as const).map((side) =>
  quantile(
    pairs.map((pair) => pair[side]),
    0.1,
  ),
) as [number, number];
printTable([
  ['metrics, ledger and counts', 'off', 'on', 'ratio'],
  ['CPU of a 304, µs', off, on, on / off],
  [`CPU of a scrape with ${LISTS} feeds, ms`, '', await measureScrapes(), ''],
]);
