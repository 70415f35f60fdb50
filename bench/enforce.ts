/**
 * From the 200 of a signal to the dropped packet: `node bench/enforce.ts [--followers 1000] [--minutes 1] [--engine embedded|postgres]
 * [--processes 1] [--baselines] [--progress] [--json]`, as root. Three workspaces with 40,000 rules each, a key per follower: light clients that wait for
 * changes as weir-follow does, and a weir-follow per workspace with a kernel of its own; 1,000 random blocks and unblocks a minute. With
 * `--baselines` the same with the timer of docs/appliances/nftables.md and with CrowdSec's firewall bouncer afterwards. More than one process
 * share PostgreSQL and Kafka. The whole proof is `node bench/enforce.ts --minutes 10 --baselines --progress`: a line every ten seconds.
 */
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { needs } from '../test/support/programs.ts';
import { seededRandom } from '../test/support/random.ts';
import { changes, RULES, WORKSPACES } from './enforce/changes.ts';
import type { LightClients } from './enforce/clients.thread.ts';
import { type Host, startCrowdsec, startFollower, startTimer } from './enforce/kernel.ts';
import { type Counters, countOf, latency, longest, newCounters, now, record } from './enforce/latencies.ts';
import { entry, startWorld } from './enforce/world.ts';
import { ENGINE_OPTION } from './support/engine.ts';
import { type Figure, report } from './support/figures.ts';
import { type Cell, printTable } from './support/load.ts';
import { watchMachine } from './support/machine.ts';

const { values } = parseArgs({
  options: {
    ...{ followers: { type: 'string', default: '1000' }, minutes: { type: 'string', default: '1' } },
    ...{ processes: { type: 'string', default: '1' }, wait: { type: 'string', default: '50' } },
    ...{ baselines: { type: 'boolean', default: false }, progress: { type: 'boolean', default: false }, json: { type: 'boolean' } },
    ...ENGINE_OPTION,
  },
});
const FOLLOWERS = Number(values.followers);
const MINUTES = Number(values.minutes);
const PROCESSES = Number(values.processes);
const WAIT = Number(values.wait);
const PER_MINUTE = 1_000;
/** Changes during the baselines, which need a while each. */
const BASELINE = 90_000;
/** Threads of light clients. */
const THREADS = 2;
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const log = (text: string) => console.error(`${text} (load ${loadavg()[0]!.toFixed(1)})`);

const world = await startWorld({ engine: PROCESSES > 1 ? 'postgres' : values.engine, processes: PROCESSES, followers: FOLLOWERS });
const { tenants, urls } = world;
const most = Math.ceil(2 * PER_MINUTE * (MINUTES + (2 * BASELINE) / 60_000));
const light = newCounters(most);
const kernel = newCounters(most, light.answered);

/** Version and number of networks of a tenant's feed at this process. */
async function feedOf(url: string, key: string): Promise<{ version: string; count: number }> {
  const response = await fetch(`${url}/v1/decisions/stream?startup=true&wait=1`, { headers: { 'x-api-key': key } });
  await response.arrayBuffer();
  return { version: response.headers.get('x-feed-version')!, count: Number(response.headers.get('x-feed-count')) };
}
/** The version with all rules. */
async function versionOf(url: string, key: string): Promise<string> {
  for (;;) {
    const { version, count } = await feedOf(url, key);
    if (count === RULES) return version;
    await sleep(200);
  }
}
log('rules are there; the followers connect …');
const clients: LightClients['clients'][number][] = [];
for (const { keys } of tenants) {
  const since = await Promise.all(urls.map((url) => versionOf(url, keys[0]!)));
  clients.push(...keys.slice(1).map((key, n) => ({ url: urls[n % urls.length]!, key, since: since[n % urls.length]! })));
}
// A request of the size that a version has is not counted as memory of the clients.
await sleep(2_000);
const before = world.memory();
const threads = await Promise.all(
  Array.from({ length: THREADS }, async (_, n) => {
    const workerData: LightClients = { counters: light, clients: clients.filter((_, i) => i % THREADS === n), wait: WAIT };
    const thread = new Worker(new URL('./enforce/clients.thread.ts', import.meta.url), { workerData });
    await once(thread, 'message');
    return thread;
  }),
);
await sleep(5_000);
log(`${clients.length} clients are idle …`);
const idle = { cpu: world.cpu(), at: now(), answers: light.answers[0]! };
await sleep(WAIT * 1000);
const idleShare = ((world.cpu() - idle.cpu) * 1000) / (now() - idle.at);
const idlePolls = ((light.answers[0]! - idle.answers) * 1000) / (now() - idle.at);
const idleMemory = world.memory() - before;

const random = seededRandom(1);
const ordered = changes(most);
let number = 0;
let lastUrl = 0;
/** Changes by name that no kernel has yet. */
const pending = new Map<string, number>();

/** Random changes for some ms; resolves with their number per tenant when all have been answered. */
async function change(ms: number, only?: number): Promise<number[]> {
  const sent: Promise<void>[] = [];
  const counts = Array<number>(WORKSPACES).fill(0);
  const begun = now();
  for (let at = 0; at < ms; at += -Math.log(1 - random.below(1e6) / 1e6) * (60_000 / PER_MINUTE)) {
    const wait = begun + at - now();
    if (wait > 1) await sleep(wait);
    const own = number++;
    const { tenant, action, ip, name } = ordered[own]!;
    if (only !== undefined && only !== tenant) continue;
    counts[tenant]! += 1;
    pending.set(name, own);
    const url = urls[lastUrl++ % urls.length]!;
    const answered = () => {
      light.answered[own] = now();
    };
    sent.push(world.post(url, tenants[tenant]!.writer, [entry(action, ip)]).then(answered));
  }
  await Promise.all(sent);
  return counts;
}
const seenIn = (counters: Counters) => (name: string, at: number) => {
  const own = pending.get(name);
  if (own === undefined) return;
  pending.delete(name);
  record(counters, own, at);
};
/** Waits until all have the changes, at most `ms`; returns how many are missing. */
async function rest(counters: Counters, expected: number, ms: number): Promise<number> {
  const deadline = now() + ms;
  while (countOf(counters) < expected && now() < deadline) await sleep(100);
  return expected - countOf(counters);
}

const hosts: Host[] = [];
const port = (tenant: number) => new URL(urls[tenant % urls.length]!).port;
for (const [tenant, { keys }] of tenants.entries()) hosts.push(await startFollower(port(tenant), keys[0]!, seenIn(kernel)));
log(`${hosts.length} weir-follow run; ${PER_MINUTE} changes a minute …`);
const machine = await watchMachine(20);
const start = { cpu: world.cpu(), at: now(), answers: light.answers[0]! };
const shares = (counters: Counters) => `${[0.5, 0.99].map((share) => latency(counters, share)).join('; ')} ms`;
const progress = setInterval(() => {
  if (values.progress) log(`${number} changes; p50 and p99 of light clients ${shares(light)}, of kernels ${shares(kernel)}`);
}, 10_000);
const counts = await change(MINUTES * 60_000);
clearInterval(progress);
const spent = { cpu: world.cpu() - start.cpu, seconds: (now() - start.at) / 1000, answers: light.answers[0]! - start.answers };
const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0);
const missing = await rest(light, sum(counts.map((count, n) => count * (tenants[n]!.keys.length - 1))), 20_000);
const missingKernel = await rest(kernel, sum(counts), 20_000);
const bare = Math.max(...(await machine.end()));
for (const host of hosts) await host.stop();
log(`${light.failures[0]} failures`);

const row = (what: string, counters: Counters): Cell[] => [
  what,
  countOf(counters),
  ...[0.5, 0.9, 0.99].map((share) => latency(counters, share)),
  longest(counters),
];
const rows: Cell[][] = [
  ['from the 200', 'changes', 'p50 ms', 'p90 ms', 'p99 ms', 'max ms'],
  row(`${clients.length} light clients: the complete answer`, light),
  row(`${WORKSPACES} weir-follow: the kernel`, kernel),
];

if (values.baselines) {
  const key = tenants[0]!.keys[0]!;
  const names = () => [...pending.keys()];
  const lacking = needs('crowdsec-firewall-bouncer', 'ipset');
  if (lacking) console.error(`Without CrowdSec's firewall bouncer: ${lacking}`);
  // Ready when its set has the whole feed, which nobody changes then: its start is not part of the figure.
  const crowdsec = async (seen: Counters) => startCrowdsec(port(0), key, (await feedOf(urls[0]!, key)).count, names, seenIn(seen));
  const baselines = {
    'the timer of docs/appliances/nftables.md: the kernel': (seen: Counters) => startTimer(port(0), key, names, seenIn(seen)),
    ...(!lacking && { "CrowdSec's firewall bouncer: the kernel": crowdsec }),
  };
  for (const [what, begin] of Object.entries(baselines)) {
    pending.clear();
    const counters = newCounters(most, light.answered);
    const host = await begin(counters);
    log(`${what} …`);
    const [sent] = await change(BASELINE, 0);
    const left = await rest(counters, sent!, 60_000);
    if (left > 0) console.error(`${what}: ${left} changes are missing`);
    await host.stop();
    rows.push(row(what, counters));
  }
}
for (const thread of threads) thread.postMessage('end');
await world.stop();

const isMany = FOLLOWERS > 1_000;
const deliveries = countOf(light);
const figures: Figure[] = [
  { what: 'light clients: changes missing', figure: missing, limit: 0 },
  { what: 'kernels: changes missing', figure: missingKernel, limit: 0 },
  ...(isMany ? [] : [{ what: 'kernels: p50, ms', figure: latency(kernel, 0.5), limit: 350, machine: bare }]),
  ...[light, kernel].map((counters) => ({
    ...{ what: `${counters === light ? 'light clients' : 'kernels'}: p99, ms`, figure: latency(counters, 0.99) },
    ...{ limit: isMany ? 4_000 : 1_000, machine: bare },
  })),
  ...(isMany
    ? [
        { what: `idle clients: share of a core (${idlePolls.toFixed(0)} polls/s)`, figure: idleShare, limit: 0.03 },
        { what: 'idle clients: MiB more', figure: idleMemory, limit: 350 },
      ]
    : []),
];
const costs: Cell[][] = [
  ['costs', ''],
  ['idle: share of a core', idleShare],
  ['idle: polls a second', idlePolls],
  ['idle: MiB more', idleMemory],
  ['changes: share of a core', spent.cpu / spent.seconds],
  ['changes: answers a second', spent.answers / spent.seconds],
  ['CPU of an answer, µs', (spent.cpu * 1e6) / spent.answers],
  ['CPU of a change and client, µs', (spent.cpu * 1e6) / deliveries],
  ['bare server meanwhile, longest answer, ms', bare],
];
if (!values.json) printTable(costs);
report(rows, figures);
