/** A flood of unknown keys, and what a valid key feels of it. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { getFeed, postSignals } from './http.ts';

const PER_SECOND = 2000;
/** The flood comes over this many connections, a share every so many ms. */
const SOCKETS = 20;
const EVERY = 50;

/** Sends unknown keys, each a new one and from a new address, until it is ended; then tells how often each status was the answer. */
function flood(url: string) {
  const { hostname, port } = new URL(url);
  const statuses: Record<string, number> = {};
  const sockets = Array.from({ length: SOCKETS }, () => connect(Number(port), hostname));
  for (const socket of sockets) {
    socket.setEncoding('latin1').on('error', () => {});
    socket.on('data', (text: string) => {
      for (const [, status] of text.matchAll(/HTTP\/1\.1 (\d+)/g)) statuses[status] = (statuses[status] ?? 0) + 1;
    });
  }
  const share = (PER_SECOND * EVERY) / 1000 / SOCKETS;
  const request = () => {
    const address = [...randomBytes(3)].join('.');
    const key = randomBytes(24).toString('base64url');
    return `GET /v1/threat/feeds HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 10.${address}\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  };
  const timer = setInterval(() => {
    for (const socket of sockets) socket.write(Array.from({ length: share }, request).join(''));
  }, EVERY);
  return {
    async end(): Promise<Record<string, number>> {
      clearInterval(timer);
      await Promise.all(sockets.map((socket) => once(socket.destroy(), 'close')));
      return statuses;
    },
  };
}

export interface Flooded {
  /** ms of each poll of the valid key. */
  readonly times: readonly number[];
  /** The same of a request that needs no key: what the machine itself makes one wait. */
  readonly control: readonly number[];
  /** What the valid key, and the requests without one, were answered with. */
  readonly statuses: readonly number[];
  /** How often unknown keys were answered with each status. */
  readonly answers: Readonly<Record<string, number>>;
}

/** 2,000 unknown keys a second for so many seconds to a server that trusts this machine as a proxy; `before` runs at the end of the flood. */
export async function measureFlood(url: string, key: string, seconds: number, before: () => Promise<void>): Promise<Flooded> {
  const flooding = flood(url);
  const [times, control]: [number[], number[]] = [[], []];
  const statuses = new Set<number>();
  const timed = async (all: number[], work: () => Promise<{ readonly status: number }>) => {
    const began = performance.now();
    statuses.add((await work()).status);
    all.push(performance.now() - began);
  };
  for (const end = performance.now() + seconds * 1000; performance.now() < end; await sleep(5)) {
    await timed(control, () => fetch(`${url}/healthz`));
    await timed(times, () => getFeed(url, key));
    if (times.length % 10 !== 0) continue;
    statuses.add((await postSignals(url, key, [{ type: 'access_rules', action: 'block', ip: '192.0.2.1' }])).status);
  }
  await before();
  return { times, control, statuses: [...statuses], answers: await flooding.end() };
}
