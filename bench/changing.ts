/**
 * Workspaces that change all the time: `node bench/changing.ts [--workspaces 100] [--seconds 30]`. Each has 20,000 rules, gets a new block every
 * 10 s, and one appliance polls its feed every 30 s over a connection that stays open, so that nearly every poll is of a feed that has
 * changed. Limits for 1,000 of them: 40% of one core for the whole process (as much less as there are fewer), and 10 ms for the p99 of 304s.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startWeir } from '../test/support/weir.ts';
import { printTable, quantile } from './support/load.ts';
import { cpuSeconds, memoryMb } from './support/process.ts';
import { fillWorkspaces } from './support/workspaces.ts';

const { values } = parseArgs({ options: { workspaces: { type: 'string', default: '100' }, seconds: { type: 'string', default: '30' } } });
const WORKSPACES = Number(values.workspaces);
const SECONDS = Number(values.seconds);
const RULES = 20_000;
const CHANGE_PERIOD = 10_000;
const POLL_PERIOD = 30_000;
const keyText = (n: number) => `changing-workspace-key-${n}`;

const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
console.error(`filling ${WORKSPACES} workspaces …`);
await fillWorkspaces(dir, { workspaces: WORKSPACES, rules: RULES, keys: Array.from({ length: WORKSPACES }, (_, n) => keyText(n)) });
const weir = await startWeir({
  DATA_DIR: dir,
  BOOTSTRAP_API_KEY: 'changing-bootstrap-key-0123456789',
  LOG_LEVEL: 'error',
  // Less than the time between two polls of a feed: each first one is of a feed made anew, as with the default in the long run.
  FEED_REBUILD_SECONDS: '5',
});
const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const tags = new Map<number, string>();
const latencies = { 200: [] as number[], 304: [] as number[] };

function ask(workspace: number, method: 'GET' | 'POST', path: string, body = ''): Promise<{ status: number; tag: string | undefined }> {
  const tag = method === 'GET' ? tags.get(workspace) : undefined;
  const headers = {
    authorization: `Bearer ${keyText(workspace)}`,
    'accept-encoding': 'gzip',
    'content-length': body.length,
    ...(tag !== undefined && { 'if-none-match': tag }),
  };
  return new Promise((resolve, reject) => {
    const asking = request(weir.url + path, { method, headers, agent }, (response) => {
      response.resume();
      response.on('end', () => resolve({ status: response.statusCode ?? 0, tag: response.headers.etag }));
    });
    asking.on('error', reject).end(body);
  });
}

async function poll(workspace: number): Promise<void> {
  const sent = performance.now();
  const { status, tag } = await ask(workspace, 'GET', '/v1/threat/feeds');
  if (status !== 200 && status !== 304) throw new Error(`a poll was answered with ${status}`);
  latencies[status].push(performance.now() - sent);
  if (tag !== undefined) tags.set(workspace, tag);
}

async function change(workspace: number, n: number): Promise<void> {
  const event = { type: 'access_rules', action: 'block', ip: `203.0.113.${n % 256}` };
  const { status } = await ask(workspace, 'POST', '/v1/signal', JSON.stringify([event]));
  if (status !== 200) throw new Error(`a signal was answered with ${status}`);
}

/** Each workspace in its turn, once in every period, evenly spread, for so many ms. */
async function evenly(period: number, ms: number, work: (workspace: number, n: number) => Promise<void>): Promise<void> {
  const begun = performance.now();
  const all: Promise<void>[] = [];
  for (let n = 0; performance.now() - begun < ms; n += 1) {
    all.push(work(n % WORKSPACES, Math.floor(n / WORKSPACES)));
    await sleep(Math.max(0, begun + ((n + 1) * period) / WORKSPACES - performance.now()));
  }
  await Promise.all(all);
}

console.error('first polls …');
for (let n = 0; n < WORKSPACES; n += 1) await poll(n);
latencies[200] = [];
latencies[304] = [];
const before = cpuSeconds(weir.pid);
const begun = performance.now();
// Every other poll is asked again at once: that one is answered from memory.
await Promise.all([
  evenly(CHANGE_PERIOD, SECONDS * 1000, change),
  evenly(POLL_PERIOD, SECONDS * 1000, async (workspace) => {
    await poll(workspace);
    await poll(workspace);
  }),
]);
const seconds = (performance.now() - begun) / 1000;
printTable([
  [`${WORKSPACES} workspaces of 20,000 rules`, 'of one core', 'limit', '304 p99 ms', 'limit ms', '200 p50 ms', '200s/s', 'MB'],
  [
    'changed every 10 s, polled every 30 s',
    (cpuSeconds(weir.pid) - before) / seconds,
    (0.4 * WORKSPACES) / 1000,
    quantile(latencies[304], 0.99),
    10,
    quantile(latencies[200], 0.5),
    latencies[200].length / seconds,
    memoryMb(weir.pid),
  ],
]);
await weir.kill('SIGTERM');
agent.destroy();
rmSync(dir, { recursive: true, force: true });
