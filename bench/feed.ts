/**
 * What a polling appliance gets, on a feed of 131,072 entries: `node bench/feed.ts [--seconds 5]`.
 * Peers in the same run, each pinned to the same core while wrk has the other: nginx serving the same bytes as a static file
 * (1 worker, open_file_cache), and a bare node:http server that does the same comparison and sends the same Buffer.
 * Then the p99 of 304s on a small list while the large one is rebuilt again and again. Needs nginx and wrk.
 */
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { KEY, startWeir, type Weir } from '../test/support/weir.ts';
import { fillStore } from './support/fill.ts';
import { printTable } from './support/load.ts';
import { cpuSeconds } from './support/process.ts';
import { wrk } from './support/wrk.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '5' }, entries: { type: 'string', default: '131072' } } });
const SECONDS = Number(values.seconds);
const ENTRIES = Number(values.entries);
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
  return response.headers.get('etag') ?? '';
}

console.error(`filling a store with ${ENTRIES} rules …`);
const data = join(dir, 'data');
await fillStore(data, [
  { name: 'default', rules: ENTRIES, maxEntries: 4_000_000 },
  { name: 'small', rules: 100, maxEntries: 1000 },
]);
const weir: Weir = await startWeir({
  DATA_DIR: data,
  BOOTSTRAP_API_KEY: KEY,
  RATE_LIMIT_FEEDS: '0',
  RATE_LIMIT_SIGNALS: '0',
  FEED_REBUILD_SECONDS: '3600',
  LOG_LEVEL: 'error',
});
pin(weir.pid);
const feed = `${weir.url}/v1/threat/feeds/default`;
// fetch asks for gzip unless told otherwise.
const identity = { authorization, 'accept-encoding': 'identity' };
const gzip = { authorization, 'accept-encoding': 'gzip' };
const body = Buffer.from(await (await fetch(feed, { headers: identity })).arrayBuffer());
const bare = await startBare(body);
const nginx = await startNginx(body);

const rows: (string | number)[][] = [
  ['8 connections, server on one core', 'requests/s', 'MB/s', 'p99 ms', 'CPU s/GB', 'of nginx', 'of bare'],
];
async function compare(
  what: string,
  targets: { weir: [string, Record<string, string>]; nginx: [string, Record<string, string>]; bare: [string, Record<string, string>] },
) {
  const measure = async ([url, headers]: [string, Record<string, string>], pid?: number) => {
    await wrk(url, headers, 1, CONNECTIONS);
    const before = pid === undefined ? 0 : cpuSeconds(pid);
    const result = await wrk(url, headers, SECONDS, CONNECTIONS);
    const cpu = pid === undefined ? Number.NaN : (cpuSeconds(pid) - before) / ((result.megabytesPerSecond * SECONDS) / 1024);
    return { ...result, cpu };
  };
  const a = await measure(targets.nginx);
  const b = await measure(targets.bare, bare.pid);
  const w = await measure(targets.weir, weir.pid);
  const line = (name: string, r: typeof w) => [
    `${what} ${name}`,
    r.requestsPerSecond,
    r.megabytesPerSecond,
    r.p99,
    r.cpu,
    r.requestsPerSecond / a.requestsPerSecond,
    r.requestsPerSecond / b.requestsPerSecond,
  ];
  rows.push(line('nginx', a), line('bare node:http', b), line('weir', w));
}

const tags = { weir: await etagOf(feed, identity), nginx: await etagOf(`${nginx.url}/feed`, {}), bare: await etagOf(bare.url, {}) };
await compare('304', {
  weir: [feed, { ...identity, 'If-None-Match': tags.weir }],
  nginx: [`${nginx.url}/feed`, { 'If-None-Match': tags.nginx }],
  // The same request, so that what is compared is the answer.
  bare: [bare.url, { ...identity, 'If-None-Match': tags.bare }],
});
await compare('200 identity', { weir: [feed, identity], nginx: [`${nginx.url}/feed`, {}], bare: [bare.url, identity] });
await (await fetch(feed, { headers: gzip })).arrayBuffer();
await compare('200 gzip', { weir: [feed, gzip], nginx: [`${nginx.url}/feed.gz`, {}], bare: [`${bare.url}/gzip`, gzip] });
printTable(rows);
nginx.stop();
bare.stop();
await weir.kill('SIGTERM');

// 304s on a small list while the large one is rebuilt all the time.
const busy = await startWeir({
  DATA_DIR: data,
  BOOTSTRAP_API_KEY: KEY,
  RATE_LIMIT_FEEDS: '0',
  RATE_LIMIT_SIGNALS: '0',
  FEED_REBUILD_SECONDS: '1',
  LOG_LEVEL: 'error',
});
const small = `${busy.url}/v1/threat/feeds/small`;
const big = `${busy.url}/v1/threat/feeds/default`;
const tag = await etagOf(small, identity);
let running = true;
let builds = 0;
const rebuilding = (async () => {
  let last = '';
  for (let n = 0; running; n += 1) {
    const ip = `203.${n & 255}.113.${(n >> 8) & 255}`;
    await fetch(`${busy.url}/v1/signal`, {
      method: 'POST',
      headers: { authorization },
      body: JSON.stringify([{ type: 'access_rules', action: 'block', ip }]),
    });
    const response = await fetch(big, { headers: identity });
    await response.arrayBuffer();
    const seen = response.headers.get('etag') ?? '';
    if (seen !== last) builds += 1;
    last = seen;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
})();
await wrk(small, { ...identity, 'If-None-Match': tag }, 2, CONNECTIONS);
const buildsBefore = builds;
// At a rate that leaves the core some air, as pollers do: latency, not saturation, is the question.
const paced = await wrk(small, { ...identity, 'If-None-Match': tag }, SECONDS * 2, 2);
running = false;
await rebuilding;
console.log();
printTable([
  [`304s on a small list while ${ENTRIES} rules are rebuilt`, 'requests/s', 'p99 ms', 'limit ms', 'rebuilds'],
  ['weir', paced.requestsPerSecond, paced.p99, 10, builds - buildsBefore],
]);
await busy.kill('SIGTERM');
rmSync(dir, { recursive: true, force: true });
