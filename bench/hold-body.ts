/**
 * What the largest and oddest request bodies do to others:
 * `node bench/hold-body.ts [--seconds 4] [--only 'NAME;NAME'] [--engine postgres] [--json]`.
 * 24 connections with one key send 16 MiB each, over and over, while another workspace polls its feed for 304s. Limits: the p99.9 of
 * those polls 20 ms on top of what a bare server takes at the same time, the p99.9 of the CPU time that the main thread works in one turn
 * 20 ms, resident memory 200 MB over idle. The clients run in threads of their own.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { KEY, startWeir, weir as weirCommand } from '../test/support/weir.ts';
import { ENGINE_OPTION, openEngine } from './support/engine.ts';
import { type Figure, report } from './support/figures.ts';
import { quantile } from './support/load.ts';
import { watchMachine } from './support/machine.ts';
import { memoryMb } from './support/process.ts';
import { STALLS, stallsOf } from './support/stalls-of.ts';

const BYTES = 16 * 1024 * 1024;
const CONNECTIONS = 24;
/** p99.9 of the polls and of a turn, ms; resident memory over idle, MiB. */
const LIMITS = { wait: 20, memory: 200 };

/** One entry with free-form JSON of about `bytes` in its configuration. */
const entry = (n: number, config: object) => ({
  kind: 'access_rule',
  op: 'upsert',
  rule_ref: `r${n}`,
  rule: { target: { ip: `10.${n >> 8}.${n & 255}.1` }, config },
});
const batch = (entryOf: (n: number) => object) => Buffer.from(JSON.stringify(Array.from({ length: 1000 }, (_, n) => entryOf(n))));

const BODIES: Record<string, () => Buffer> = {
  'brackets, open': () => Buffer.alloc(BYTES, '['),
  'brackets, closed': () => Buffer.concat([Buffer.alloc(BYTES / 2, '['), Buffer.alloc(BYTES / 2, ']')]),
  'empty entries': () => Buffer.from(`[${'{},'.repeat(BYTES / 3 - 2)}{}]`),
  'one entry': () => Buffer.from(`[{"a":[${'1,'.repeat(BYTES / 2 - 10)}1]}]`),
  'v2, text': () => batch((n) => entry(n, { text: 'x'.repeat(16_000) })),
  'v2, arrays': () => batch((n) => entry(n, { a: Array(5300).fill([]) })),
  'v2, unknown arrays': () => batch((n) => ({ ...entry(n, {}), unknown: Array(5300).fill([]) })),
  'v2, faults': () => batch((n) => ({ ...entry(n, { a: Array(5300).fill({}) }), op: 'x' })),
  'v2, expressions': () =>
    batch((n) => ({
      kind: 'waf_rule',
      op: 'upsert',
      rule_ref: `w${n}`,
      rule: {
        type: 'custom',
        action: 'block',
        expression: Array(100)
          .fill(`http.request.host eq "h${n % 10}"`)
          .join(' or '),
      },
    })),
};

interface Task {
  readonly role: 'polls' | 'posts';
  readonly url: string;
  readonly key: string;
  readonly body: string;
  /** ms */
  readonly time: number;
}

/** Polls one feed back to back; ms of each answer. */
async function polls({ url, key, time }: Task): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const latencies: number[] = [];
  let tag: string | undefined;
  const ask = () =>
    new Promise<number>((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}`, ...(tag !== undefined && { 'if-none-match': tag }) };
      const asking = request(`${url}/v1/threat/feeds`, { agent, headers }, (response) => {
        tag = response.headers.etag;
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      });
      asking.on('error', reject).end();
    });
  await ask();
  for (const until = performance.now() + time; performance.now() < until; ) {
    const sent = performance.now();
    const status = await ask();
    if (status !== 304) throw new Error(`a poll was answered with ${status}`);
    latencies.push(performance.now() - sent);
    await sleep(1);
  }
  agent.destroy();
  return latencies;
}

/** Posts the body on every connection until the time is over; how many answers had each status. */
async function posts({ url, key, body, time }: Task): Promise<Record<string, number>> {
  const bytes = BODIES[body]();
  const statuses: Record<string, number> = {};
  const { port } = new URL(url);
  const path = body.startsWith('v2') ? '/v2/signal' : '/v1/signal';
  const post = () =>
    new Promise<string>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1');
      let answer = '';
      socket.on('error', () => resolve('reset'));
      socket.on('close', () => resolve('closed'));
      socket.on('data', (data) => {
        answer += data;
        if (!answer.includes('\r\n\r\n')) return;
        resolve(answer.slice(9, 12));
        socket.destroy();
      });
      socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${bytes.length}\r\n\r\n`);
      socket.write(bytes);
    });
  const until = performance.now() + time;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (performance.now() < until) {
        const status = await post();
        statuses[status] = (statuses[status] ?? 0) + 1;
        if (status === '429') await sleep(100);
      }
    }),
  );
  return statuses;
}

function run<T>(task: Task): Promise<T> {
  return new Promise((resolve, reject) => {
    new Worker(new URL(import.meta.url), { workerData: task, argv: [] }).on('message', resolve).on('error', reject);
  });
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { seconds: { type: 'string', default: '4' }, only: { type: 'string' }, json: { type: 'boolean' }, ...ENGINE_OPTION },
  });
  const engine = await openEngine();
  const time = Number(values.seconds) * 1000;
  const figures: Figure[] = [];
  const rows: (string | number)[][] = [
    [
      '24 connections with 16 MiB each',
      'polls',
      'p50 ms',
      'p99.9 ms',
      'most ms',
      'of the machine',
      'CPU of a turn p99.9',
      'most',
      'limit',
      'MB over idle',
      'limit',
      'answers',
    ],
  ];
  for (const body of Object.keys(BODIES).filter((name) => values.only?.split(';').includes(name) ?? true)) {
    const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
    const settings = {
      ...(await engine.settings()),
      DATA_DIR: dir,
      BOOTSTRAP_API_KEY: KEY,
      RATE_LIMIT_SIGNALS: '0',
      RATE_LIMIT_FEEDS: '0',
      RATE_LIMIT_ENTRIES: '0',
      LOG_LEVEL: 'error',
      ...STALLS,
    };
    const weir = await startWeir(settings);
    await command(['workspace', 'create', 'poller', '--org', 'default'], settings);
    const { key } = await command(['key', 'create', '--workspace', 'poller'], settings);
    const alone = await run<number[]>({ role: 'polls', url: weir.url, key, body, time: 1000 });
    await stallsOf(weir);
    const idle = memoryMb(weir.pid);
    const watch = await watchMachine();
    const posting = run<Record<string, number>>({ role: 'posts', url: weir.url, key: KEY, body, time });
    const latencies = await run<number[]>({ role: 'polls', url: weir.url, key, body, time });
    const answers = Object.entries(await posting).map(([status, count]) => `${status}: ${count}`);
    const bare = quantile(await watch.end(), 0.999);
    const { turns, stretch } = await stallsOf(weir);
    const turn = quantile(turns, 0.999);
    // A turn that is interrupted lasts longer, and so does what waits for it.
    const machine = bare + LIMITS.wait * (stretch - 1);
    const peak = memoryMb(weir.pid, 'VmHWM');
    if (rows.length === 1) rows.push(['none', alone.length, ...spread(alone), '', '', '', LIMITS.wait, '', '', '']);
    rows.push([
      body,
      latencies.length,
      ...spread(latencies),
      machine,
      turn,
      turns.at(-1)!,
      LIMITS.wait,
      peak - idle,
      LIMITS.memory,
      answers.join(', '),
    ]);
    const what = `${CONNECTIONS} × 16 MiB, ${body}, ${engine.name}`;
    figures.push({
      what: `${what}: 304s of another workspace, p99.9 ms`,
      figure: quantile(latencies, 0.999),
      limit: LIMITS.wait,
      machine,
    });
    figures.push({ what: `${what}: work of a turn, p99.9 ms of CPU`, figure: turn, limit: LIMITS.wait });
    figures.push({ what: `${what}: memory over idle, MiB`, figure: peak - idle, limit: LIMITS.memory });
    await weir.kill('SIGKILL');
    rmSync(dir, { recursive: true, force: true });
  }
  await engine.stop();
  report(rows, figures);
}

const spread = (latencies: number[]) => [quantile(latencies, 0.5), quantile(latencies, 0.999), Math.max(...latencies)];

async function command(args: string[], settings: Record<string, string>): Promise<{ key: string }> {
  const { code, stdout, stderr } = await weirCommand([...args, '--json'], { ...settings, NODE_OPTIONS: undefined });
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

if (isMainThread) await main();
else {
  const task = workerData as Task;
  parentPort!.postMessage(task.role === 'polls' ? await polls(task) : await posts(task));
}
