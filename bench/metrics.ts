/**
 * What metrics cost: `node bench/metrics.ts [--rounds 9]`. CPU time of a 304 of a server with metrics and of one without, in turn on the
 * same core while wrk has the other; and of one scrape of a server that holds 1,000 feeds. Needs wrk.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ask, bearer } from '../test/support/http.ts';
import { KEY, startWeir, type Weir } from '../test/support/weir.ts';
import { fillStore } from './support/fill.ts';
import { printTable, quantile } from './support/load.ts';
import { cpuSeconds } from './support/process.ts';
import { wrk } from './support/wrk.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '9' } } });
const ROUNDS = Number(values.rounds);
const ROUND_SECONDS = 2;
const CONNECTIONS = 8;
const LISTS = 1000;
const SCRAPES = 100;
const TOKEN = 'bench-metrics-token';

const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
const pin = (pid: number) => spawn('taskset', ['-a', '-c', '-p', '0', String(pid)], { stdio: 'ignore' });

async function start(name: string, settings: Record<string, string>): Promise<Weir> {
  const data = join(dir, name);
  await fillStore(
    data,
    Array.from({ length: LISTS }, (_, n) => ({ name: n === 0 ? 'default' : `list-${n}`, rules: 10, maxEntries: 1000 })),
  );
  const weir = await startWeir({
    DATA_DIR: data,
    BOOTSTRAP_API_KEY: KEY,
    RATE_LIMIT_FEEDS: '0',
    FEED_REBUILD_SECONDS: '3600',
    LOG_LEVEL: 'error',
    ...settings,
  });
  pin(weir.pid);
  return weir;
}

/** µs of CPU a request, over one round. */
async function costOf({ url, pid }: Weir, etag: string): Promise<number> {
  const before = cpuSeconds(pid);
  const { requestsPerSecond } = await wrk(
    `${url}/v1/threat/feeds/default`,
    { ...bearer(KEY), 'If-None-Match': etag },
    ROUND_SECONDS,
    CONNECTIONS,
  );
  return ((cpuSeconds(pid) - before) * 1e6) / (requestsPerSecond * ROUND_SECONDS);
}

console.error(`filling two stores with ${LISTS} lists …`);
const on = await start('on', { METRICS_TOKEN: TOKEN });
const off = await start('off', {});
const etags: string[] = [];
for (const { url } of [on, off]) etags.push((await ask(url, '/v1/threat/feeds/default', { headers: bearer(KEY) })).headers.etag!);
const [etagOn, etagOff] = etags as [string, string];
await costOf(on, etagOn);
await costOf(off, etagOff);

const costs: { on: number; off: number }[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  // Whichever comes first has what the other leaves behind: they take turns in that too.
  const measured = { on: 0, off: 0 };
  for (const which of round % 2 === 0 ? (['on', 'off'] as const) : (['off', 'on'] as const)) {
    measured[which] = await (which === 'on' ? costOf(on, etagOn) : costOf(off, etagOff));
  }
  costs.push(measured);
}
const median = (of: (round: { on: number; off: number }) => number) => quantile(costs.map(of), 0.5);

for (let n = 1; n < LISTS; n += 1) await ask(on.url, `/v1/threat/feeds/list-${n}`, { headers: bearer(KEY) });
const scrape = () => ask(on.url, '/metrics', { headers: bearer(TOKEN) });
for (let n = 0; n < 20; n += 1) await scrape();
const before = cpuSeconds(on.pid);
let page = '';
for (let n = 0; n < SCRAPES; n += 1) page = (await scrape()).text;
const scrapeMs = ((cpuSeconds(on.pid) - before) * 1000) / SCRAPES;
const series = page.match(/^weir_feed_entries\{/gm)?.length ?? 0;
if (series !== LISTS) throw new Error(`${series} feeds in the metrics`);

printTable([
  ['metrics', 'off', 'on', 'ratio'],
  ['CPU of a 304, µs', median(({ off }) => off), median(({ on }) => on), median(({ on, off }) => on / off)],
  [`CPU of a scrape with ${LISTS} feeds, ms`, '', scrapeMs, ''],
]);
await on.kill('SIGTERM');
await off.kill('SIGTERM');
rmSync(dir, { recursive: true, force: true });
