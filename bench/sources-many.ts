/**
 * Many sources that are fetched hourly: `node bench/sources-many.ts [--sources 1000] [--lines 200] [--changed 0.1] [--engine postgres]`. They are of
 * eight workspaces and on 32 hosts, because one host is asked one at a time and one workspace has two downloads. A clock that is set makes the hour
 * short; each of them is refreshed in it. Processor time: of weir without a source, with all of them while none is due, of an hour in
 * which nothing is new, and of one in which that part of the lists has changed by a tenth. Limit: 3 % of a core.
 */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { list, listServer } from '../test/support/list-server.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { KEY, startWeir, weir as weirCommand } from '../test/support/weir.ts';
import { scattered } from './support/fill.ts';
import { printTable } from './support/load.ts';
import { cpuSeconds, memoryMb } from './support/process.ts';

const { values } = parseArgs({
  options: {
    sources: { type: 'string', default: '1000' },
    lines: { type: 'string', default: '200' },
    changed: { type: 'string', default: '0.1' },
    engine: { type: 'string', default: 'embedded' },
  },
});
const [SOURCES, LINES, CHANGED] = [values.sources, values.lines, values.changed].map(Number);
const [HOSTS, WORKSPACES] = [32, 8];
const [IDLE, HOUR] = [20, 3600];
/** How much faster than the real one the clock goes while sources are due. */
const FASTER = 30;

const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
const clock = join(dir, 'clock');
let ahead = 0;
/** Whoever reads the clock sees all of it. */
function setClock(seconds: number): void {
  ahead = seconds;
  writeFileSync(`${clock}.next`, String(Math.round(seconds * 1000)));
  renameSync(`${clock}.next`, clock);
}
setClock(0);
const postgres = values.engine === 'postgres' ? await startPostgres() : undefined;
const settings = {
  ...{ DATA_DIR: join(dir, 'data'), BOOTSTRAP_API_KEY: KEY, RATE_LIMIT_MANAGE: '0', LOG_LEVEL: 'error' },
  ...{ SOURCE_NETWORKS: '127.0.0.0/8', MAX_SOURCES: '0', MAX_LISTS: '0' },
  ...{ CLOCK_FILE: clock, NODE_OPTIONS: `--import=${new URL('../test/support/settable-clock.ts', import.meta.url)}` },
  ...(postgres && { DATABASE_URL: await postgres.createDatabase() }),
};
const weir = await startWeir(settings);
const server = await listServer('0.0.0.0');
const { port } = new URL(server.url);

async function command(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await weirCommand([...args, '--json'], settings);
  if (code !== 0) throw new Error(`weir ${args.join(' ')}: ${stderr}`);
  return stdout;
}
async function keyOf(workspace: string): Promise<string> {
  await command('workspace', 'create', workspace, '--org', 'default');
  return (JSON.parse(await command('key', 'create', '--workspace', workspace, '--role', 'admin')) as { key: string }).key;
}
const lines = (source: number, from: number) =>
  `${Array.from({ length: LINES }, (_, i) => scattered(source * 2 * LINES + from + i))
    .map((n) => [24, 16, 8, 0].map((shift) => (n >>> shift) & 255).join('.'))
    .join('\n')}\n`;
const askedOf = (n: number) => server.asked.get(`/${n}`) ?? 0;
const spent = async (work: () => Promise<unknown>) => {
  const [begun, cpu] = [performance.now(), cpuSeconds(weir.pid)];
  await work();
  return { seconds: (performance.now() - begun) / 1000, cpu: cpuSeconds(weir.pid) - cpu };
};
const idleShare = async () => {
  const { seconds, cpu } = await spent(() => sleep(IDLE * 1000));
  return cpu / seconds;
};
/** Until each source was asked so often, and what came of it has landed; the clock goes faster meanwhile. */
async function allAsked(times: number): Promise<void> {
  for (const begun = { at: performance.now(), ahead }; ; await sleep(100)) {
    if (Array.from({ length: SOURCES }, (_, n) => askedOf(n)).every((asked) => asked >= times)) break;
    setClock(begun.ahead + ((performance.now() - begun.at) / 1000) * (FASTER - 1));
  }
  await sleep(2000);
}

try {
  await sleep(5000);
  const rows = [['', 'of a core', 'CPU of a refresh', 'memory, MiB']];
  const told = (what: string, share: number, each?: number) =>
    rows.push([
      what,
      `${(share * 100).toFixed(2)} %`,
      each === undefined ? '' : `${(each * 1000).toFixed(1)} ms`,
      memoryMb(weir.pid).toFixed(0),
    ]);
  told('no sources', await idleShare());

  const keys: string[] = [];
  for (let w = 0; w < WORKSPACES; w += 1) keys.push(await keyOf(`workspace-${w}`));
  for (let n = 0; n < SOURCES; n += 1) {
    server.set(`/${n}`, list(lines(n, 0)));
    const url = `http://127.0.0.${2 + (n % HOSTS)}:${port}/${n}`;
    const body = JSON.stringify({ name: `list-${n}`, url, every: HOUR });
    const headers = { authorization: `Bearer ${keys[n % WORKSPACES]}` };
    const response = await fetch(`${weir.url}/v1/manage/sources`, { method: 'POST', headers, body });
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  }
  const first = await spent(() => allAsked(1));
  await sleep(5000);
  const idle = await idleShare();
  told(`${SOURCES} sources, none due`, idle);
  /** Of an hour: what refreshing took, on top of what is spent whether anything is due or not. */
  const hour = async (what: string, times: number) => {
    setClock(ahead + HOUR);
    const { seconds, cpu } = await spent(() => allAsked(times));
    const work = cpu - idle * seconds;
    told(what, idle + work / HOUR, work / SOURCES);
  };
  await hour('an hour, nothing new', 2);
  for (let n = 0; n < SOURCES * CHANGED; n += 1) server.set(`/${n}`, list(lines(n, Math.round(LINES / 10))));
  await hour(`an hour, ${CHANGED * 100} % of the lists changed`, 3);
  printTable(rows);
  console.log(`\nthe first ${SOURCES} refreshes: ${((first.cpu / SOURCES) * 1000).toFixed(1)} ms of CPU each`);
} finally {
  await weir.kill('SIGKILL');
  await server[Symbol.asyncDispose]();
  await postgres?.stop();
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
}
