/** Clumsy and hostile clients against a real server: each check is some figures with their limits. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figure } from '../../bench/support/figures.ts';
import { fillStore } from '../../bench/support/fill.ts';
import { quantile } from '../../bench/support/load.ts';
import { watchMachine } from '../../bench/support/machine.ts';
import { memoryMb } from '../../bench/support/process.ts';
import { newTenant } from '../support/command.ts';
import { ask, postSignals } from '../support/http.ts';
import { measureFlood } from '../support/key-flood.ts';
import { KEY, startWeir, type Weir, weir as weirProcess } from '../support/weir.ts';

/** Settings of a server with an empty store of its own; they name DATA_DIR. */
export type Settings = Readonly<Record<string, string>>;
type Check = (settings: Settings) => Promise<Figure[]>;

const UNLIMITED = { RATE_LIMIT_SIGNALS: '0', RATE_LIMIT_ENTRIES: '0', RATE_LIMIT_FEEDS: '0', LOG_LEVEL: 'error' };

/** Runs something on a server and ends it. */
export async function on(settings: Settings, work: (weir: Weir) => Promise<Figure[]>): Promise<Figure[]> {
  const server = await startWeir({ BOOTSTRAP_API_KEY: KEY, ...UNLIMITED, ...settings });
  try {
    return await work(server);
  } finally {
    await server.kill('SIGKILL');
  }
}

/** A connection that has sent this and reads the answer's beginning only when asked to. */
export async function sending(url: string, text: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => {});
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

const SLOW_POSTS = 100;
const SLOW_BYTES = 15_500_000;
/** Posts of another key meanwhile. */
const POSTS = 20;

/** 100 posts of 15.5 MB that stop before their last byte: what they hold in memory, and whether another key is served meanwhile. */
export const slowPosts: Check = (settings) =>
  on(settings, async ({ url, pid }) => {
    const { key } = await newTenant({ ...settings }, { organization: 'default', workspace: 'other' });
    const event = { type: 'access_rules', action: 'block', ip: '192.0.2.1' };
    await postSignals(url, key, [event]);
    const idle = memoryMb(pid);
    const head = `POST /v1/signal HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Length: ${SLOW_BYTES}\r\n\r\n`;
    const body = Buffer.alloc(SLOW_BYTES - 1, ' ');
    let refused = 0;
    const sockets = [];
    for (let n = 0; n < SLOW_POSTS; n += 1) {
      const socket = await sending(url, head);
      socket.on('data', (data: Buffer) => {
        if (data.includes('HTTP/1.1 429')) refused += 1;
      });
      socket.write(body);
      sockets.push(socket);
    }
    await sleep(3000);
    const machine = await watchMachine();
    const took: number[] = [];
    for (let n = 0; n < POSTS; n += 1) {
      const began = performance.now();
      const { status } = await postSignals(url, key, [event]);
      took.push(status === 200 ? performance.now() - began : Number.POSITIVE_INFINITY);
    }
    const bare = quantile(await machine.end(), 0.9);
    const peak = memoryMb(pid, 'VmHWM');
    for (const socket of sockets) socket.destroy();
    return [
      { what: `${SLOW_POSTS} slow posts of 15.5 MB: memory over idle, MiB`, figure: peak - idle, limit: 200 },
      { what: `${SLOW_POSTS} slow posts of 15.5 MB: refused with 429`, figure: refused, limit: SLOW_POSTS - 5, least: true },
      { what: 'slow posts: posts of another key, p90 ms', figure: quantile(took, 0.9), limit: 100, machine: bare },
    ];
  });

const DEAF = 20;
/** Clients that ask for 16 feeds of 131,072 networks each and read nothing: how many still have their connection after 80 seconds. */
export const deafClients: Check = async (settings) => {
  await fillStore(settings.DATA_DIR!, [{ name: 'default', rules: 131_072, maxEntries: 131_072 }]);
  return on(settings, async ({ url, pid }) => {
    const request = `GET /v1/threat/feeds HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\n\r\n`;
    const idle = memoryMb(pid);
    const sockets = await Promise.all(Array.from({ length: DEAF }, () => sending(url, request.repeat(16))));
    for (const socket of sockets) socket.pause();
    await sleep(80_000);
    const peak = memoryMb(pid, 'VmHWM');
    const { text } = await ask(url, '/healthz');
    // A connection that the server has reset ends in an error as soon as somebody reads.
    const open = await Promise.all(
      sockets.map((socket) =>
        Promise.race([
          once(socket.resume(), 'close').then(
            () => 0,
            () => 0,
          ),
          sleep(2000).then(() => 1),
        ]),
      ),
    );
    for (const socket of sockets) socket.destroy();
    return [
      {
        what: `${DEAF} clients that do not read: connections after 80 s`,
        figure: open.reduce((a, b) => a + b, text === '' ? DEAF : 0),
        limit: 0,
      },
      { what: `${DEAF} clients that do not read: memory over idle, MiB`, figure: peak - idle, limit: 200 },
    ];
  });
};

/** A flood of unknown keys: what a valid key gets meanwhile. */
export const keyFlood: Check = (settings) =>
  on({ ...settings, TRUST_PROXY: '127.0.0.1' }, async ({ url }) => {
    await postSignals(url, KEY, [{ type: 'access_rules', action: 'block', ip: '192.0.2.1' }]);
    const machine = await watchMachine();
    const { times, statuses } = await measureFlood(url, KEY, 5, async () => {});
    const bare = quantile(await machine.end(), 0.99);
    const errors = statuses.filter((status) => status !== 200);
    return [
      { what: '2,000 unknown keys a second: errors of a valid key', figure: errors.length, limit: 0 },
      { what: '2,000 unknown keys a second: a valid key, p99 ms', figure: quantile(times, 0.99), limit: 100, machine: bare },
    ];
  });

const LANDING = 400_000;
/** Commands that read; each runs three times. */
const READING = [
  ...[
    ['rule', 'ls', '--workspace', 'default', '--kind', 'waf_rule'],
    ['list', 'ls', '--workspace', 'default'],
    ['key', 'ls', '--workspace', 'default'],
  ],
  ...[
    ['workspace', 'ls'],
    ['org', 'ls'],
  ],
];

/** Commands while signals land as fast as they can be sent, and what `/readyz` says and takes meanwhile. */
export const whileLanding: Check = (settings) =>
  on(settings, async ({ url }) => {
    const file = join(settings.DATA_DIR!, 'signals.ndjson');
    const line = (n: number) => JSON.stringify({ type: 'access_rules', action: 'block', ip: `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}` });
    writeFileSync(file, Array.from({ length: LANDING }, (_, n) => `${line(n)}\n`).join(''));
    const machine = await watchMachine();
    let busy = true;
    const sent = weirProcess(['send', file, '--url', url], { WEIR_API_KEY: KEY }).finally(() => {
      busy = false;
    });
    const waits: number[] = [];
    let red = 0;
    let commands = true;
    const polling = (async () => {
      while (commands) {
        const began = performance.now();
        const { status } = await ask(url, '/readyz');
        waits.push(performance.now() - began);
        if (status !== 200) red += 1;
        await sleep(50);
      }
    })();
    let [done, during] = [0, 0];
    for (let n = 0; n < 15; n += 1) {
      const { code, stderr } = await weirProcess([...READING[n % READING.length]!, '--json'], settings);
      if (code === 0) done += 1;
      else console.error(stderr);
      if (busy) during += 1;
    }
    const { code } = await weirProcess(['key', 'create', '--workspace', 'default'], settings);
    commands = false;
    await polling;
    const bare = quantile(await machine.end(), 0.99);
    await sent;
    return [
      { what: `commands that read, of 15, ${during} of them during landing`, figure: done, limit: 15, least: true },
      { what: 'a command that writes during landing: exit code', figure: code, limit: 0 },
      { what: `/readyz during landing: answers that are not 200, of ${waits.length}`, figure: red, limit: 0 },
      { what: '/readyz during landing: p99, ms', figure: quantile(waits, 0.99), limit: 100, machine: bare },
    ];
  });
