/**
 * Polls by two processes on one port beside one: `node bench/reuse-port.ts [--rounds 5]`. 304s on a feed of 131,072 entries, on connections that stay
 * open; wrk runs beside them at the lowest priority, on all cores, and sends eight requests at a time, so that it takes little of them. What two answer for each second of processor time, of what one does, is the
 * figure that other load on the machine does not move. Limit: ≥ 1.7 times the answers on two cores that are otherwise idle. Needs wrk.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { KEY, startWeir, type Weir } from '../test/support/weir.ts';
import { sendHosts } from './support/burst.ts';
import { printTable, quantile } from './support/load.ts';
import { cpuSeconds } from './support/process.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } });
const ROUNDS = Number(values.rounds);
const SECONDS = 3;
const ENTRIES = 131_072;
const CONNECTIONS = 32;

const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
const settings = { DATA_DIR: dir, BOOTSTRAP_API_KEY: KEY, RATE_LIMIT_FEEDS: '0', RATE_LIMIT_SIGNALS: '0', RATE_LIMIT_ENTRIES: '0' };
const writer = await startWeir(settings);
console.error(`sending ${ENTRIES} signals …`);
await sendHosts(writer, dir, ENTRIES);

const polling = { ...settings, REUSE_PORT: 'on', ROLES: 'feeds' };
const first = await startWeir(polling);
const authorization = `Bearer ${KEY}`;
// The tag of what wrk asks for, which takes no gzip.
const { headers } = await fetch(`${first.url}/v1/threat/feeds`, { headers: { authorization, 'accept-encoding': 'identity' } });
const tag = headers.get('etag')!;

/** Answers a second, and for each second of processor time of these processes. */
async function measure(processes: readonly Weir[]): Promise<{ rate: number; byCpu: number }> {
  const before = processes.map(({ pid }) => cpuSeconds(pid));
  const args = [
    '-n',
    '19',
    'wrk',
    '-t2',
    `-c${CONNECTIONS}`,
    `-d${SECONDS}s`,
    '-H',
    `Authorization: ${authorization}`,
    '-H',
    `If-None-Match: ${tag}`,
    '-s',
    new URL('support/pipeline.lua', import.meta.url).pathname,
  ];
  const { stdout } = await promisify(execFile)('nice', [...args, `${first.url}/v1/threat/feeds`]);
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(stdout);
  const answers = Number(/(\d+) requests in/.exec(stdout)![1]);
  const cpu = processes.reduce((sum, { pid }, i) => sum + cpuSeconds(pid) - before[i]!, 0);
  return { rate: answers / SECONDS, byCpu: answers / cpu };
}

type Figures = Awaited<ReturnType<typeof measure>>[];

const one: Figures = [];
for (let round = 0; round <= ROUNDS; round++) one.push(await measure([first]));
const second = await startWeir({ ...polling, PORT: new URL(first.url).port });
const two: Figures = [];
for (let round = 0; round <= ROUNDS; round++) two.push(await measure([first, second]));
await Promise.all([writer, first, second].map((process) => process.kill('SIGKILL')));
rmSync(dir, { recursive: true });

// The first round of each warms.
const median = (figures: readonly number[]) => quantile([...figures], 0.5);
const row = (name: string, figures: Figures) => {
  const [rate, byCpu] = [median(figures.slice(1).map((each) => each.rate)), median(figures.slice(1).map((each) => each.byCpu))];
  return { name, rate, byCpu };
};
const [a, b] = [row('one process', one), row('two on one port', two)];
printTable([
  ['', '304s a second', 'of one', '304s a second of processor time', 'of one'],
  ...[a, b].map(({ name, rate, byCpu }) => [
    name,
    Math.round(rate),
    (rate / a.rate).toFixed(2),
    Math.round(byCpu),
    (byCpu / a.byCpu).toFixed(2),
  ]),
]);
