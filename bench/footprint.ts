/**
 * Memory and start: `node bench/footprint.ts`. One process that serves 1,000,000 rules in 50 lists, all of them asked for, and how long a
 * start on that store takes until the ready line; the same rules in one list, and how long a start takes until its feed is served; and
 * what is left of 131,072 signals sent in batches of 1,000, and how long they take until all of them are in the feed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KEY, startWeir, type Weir } from '../test/support/weir.ts';
import { sendHosts } from './support/burst.ts';
import { fillStore } from './support/fill.ts';
import { type Cell, printTable } from './support/load.ts';
import { memoryMb } from './support/process.ts';

const LISTS = 50;
const RULES = 20_000;
const BURST = 131_072;
const unlimited = { BOOTSTRAP_API_KEY: KEY, RATE_LIMIT_FEEDS: '0', RATE_LIMIT_SIGNALS: '0', RATE_LIMIT_ENTRIES: '0' };
const rows: Cell[][] = [['figure', 'median (least–most)', 'limit']];
const folder = () => mkdtempSync(join(tmpdir(), 'weir-bench-'));
const nameOf = (n: number) => (n === 0 ? 'default' : `list-${n}`);

/** Seconds since a moment of `performance.now()`. */
const since = (begun: number) => (performance.now() - begun) / 1000;

async function read(weir: Weir, list: string, entries: number, encoding = 'identity'): Promise<void> {
  const headers = { authorization: `Bearer ${KEY}`, 'accept-encoding': encoding };
  const response = await fetch(`${weir.url}/v1/threat/feeds/${list}`, { headers });
  await response.arrayBuffer();
  const count = Number(response.headers.get('x-feed-entry-count'));
  if (response.status !== 200 || count !== entries) throw new Error(`${list}: ${response.status}, ${count} entries`);
}

async function manyLists(): Promise<void> {
  const dir = folder();
  const settings = { ...unlimited, DATA_DIR: dir };
  await fillStore(
    dir,
    Array.from({ length: LISTS }, (_, n) => ({ name: nameOf(n), rules: RULES, maxEntries: 131_072 })),
  );
  const starts: number[] = [];
  let empty = 0;
  for (let n = 0; n < 4; n += 1) {
    const begun = performance.now();
    const weir = await startWeir(settings);
    starts.push(since(begun));
    empty = memoryMb(weir.pid);
    await weir.kill('SIGTERM');
  }
  const weir = await startWeir({ ...settings, FEED_REBUILD_SECONDS: '1' });
  for (const encoding of ['identity', 'gzip', 'identity']) {
    for (let n = 0; n < LISTS; n += 1) await read(weir, nameOf(n), RULES, encoding);
    await sleep(1500);
  }
  rows.push(
    [`${LISTS * RULES} rules in ${LISTS} lists: start with geo data to compile, s`, starts[0], 1.2],
    ['later starts, s', starts.slice(1), 1.2],
    ['memory after a start, MB', empty, ''],
    ['with all feeds served, MB', memoryMb(weir.pid), 450],
    ['its peak, MB', memoryMb(weir.pid, 'VmHWM'), ''],
  );
  await weir.kill('SIGTERM');
  rmSync(dir, { recursive: true });
}

async function oneList(): Promise<void> {
  const dir = folder();
  const rules = LISTS * RULES;
  await fillStore(dir, [{ name: 'default', rules, maxEntries: 4_000_000 }]);
  const starts: number[] = [];
  const [served, peak]: [number[], number[]] = [[], []];
  for (let n = 0; n < 3; n += 1) {
    const begun = performance.now();
    const weir = await startWeir({ ...unlimited, DATA_DIR: dir });
    await read(weir, 'default', rules);
    if (n > 0) starts.push(since(begun));
    await read(weir, 'default', rules, 'gzip');
    served.push(memoryMb(weir.pid));
    peak.push(memoryMb(weir.pid, 'VmHWM'));
    await weir.kill('SIGTERM');
  }
  rows.push(
    [`${rules} rules in one list: from the start to the whole feed, s`, starts, 1.5],
    ['with the feed served, MB', served, 350],
    ['its peak, MB', peak, 450],
  );
  rmSync(dir, { recursive: true });
}

async function burst(): Promise<void> {
  const seconds = { accepted: [] as number[], landed: [] as number[], served: [] as number[] };
  const memory: number[] = [];
  for (let n = 0; n < 3; n += 1) {
    const dir = folder();
    const weir = await startWeir({ ...unlimited, DATA_DIR: dir });
    const { accepted, landed } = await sendHosts(weir, dir, BURST);
    const begun = performance.now();
    await read(weir, 'default', BURST);
    seconds.served.push(landed + since(begun));
    seconds.accepted.push(accepted);
    seconds.landed.push(landed);
    memory.push(memoryMb(weir.pid));
    await weir.kill('SIGTERM');
    rmSync(dir, { recursive: true });
  }
  rows.push(
    [`${BURST} signals in batches of 1,000: accepted, s`, seconds.accepted, ''],
    ['landed, s', seconds.landed, ''],
    ['the whole feed served, s', seconds.served, 2],
    ['memory then, MB', memory, 300],
  );
}

await burst();
await manyLists();
await oneList();
printTable(rows);
