/**
 * Lists that come by themselves: `node bench/sources.ts [--lines 120000] [--part 0.03] [--rounds 5] [--engine postgres]`.
 * From a refresh that is asked for to the last byte of the feed that has what differs (half of it new, half gone); then, with feeds that are read
 * again every 30 seconds, polls of another list on one connection beside a refresh, and of a bare server beside both; and what a refresh that
 * finds nothing new asks and writes.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { list, listServer } from '../test/support/list-server.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { KEY, startWeir } from '../test/support/weir.ts';
import { scattered } from './support/fill.ts';
import { printTable } from './support/load.ts';
import { watchMachine } from './support/machine.ts';
import { cpuSeconds, memoryMb } from './support/process.ts';

const { values } = parseArgs({
  options: {
    lines: { type: 'string', default: '120000' },
    part: { type: 'string', default: '0.03' },
    rounds: { type: 'string', default: '5' },
    engine: { type: 'string', default: 'embedded' },
  },
});
const [LINES, PART, ROUNDS] = [values.lines, values.part, values.rounds].map(Number);
/** Lines that come and go in each round; the first round makes all of them. */
const MOVED = Math.round((LINES * PART) / 2);

const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
const postgres = values.engine === 'postgres' ? await startPostgres() : undefined;
const limits = { RATE_LIMIT_ENTRIES: '0', RATE_LIMIT_MANAGE: '0', RATE_LIMIT_FEEDS: '0', LOG_LEVEL: 'error' };
const settings = {
  ...{ DATA_DIR: join(dir, 'data'), BOOTSTRAP_API_KEY: KEY, ...limits, SOURCE_NETWORKS: '127.0.0.1', MAX_SOURCES: '0' },
  ...(postgres && { DATABASE_URL: await postgres.createDatabase() }),
};
let weir = await startWeir({ ...settings, FEED_REBUILD_SECONDS: '0' });
const server = await listServer();
const headers = { authorization: `Bearer ${KEY}` };

interface Reply {
  readonly id: string;
  readonly entries: number;
  readonly asked: string | null;
  readonly confirmed_at: string | null;
}
async function ask(path: string, body?: object): Promise<Reply> {
  const asked = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const response = await fetch(`${weir.url}/v1/manage${path}`, { headers, ...asked });
  if (!response.ok) throw new Error(`${path} was answered with ${response.status}: ${await response.text()}`);
  return (await response.json()) as Reply;
}
let tag = '';
/** A feed as a firewall reads it; undefined where it has not changed since it was read last. */
async function feed(name: string): Promise<string | undefined> {
  const response = await fetch(`${weir.url}/v1/threat/feeds/${name}`, { headers: { ...headers, 'if-none-match': tag } });
  const text = await response.text();
  if (response.status === 304) return undefined;
  if (response.status !== 200) throw new Error(`the feed was answered with ${response.status}`);
  tag = response.headers.get('etag')!;
  return text;
}
const address = (n: number) => [24, 16, 8, 0].map((shift) => (scattered(n) >>> shift) & 255).join('.');
const text = (from: number, lines: number) => `${Array.from({ length: lines }, (_, i) => address(from + i)).join('\n')}\n`;
const p99 = (times: readonly number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;

/** Polls a small feed, one poll after the other, until it is ended; ms of each. */
function polling(): () => Promise<number[]> {
  const times: number[] = [];
  let isOver = false;
  const done = (async () => {
    while (!isOver) {
      const begun = performance.now();
      await feed('small');
      times.push(performance.now() - begun);
      await sleep(2);
    }
  })();
  return async () => {
    isOver = true;
    await done;
    return times;
  };
}

/** Has the origin publish the lines from the n-th on. */
const publish = (from: number) => server.set('/large', list(text(from, LINES)));

/** Asks for a refresh, and waits until `isThere`; the time, and the processor's. */
async function refresh(from: number, isThere: () => Promise<boolean>): Promise<string[]> {
  // A feed that changes twice within a second shows the second change in the next: rounds are not to begin with the second.
  await sleep(1000 * Math.random());
  const [begun, cpu] = [performance.now(), cpuSeconds(weir.pid)];
  if (from === 0) await ask('/sources', { name: 'large', url: `${server.url}/large`, every: 3600 });
  else await ask('/sources/large/refresh', {});
  while (!(await isThere())) await sleep(20);
  return [`${Math.round(performance.now() - begun)} ms`, `${(cpuSeconds(weir.pid) - cpu).toFixed(2)} s`];
}

/** Whether the feed has the lines from the n-th on, and none before. */
async function isInFeed(from: number): Promise<boolean> {
  const read = await feed('large');
  const has = (n: number) => `\n${read}`.includes(`\n${address(n)}/32\n`);
  return read !== undefined && has(from + LINES - 1) && (from === 0 || !has(from - 1));
}

try {
  server.set('/small', list(text(3_000_000, 50)));
  await ask('/sources', { name: 'small', url: `${server.url}/small`, every: 86_400 });
  while ((await ask('/sources/small')).entries === 0) await sleep(50);
  const rows = [['', 'in the feed', 'CPU', 'peak MiB']];
  for (let round = 0; round <= ROUNDS; round += 1) {
    publish(round * MOVED);
    const took = await refresh(round * MOVED, () => isInFeed(round * MOVED));
    rows.push([round === 0 ? 'all new' : `${PART * 100}% differ`, ...took, String(Math.round(memoryMb(weir.pid, 'VmHWM')))]);
  }
  printTable(rows);

  await weir.kill('SIGTERM');
  weir = await startWeir(settings);
  const beside = [['', 'refresh', 'CPU', 'polls p99', 'longest', 'machine p99', 'longest', 'memory, MiB more']];
  for (let round = ROUNDS + 1; round <= ROUNDS + 3; round += 1) {
    await feed('small');
    // Not beside the polls: this thread is also the one that polls.
    publish(round * MOVED);
    await sleep(1000);
    const memory = memoryMb(weir.pid);
    const [machine, polls] = [await watchMachine(), polling()];
    const took = await refresh(round * MOVED, async () => (await ask('/sources/large')).asked === null);
    const [polled, waits] = [await polls(), await machine.end()];
    const shown = [p99(polled), Math.max(...polled), p99(waits), Math.max(...waits)].map((each) => `${each.toFixed(1)} ms`);
    beside.push([`${PART * 100}% differ`, ...took, ...shown, (memoryMb(weir.pid, 'VmHWM') - memory).toFixed(0)]);
  }
  printTable(beside);

  const batches = async () => ((await ask('/batches?limit=200')) as unknown as { batches: unknown[] }).batches.length;
  await sleep(1000);
  const [asked, before] = [server.asked.get('/large')!, await batches()];
  await ask('/sources/large/refresh', {});
  while ((await ask('/sources/large')).asked !== null) await sleep(20);
  console.log(`\nnothing new: ${server.asked.get('/large')! - asked} request, ${(await batches()) - before} batches`);
} finally {
  await weir.kill('SIGKILL');
  await server[Symbol.asyncDispose]();
  await postgres?.stop();
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
}
