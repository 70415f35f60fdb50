/**
 * What a polling appliance gets, on a feed of 131,072 entries: `node bench/feed.ts [--rounds 7]`. As users run it: the rules have arrived
 * as signals, all settings but the rate limits are the defaults, and both the list's feed and the workspace's are polled.
 * Peers in the same run, each pinned to the same core while wrk has the other: nginx serving the same bytes as a static file
 * (1 worker, open_file_cache), and a bare node:http server that does the same comparison and sends the same Buffer. Needs nginx and wrk.
 */
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { KEY, startWeir, type Weir } from '../test/support/weir.ts';
import { sendHosts } from './support/burst.ts';
import { type Cell, printTable } from './support/load.ts';
import { cpuSeconds } from './support/process.ts';
import { wrk } from './support/wrk.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '7' } } });
const ROUNDS = Number(values.rounds);
const ROUND_SECONDS = 1;
const ENTRIES = 131_072;
const CONNECTIONS = 8;
const authorization = `Bearer ${KEY}`;

const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
chmodSync(dir, 0o755);
const pin = (pid: number) => spawn('taskset', ['-a', '-c', '-p', '0', String(pid)], { stdio: 'ignore' });

async function startBare(body: Buffer): Promise<{ url: string; pid: number; stop(): void }> {
  const file = join(dir, 'body');
  writeFileSync(file, body);
  const child = spawn(process.execPath, [new URL('./support/bare-server.ts', import.meta.url).pathname, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.on('exit', () => child.kill());
  const url = await new Promise<string>((resolve) => child.stdout.once('data', (text: Buffer) => resolve(String(text).trim())));
  pin(child.pid!);
  return { url, pid: child.pid!, stop: () => child.kill() };
}

async function startNginx(body: Buffer): Promise<{ url: string; stop(): void }> {
  const root = join(dir, 'nginx');
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, 'feed'), body);
  writeFileSync(join(root, 'feed.gz'), gzipSync(body, { level: 4 }));
  const port = 20_000 + (process.pid % 10_000);
  const conf = join(root, 'nginx.conf');
  writeFileSync(
    conf,
    `daemon off; worker_processes 1; pid ${root}/pid; error_log ${root}/error.log;
events { worker_connections 1024; }
http { access_log off; open_file_cache max=100 inactive=1h; open_file_cache_valid 1h; sendfile on; tcp_nopush on; keepalive_requests 100000000;
  client_body_temp_path ${root}; proxy_temp_path ${root}; fastcgi_temp_path ${root}; uwsgi_temp_path ${root}; scgi_temp_path ${root};
  server { listen 127.0.0.1:${port}; root ${root}; default_type text/plain; location / { gzip_static off; } } }`,
  );
  const child = spawn('taskset', ['-c', '0', 'nginx', '-c', conf, '-e', join(root, 'error.log')], { stdio: 'inherit' });
  process.on('exit', () => child.kill());
  const url = `http://127.0.0.1:${port}`;
  for (let i = 0; i < 100; i += 1) {
    if (await fetch(`${url}/feed`, { method: 'HEAD' }).catch(() => undefined)) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { url, stop: () => child.kill() };
}

async function etagOf(url: string, headers: Record<string, string>): Promise<string> {
  const response = await fetch(url, { headers });
  await response.arrayBuffer();
  const tag = response.headers.get('etag');
  if (response.status !== 200 || tag === null) throw new Error(`${url}: ${response.status}, ETag ${tag}`);
  return tag;
}

const data = join(dir, 'data');
const unlimited = { RATE_LIMIT_FEEDS: '0', RATE_LIMIT_SIGNALS: '0', RATE_LIMIT_ENTRIES: '0' };
const weir: Weir = await startWeir({ DATA_DIR: data, BOOTSTRAP_API_KEY: KEY, LOG_LEVEL: undefined, ...unlimited });
console.error(`sending ${ENTRIES} signals …`);
await sendHosts(weir, data, ENTRIES);
pin(weir.pid);
const feeds = { list: `${weir.url}/v1/threat/feeds/default`, workspace: `${weir.url}/v1/threat/feeds` };
const feed = feeds.list;
// fetch asks for gzip unless told otherwise.
const identity = { authorization, 'accept-encoding': 'identity' };
const gzip = { authorization, 'accept-encoding': 'gzip' };
const body = Buffer.from(await (await fetch(feed, { headers: identity })).arrayBuffer());
if (body.toString().split('\n').length - 1 !== ENTRIES) throw new Error(`not a feed of ${ENTRIES} entries: ${body.subarray(0, 200)}`);
const bare = await startBare(body);
const nginx = await startNginx(body);

const rows: Cell[][] = [
  ['8 connections, server on one core', 'requests/s', 'MB/s', 'p99 ms', 'CPU µs', 'of nginx', 'of bare', 'p99 of bare', 'CPU of bare'],
];
type Target = readonly [url: string, headers: Record<string, string>];
const SERVERS = ['nginx', 'bare', 'weir'] as const;

/** Short rounds in turn, so that what else the machine does meets all three; ratios are those of each round. */
async function compare(what: string, targets: Record<(typeof SERVERS)[number], Target>): Promise<void> {
  const pids: Partial<Record<string, number>> = { bare: bare.pid, weir: weir.pid };
  for (const server of SERVERS) {
    await expectStatus(targets[server], Number.parseInt(what, 10));
    await wrk(...targets[server], 1, CONNECTIONS);
  }
  const rounds: Record<string, Measured>[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const measured: Record<string, Measured> = {};
    for (const server of SERVERS) measured[server] = await measure(targets[server], pids[server]);
    rounds.push(measured);
  }
  const all = (value: (round: Record<string, Measured>) => number) => rounds.map(value);
  for (const server of SERVERS) {
    rows.push([
      `${what} ${server}`,
      all(({ [server]: { rate } }) => rate),
      all(({ [server]: { megabytes } }) => megabytes),
      all(({ [server]: { p99 } }) => p99),
      server === 'nginx' ? '' : all(({ [server]: { cpu } }) => cpu),
      all(({ [server]: { rate }, nginx }) => rate / nginx.rate),
      all(({ [server]: { rate }, bare }) => rate / bare.rate),
      all(({ [server]: { p99 }, bare }) => p99 / bare.p99),
      server === 'nginx' ? '' : all(({ [server]: { cpu }, bare }) => cpu / bare.cpu),
    ]);
  }
}

async function expectStatus([url, headers]: Target, expected: number): Promise<void> {
  const response = await fetch(url, { headers });
  await response.arrayBuffer();
  if (response.status !== expected) throw new Error(`${url}: ${response.status} instead of ${expected}`);
}

interface Measured {
  /** Requests a second. */
  readonly rate: number;
  /** Megabytes a second. */
  readonly megabytes: number;
  /** ms */
  readonly p99: number;
  /** µs a request. */
  readonly cpu: number;
}

async function measure([url, headers]: Target, pid: number | undefined): Promise<Measured> {
  const before = pid === undefined ? Number.NaN : cpuSeconds(pid);
  const { requestsPerSecond, megabytesPerSecond, p99 } = await wrk(url, headers, ROUND_SECONDS, CONNECTIONS);
  const cpu = pid === undefined ? Number.NaN : ((cpuSeconds(pid) - before) * 1e6) / (requestsPerSecond * ROUND_SECONDS);
  return { rate: requestsPerSecond, megabytes: megabytesPerSecond, p99, cpu };
}

const tags = { nginx: await etagOf(`${nginx.url}/feed`, {}), bare: await etagOf(bare.url, {}) };
for (const [name, url] of Object.entries(feeds)) {
  await compare(`304, ${name}'s feed,`, {
    weir: [url, { ...identity, 'If-None-Match': await etagOf(url, identity) }],
    nginx: [`${nginx.url}/feed`, { 'If-None-Match': tags.nginx }],
    // The same request, so that what is compared is the answer.
    bare: [bare.url, { ...identity, 'If-None-Match': tags.bare }],
  });
}
await compare('200 identity', { weir: [feed, identity], nginx: [`${nginx.url}/feed`, {}], bare: [bare.url, identity] });
await (await fetch(feed, { headers: gzip })).arrayBuffer();
await compare('200 gzip', { weir: [feed, gzip], nginx: [`${nginx.url}/feed.gz`, {}], bare: [`${bare.url}/gzip`, gzip] });
printTable(rows);
nginx.stop();
bare.stop();
await weir.kill('SIGTERM');
rmSync(dir, { recursive: true, force: true });
