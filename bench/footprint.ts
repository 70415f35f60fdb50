/**
 * Memory and start: `node bench/footprint.ts`. One process that serves 1,000,000 rules in 50 lists, all of them asked for,
 * and how long a start on that store takes until the ready line. Limits: 450 MB of resident memory, 1.2 s.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KEY, startWeir } from '../test/support/weir.ts';
import { fillStore } from './support/fill.ts';
import { printTable, quantile } from './support/load.ts';
import { memoryMb } from './support/process.ts';

const LISTS = 50;
const RULES = 20_000;
const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
console.error(`filling a store with ${LISTS * RULES} rules …`);
await fillStore(
  dir,
  Array.from({ length: LISTS }, (_, n) => ({ name: n === 0 ? 'default' : `list-${n}`, rules: RULES, maxEntries: 131_072 })),
);
const settings = { DATA_DIR: dir, BOOTSTRAP_API_KEY: KEY, RATE_LIMIT_FEEDS: '0', LOG_LEVEL: 'error' };

const starts: number[] = [];
let empty = 0;
for (let n = 0; n < 5; n += 1) {
  const begun = performance.now();
  const weir = await startWeir(settings);
  starts.push((performance.now() - begun) / 1000);
  empty = memoryMb(weir.pid);
  await weir.kill('SIGTERM');
}

const weir = await startWeir({ ...settings, FEED_REBUILD_SECONDS: '1' });
for (let round = 0; round < 3; round += 1) {
  for (let n = 0; n < LISTS; n += 1) {
    const name = n === 0 ? 'default' : `list-${n}`;
    const response = await fetch(`${weir.url}/v1/threat/feeds/${name}`, {
      headers: { authorization: `Bearer ${KEY}`, 'accept-encoding': round === 1 ? 'gzip' : 'identity' },
    });
    const count = response.headers.get('x-feed-entry-count');
    await response.arrayBuffer();
    if (response.status !== 200 || Number(count) !== RULES) throw new Error(`${name}: ${response.status}, ${count} entries`);
  }
  await new Promise((resolve) => setTimeout(resolve, 1500));
}
printTable([
  ['1,000,000 rules in 50 lists', 'figure', 'limit'],
  ['start with geo data to compile, s', starts[0], 1.2],
  ['later starts, median, s', quantile(starts.slice(1), 0.5), 1.2],
  ['memory after the start, MB', empty, ''],
  ['memory with all feeds served, MB', memoryMb(weir.pid), 450],
  ['its peak, MB', memoryMb(weir.pid, 'VmHWM'), ''],
]);
await weir.kill('SIGTERM');
rmSync(dir, { recursive: true, force: true });
