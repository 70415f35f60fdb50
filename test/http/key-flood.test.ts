/** A flood of unknown keys on PostgreSQL, where each look-up takes a connection: a valid key must not feel it. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandJson } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { getFeed, postSignals } from '../support/http.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { eventually, KEY, weirFor } from '../support/weir.ts';

const SECONDS = 4;
const PER_SECOND = 2000;
/** The flood comes over this many connections, a share every so many ms. */
const SOCKETS = 20;
const EVERY = 50;
/** By how much the valid key's p99 may be above that of a request without a key, ms. */
const MORE = 100;

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

test('D2.12 D2.9 2,000 unknown keys a second on PostgreSQL: a valid key never gets an error, and is answered as fast as before; a new key works', {
  skip: noPostgres(),
}, async (t) => {
  const postgres = await startPostgres();
  t.after(() => postgres.stop());
  const folder = temporaryFolder(t);
  const settings = { ...smallGeo(folder), DATA_DIR: folder, DATABASE_URL: await postgres.createDatabase(), TRUST_PROXY: '127.0.0.1' };
  const { url } = await weirFor(t, { ...settings, BOOTSTRAP_API_KEY: KEY, RATE_LIMIT_SIGNALS: '0', RATE_LIMIT_FEEDS: '0' });
  const block = () => postSignals(url, KEY, [{ type: 'access_rules', action: 'block', ip: '192.0.2.1' }]);
  assert.deepEqual([(await block()).status, (await getFeed(url, KEY)).status], [200, 200]);

  const flooding = flood(url);
  const times: number[] = [];
  /** The same of a request that needs no key: what the machine itself makes one wait. */
  const control: number[] = [];
  const statuses = new Set<number>();
  const timed = async (all: number[], work: () => Promise<{ readonly status: number }>) => {
    const began = performance.now();
    statuses.add((await work()).status);
    all.push(performance.now() - began);
  };
  for (const end = performance.now() + SECONDS * 1000; performance.now() < end; await sleep(5)) {
    await timed(control, () => fetch(`${url}/healthz`));
    await timed(times, () => getFeed(url, KEY));
    if (times.length % 10 === 0) statuses.add((await block()).status);
  }
  const { key } = await commandJson<{ key: string }>(['key', 'create', '--workspace', 'default'], settings);
  const began = performance.now();
  await eventually(async () => assert.equal((await getFeed(url, key)).status, 200), 2000);
  const worked = Math.round(performance.now() - began);
  const answers = await flooding.end();
  const [usual, p99] = [quantile(control, 0.99), quantile(times, 0.99)];
  t.diagnostic(`${JSON.stringify(answers)} to unknown keys; the valid key: median ${quantile(times, 0.5)} ms, p99 ${p99} ms`);
  t.diagnostic(`without a key: median ${quantile(control, 0.5)} ms, p99 ${usual} ms; a key made in between worked after ${worked} ms`);
  assert.deepEqual([...statuses], [200]);
  assert.ok(p99 < 2 * usual + MORE, `${p99} ms, ${usual} ms without a key`);
  const median = quantile(times, 0.5);
  assert.ok(median < 2 * quantile(control, 0.5) + MORE / 4, `median ${median} ms`);
});

function quantile(times: readonly number[], q: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.floor(sorted.length * q)]! * 10) / 10;
}
