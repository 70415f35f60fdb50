/**
 * Steady expiry: `node bench/expiry.ts [--seconds 30]`. 131,072 rules of which two expire every second, the feed polled every second.
 * Limit: 20% of one core for the whole process.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { KEY, startWeir } from '../test/support/weir.ts';
import { fillStore } from './support/fill.ts';
import { printTable } from './support/load.ts';
import { cpuSeconds } from './support/process.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '30' } } });
const SECONDS = Number(values.seconds);
const RULES = 131_072;
const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
console.error(`filling a store with ${RULES} rules …`);
// The first ones expire once everything runs.
const first = Math.ceil(Date.now() / 1000) + 20;
await fillStore(dir, [{ name: 'default', rules: RULES, maxEntries: 4_000_000 }], (n) => (first + Math.floor(n / 2)) * 1000);
const weir = await startWeir({ DATA_DIR: dir, BOOTSTRAP_API_KEY: KEY, RATE_LIMIT_FEEDS: '0', LOG_LEVEL: 'error' });

let bodies = 0;
let lastCount = 0;
async function poll(tag: string): Promise<string> {
  const response = await fetch(`${weir.url}/v1/threat/feeds`, {
    headers: { authorization: `Bearer ${KEY}`, 'if-none-match': tag, 'accept-encoding': 'identity' },
  });
  await response.arrayBuffer();
  if (response.status === 200) bodies += 1;
  else if (response.status !== 304) throw new Error(`a poll was answered with ${response.status}`);
  lastCount = Number(response.headers.get('x-feed-entry-count'));
  // Polled when a second begins, or just before: all that expire until then are gone, or all but its own two.
  const left = RULES - 2 * Math.max(0, Math.floor(Date.now() / 1000) - first + 1);
  if (lastCount < left || lastCount > left + 2) throw new Error(`${lastCount} entries instead of ${left}`);
  return response.headers.get('etag')!;
}
let tag = await poll('');
await new Promise((resolve) => setTimeout(resolve, Math.max(0, first * 1000 - Date.now())));
bodies = 0;
const before = cpuSeconds(weir.pid);
const begun = performance.now();
for (let n = 1; n <= SECONDS; n += 1) {
  tag = await poll(tag);
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, begun + n * 1000 - performance.now())));
}
const seconds = (performance.now() - begun) / 1000;
printTable([
  ['131,072 rules, two expire a second, polled every second', 'new bodies', 'entries', 'of one core', 'limit'],
  ['weir', bodies, lastCount, (cpuSeconds(weir.pid) - before) / seconds, 0.2],
]);
await weir.kill('SIGTERM');
rmSync(dir, { recursive: true, force: true });
