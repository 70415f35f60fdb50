/**
 * Agents that poll their configuration: `node bench/agents.ts [--seconds 30]`. 1,000 agents ask for /config every 10 s on connections that
 * stay open, compressed and without validators, as the real ones do; the workspace has 20,000 networks and 500 WAF rules, and one rule
 * changes every 5 s. Limits: 15% of one core for the whole process, p99 20 ms.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { KEY, startWeir } from '../test/support/weir.ts';
import { fillStore } from './support/fill.ts';
import { printTable, quantile } from './support/load.ts';
import { cpuSeconds } from './support/process.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '30' } } });
const SECONDS = Number(values.seconds);
const AGENTS = 1000;
const NETWORKS = 20_000;
const WAF_RULES = 500;
const PERIOD = 10_000;
const CHANGES = 5_000;

const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
await fillStore(dir, [{ name: 'default', rules: NETWORKS, maxEntries: NETWORKS }]);
const weir = await startWeir({
  DATA_DIR: dir,
  BOOTSTRAP_API_KEY: KEY,
  LOG_LEVEL: 'error',
  RATE_LIMIT_FEEDS: '0',
  MAX_CONNECTIONS_PER_ADDRESS: '2000',
});
const headers = { authorization: `Bearer ${KEY}` };

async function sendRules(from: number, to: number, action: string): Promise<void> {
  const rules = Array.from({ length: to - from }, (_, n) => ({
    kind: 'waf_rule',
    op: 'upsert',
    rule_ref: `waf-${from + n}`,
    rule: {
      type: 'custom',
      expression: `http.request.path contains "/admin/${from + n}" and http.request.method in {"POST" "PUT"}`,
      action,
      order: from + n,
      config: { note: `rule ${from + n}` },
    },
  }));
  const { status } = await fetch(`${weir.url}/v2/signal`, { method: 'POST', headers, body: JSON.stringify(rules) });
  if (status !== 200) throw new Error(`the rules were answered with ${status}`);
}

let latencies: number[] = [];
let bytes = 0;
const lanes = Array.from({ length: AGENTS }, () => new Agent({ keepAlive: true, maxSockets: 1 }));

function poll(lane: Agent): Promise<void> {
  const sent = performance.now();
  return new Promise((resolve, reject) => {
    const asking = request(`${weir.url}/config`, { headers: { ...headers, 'accept-encoding': 'gzip' }, agent: lane }, (response) => {
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on('end', () => {
        latencies.push(performance.now() - sent);
        if (response.statusCode === 200) resolve();
        else reject(new Error(`a poll was answered with ${response.statusCode}`));
      });
    });
    asking.on('error', reject).end();
  });
}

/** Every agent polls once in each period, evenly spread. */
async function polls(ms: number, period: number): Promise<void> {
  const pending: Promise<void>[] = [];
  const begun = performance.now();
  const all = Math.floor((ms / period) * AGENTS);
  let changed = 0;
  for (let n = 0; n < all; ) {
    const passed = performance.now() - begun;
    const due = Math.min(all, Math.floor((passed / period) * AGENTS) + 1);
    for (; n < due; n += 1) pending.push(poll(lanes[n % AGENTS]));
    if (passed > (changed + 1) * CHANGES) {
      changed += 1;
      pending.push(sendRules(changed, changed + 1, 'challenge'));
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(pending);
}

await sendRules(0, WAF_RULES, 'block');
console.error('first polls …');
await polls(3_000, 3_000);
latencies = [];
bytes = 0;
const before = cpuSeconds(weir.pid);
const begun = performance.now();
await polls(SECONDS * 1000, PERIOD);
const seconds = (performance.now() - begun) / 1000;
printTable([
  ['1,000 agents, polls every 10 s', 'polls/s', 'kB a poll', 'median ms', 'p99 ms', 'limit ms', 'of one core', 'limit'],
  [
    'weir',
    latencies.length / seconds,
    bytes / latencies.length / 1000,
    quantile(latencies, 0.5),
    quantile(latencies, 0.99),
    20,
    (cpuSeconds(weir.pid) - before) / seconds,
    0.15,
  ],
]);
for (const lane of lanes) lane.destroy();
await weir.kill('SIGTERM');
rmSync(dir, { recursive: true, force: true });
