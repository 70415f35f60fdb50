/**
 * Bouncers that are told of lists (SPEC D31) beside ones that are not: `node bench/origins.ts`. Two lists have the same 131,072 networks;
 * of each of two feeds made of them everything is told once, then the order of the lists changes, so that every network moves to the other
 * list: it is deleted under its old name and told under the new one. Limit: the first pull 1.5 times that without lists.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandText, newKey } from '../test/support/command.ts';
import { KEY, startWeir } from '../test/support/weir.ts';
import { fillStore } from './support/fill.ts';
import { printTable } from './support/load.ts';
import { cpuSeconds } from './support/process.ts';

const NETWORKS = 131_072;
const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
const settings = { DATA_DIR: dir, BOOTSTRAP_API_KEY: KEY, LOG_LEVEL: 'error', RATE_LIMIT_FEEDS: '0', FEED_REBUILD_SECONDS: '0' };
await fillStore(dir, [
  { name: 'default', rules: NETWORKS, maxEntries: NETWORKS },
  { name: 'second', rules: NETWORKS, maxEntries: NETWORKS },
]);
const weir = await startWeir(settings);
const inWorkspace = ['--workspace', 'default'];

interface Reply {
  readonly new: readonly unknown[];
  readonly deleted: readonly unknown[];
}

/** Pulls until something is told, at most so many times; what was told, and the seconds of CPU, time and megabytes of all of it. */
async function pull(key: string, query: string, isEnough: (told: Reply) => boolean) {
  const [cpu, begun] = [cpuSeconds(weir.pid), performance.now()];
  for (let tries = 0; ; tries += 1) {
    const response = await fetch(`${weir.url}/v1/decisions/stream${query}`, { headers: { 'x-api-key': key, 'user-agent': 'bench/1' } });
    if (response.status !== 200) throw new Error(`a pull was answered with ${response.status}`);
    const text = await response.text();
    const told = JSON.parse(text) as Reply;
    if (isEnough(told) || tries === 20) {
      const seconds = (performance.now() - begun) / 1000;
      return { told: told.new.length + told.deleted.length, cpu: cpuSeconds(weir.pid) - cpu, seconds, megabytes: text.length / 1e6 };
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const rows: (string | number)[][] = [];
const first = new Map<string, number>();
for (const origins of ['weir', 'lists']) {
  const lists = (order: string) => ['--lists', order];
  await commandText(['feed', 'create', origins, ...inWorkspace, ...lists('default,second'), '--origins', origins], settings);
  const key = await newKey(settings, 'default', '--permission', 'feed:read', '--feed', origins);
  const all = await pull(key, '?startup=true', ({ new: fresh }) => fresh.length === NETWORKS);
  await pull(key, '', () => true);
  await pull(key, '', () => true);
  await commandText(['feed', 'set', origins, ...inWorkspace, ...lists('second,default')], settings);
  const moved = await pull(key, '', ({ deleted }) => deleted.length === NETWORKS || origins === 'weir');
  first.set(origins, all.cpu);
  for (const [what, each] of Object.entries({ 'everything, first': all, 'another order of the lists': moved })) {
    rows.push([`${what}, origins ${origins}`, each.told, each.megabytes, each.seconds * 1000, each.cpu * 1000]);
  }
}
printTable([[`${NETWORKS} networks in two lists`, 'told', 'MB', 'ms', 'ms of CPU'], ...rows]);
console.error(`first pull with lists: ${(first.get('lists')! / first.get('weir')!).toFixed(2)} times that without, limit 1.5`);
await weir.kill('SIGTERM');
rmSync(dir, { recursive: true, force: true });
