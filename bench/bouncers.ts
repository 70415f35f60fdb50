/**
 * Bouncers that pull decisions: `node bench/bouncers.ts [--seconds 30] [--bouncers 1000]`. 1,000 bouncers on one key ask for what has
 * changed every 10 s on connections that stay open, compressed, as the real ones do; the list has 131,072 networks, and five rules
 * a second are made, each of which expires a minute later. Limit: 15% of one core for the whole process.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { newKey } from '../test/support/command.ts';
import { KEY, startWeir } from '../test/support/weir.ts';
import { fillStore } from './support/fill.ts';
import { printTable, quantile } from './support/load.ts';
import { cpuSeconds } from './support/process.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '30' }, bouncers: { type: 'string', default: '1000' } } });
const SECONDS = Number(values.seconds);
const BOUNCERS = Number(values.bouncers);
const NETWORKS = 131_072;
const PERIOD = 10_000;
const CHANGES = 200;

const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
const settings = {
  DATA_DIR: dir,
  BOOTSTRAP_API_KEY: KEY,
  LOG_LEVEL: 'error',
  RATE_LIMIT_FEEDS: '0',
  MAX_CONNECTIONS_PER_ADDRESS: String(2 * BOUNCERS),
};
await fillStore(dir, [{ name: 'default', rules: NETWORKS, maxEntries: 2 * NETWORKS }]);
const weir = await startWeir(settings);
const key = await newKey(settings, 'default', '--permission', 'feed:read', '--list', 'default');

let sent = 0;
/** Blocks one more address for a minute. */
async function change(): Promise<void> {
  sent += 1;
  const body = JSON.stringify([{ type: 'access_rules', action: 'block', ip: `203.0.${sent >> 7}.${(sent & 127) * 2}`, expiration: 60 }]);
  const { status } = await fetch(`${weir.url}/v1/signal`, { method: 'POST', headers: { authorization: `Bearer ${KEY}` }, body });
  if (status !== 200) throw new Error(`a signal was answered with ${status}`);
}

let latencies: number[] = [];
let bytes = 0;
const lanes = Array.from({ length: BOUNCERS }, () => new Agent({ keepAlive: true, maxSockets: 1 }));

function pull(bouncer: number): Promise<void> {
  const begun = performance.now();
  const headers = { 'x-api-key': key, 'user-agent': `bouncer-${bouncer}/1`, 'accept-encoding': 'gzip' };
  return new Promise((resolve, reject) => {
    const asking = request(`${weir.url}/v1/decisions/stream`, { headers, agent: lanes[bouncer] }, (response) => {
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on('end', () => {
        latencies.push(performance.now() - begun);
        if (response.statusCode === 200) resolve();
        else reject(new Error(`a pull was answered with ${response.statusCode}`));
      });
    });
    asking.on('error', reject).end();
  });
}

/** Every bouncer pulls once in each period, evenly spread. */
async function pulls(ms: number): Promise<void> {
  const pending: Promise<void>[] = [];
  const begun = performance.now();
  const all = Math.floor((ms / PERIOD) * BOUNCERS);
  let changed = 0;
  for (let n = 0; n < all; ) {
    const passed = performance.now() - begun;
    const due = Math.min(all, Math.floor((passed / PERIOD) * BOUNCERS) + 1);
    for (; n < due; n += 1) pending.push(pull(n % BOUNCERS));
    for (; passed > (changed + 1) * CHANGES; changed += 1) pending.push(change());
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(pending);
}

console.error('everything is told twice …');
const first = cpuSeconds(weir.pid);
for (let round = 0; round < 2; round += 1) {
  for (let from = 0; from < BOUNCERS; from += 20) {
    await Promise.all(lanes.slice(from, from + 20).map((_, n) => pull(from + n)));
  }
}
const start = { seconds: cpuSeconds(weir.pid) - first, bytes: bytes / latencies.length };
// Until the first rules expire, and with them every second something is told.
await pulls(60_000);
latencies = [];
bytes = 0;
const before = cpuSeconds(weir.pid);
const begun = performance.now();
await pulls(SECONDS * 1000);
const seconds = (performance.now() - begun) / 1000;
printTable([
  [`${BOUNCERS} bouncers, ${NETWORKS} networks, 5 changes/s`, 'pulls/s', 'kB a pull', 'median ms', 'p99 ms', 'of one core', 'limit'],
  [
    'weir',
    latencies.length / seconds,
    bytes / latencies.length / 1000,
    quantile(latencies, 0.5),
    quantile(latencies, 0.99),
    (cpuSeconds(weir.pid) - before) / seconds,
    0.15,
  ],
]);
console.error(
  `everything, once for each: ${(start.bytes / 1e6).toFixed(1)} MB, ${((start.seconds * 1000) / (2 * BOUNCERS)).toFixed(1)} ms of CPU`,
);
for (const lane of lanes) lane.destroy();
await weir.kill('SIGTERM');
rmSync(dir, { recursive: true, force: true });
