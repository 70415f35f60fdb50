/**
 * A fleet of appliances: `node bench/fleet.ts [--rounds 2]`. 10,000 appliances with keys of their own in 200 workspaces of
 * 1,000 rules, each polling every 30 s over a new connection with If-None-Match, while 2 workspaces change between polls.
 * Limits: 15% of one core for the whole process, p99 20 ms.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startWeir } from '../test/support/weir.ts';
import { printTable, quantile } from './support/load.ts';
import { cpuSeconds } from './support/process.ts';
import { fillWorkspaces } from './support/workspaces.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '2' } } });
const ROUNDS = Number(values.rounds);
const WORKSPACES = 200;
const RULES = 1000;
const APPLIANCES = 10_000;
const PERIOD = 30_000;
const keyText = (n: number) => `fleet-appliance-key-${n}`;

const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
await fillWorkspaces(dir, { workspaces: WORKSPACES, rules: RULES, keys: Array.from({ length: APPLIANCES }, (_, n) => keyText(n)) });

const weir = await startWeir({ DATA_DIR: dir, BOOTSTRAP_API_KEY: 'fleet-bootstrap-key-0123456789', LOG_LEVEL: 'error' });
const tags = new Map<number, string>();
let latencies: number[] = [];
const statuses = new Map<number, number>();

function poll(appliance: number): Promise<void> {
  const sent = performance.now();
  const tag = tags.get(appliance);
  const headers = {
    authorization: `Bearer ${keyText(appliance)}`,
    'accept-encoding': 'gzip',
    ...(tag !== undefined && { 'if-none-match': tag }),
  };
  return new Promise((resolve, reject) => {
    const asking = request(`${weir.url}/v1/threat/feeds`, { headers, agent: false }, (response) => {
      response.resume();
      response.on('end', () => {
        latencies.push(performance.now() - sent);
        const status = response.statusCode ?? 0;
        if (status !== 200 && status !== 304) return reject(new Error(`a poll was answered with ${status}`));
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (response.headers.etag !== undefined) tags.set(appliance, response.headers.etag);
        resolve();
      });
    });
    asking.on('error', reject).end();
  });
}

/** Every appliance polls once within the period, evenly spread; two workspaces change in it. */
async function round(ms: number): Promise<void> {
  const polls: Promise<void>[] = [];
  const begun = performance.now();
  for (let a = 0; a < APPLIANCES; ) {
    const due = Math.min(APPLIANCES, Math.floor(((performance.now() - begun) / ms) * APPLIANCES) + 1);
    while (a < due) {
      polls.push(poll(a));
      a += 1;
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(polls);
}
async function change(n: number): Promise<void> {
  for (const appliance of [(2 * n) % WORKSPACES, (2 * n + 1) % WORKSPACES]) {
    const body = JSON.stringify([{ type: 'access_rules', action: 'block', ip: `203.0.113.${n % 256}` }]);
    const headers = { authorization: `Bearer ${keyText(appliance)}` };
    const { status } = await fetch(`${weir.url}/v1/signal`, { method: 'POST', headers, body });
    if (status !== 200) throw new Error(`the signal was answered with ${status}`);
  }
}

console.error('first polls …');
await round(10_000);
latencies = [];
statuses.clear();
const before = cpuSeconds(weir.pid);
const begun = performance.now();
for (let n = 0; n < ROUNDS; n += 1) {
  await change(n);
  await round(PERIOD);
}
const seconds = (performance.now() - begun) / 1000;
printTable([
  ['10,000 appliances, polls every 30 s', 'polls/s', '304s', '200s', 'p99 ms', 'limit ms', 'of one core', 'limit'],
  [
    'weir',
    latencies.length / seconds,
    statuses.get(304) ?? 0,
    statuses.get(200) ?? 0,
    quantile(latencies, 0.99),
    20,
    (cpuSeconds(weir.pid) - before) / seconds,
    0.15,
  ],
]);
await weir.kill('SIGTERM');
rmSync(dir, { recursive: true, force: true });
