/**
 * What metrics cost: `node bench/metrics.ts [--seconds 30]`. CPU time of a 304 with metrics, ledger of devices and counts for the console, and
 * of one without, by one process that takes turns (`support/turns.ts`): two processes differ by more than the counting costs. And
 * of one scrape of a service that holds 1,000 feeds. wrk has a core of its own. Needs wrk.
 */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ask, bearer } from '../test/support/http.ts';
import { KEY, startWeir } from '../test/support/weir.ts';
import { fillStore } from './support/fill.ts';
import { printTable } from './support/load.ts';
import { cpuSeconds } from './support/process.ts';
import type { Blocks, Side } from './support/turns.ts';
import { wrk } from './support/wrk.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '30' } } });
const SECONDS = Number(values.seconds);
const WARM_UP_SECONDS = 3;
const CONNECTIONS = 8;
const LISTS = 1000;
const SCRAPES = 100;
const TOKEN = 'bench-metrics-token';
const FEED = '/v1/threat/feeds/default';

const pin = (pid: number) => spawn('taskset', ['-a', '-c', '-p', '0', String(pid)], { stdio: 'ignore' });

/** µs of CPU of a 304 on each side. */
async function measure304s(): Promise<Record<Side, number>> {
  const server = fork(fileURLToPath(new URL('support/turns.ts', import.meta.url)));
  const [url] = (await once(server, 'message')) as [string];
  pin(server.pid!);
  const { etag } = (await ask(url, FEED, { headers: bearer(KEY) })).headers;
  const run = async (seconds: number): Promise<Blocks> => {
    await wrk(url + FEED, { ...bearer(KEY), 'If-None-Match': etag! }, seconds, CONNECTIONS);
    server.send('blocks');
    return ((await once(server, 'message')) as [Blocks])[0];
  };
  await run(WARM_UP_SECONDS);
  const { on, off } = await run(SECONDS);
  server.disconnect();
  return { on: undisturbed(on), off: undisturbed(off) };
}

/** The mean but for the highest fifth: what else the machine does only ever adds. */
function undisturbed(blocks: readonly number[]): number {
  const kept = Float64Array.from(blocks)
    .sort()
    .subarray(0, Math.ceil(blocks.length * 0.8));
  return kept.reduce((sum, each) => sum + each, 0) / kept.length;
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

const { on, off } = await measure304s();
printTable([
  ['metrics, ledger and counts', 'off', 'on', 'ratio'],
  ['CPU of a 304, µs', off, on, on / off],
  [`CPU of a scrape with ${LISTS} feeds, ms`, '', await measureScrapes(), ''],
]);
