/**
 * The first page of the console: `node bench/console.ts [--rounds 9]`. ms from the request until the browser first paints content, on
 * loopback, 1280 × 800: the sign-in with a new profile each time (cold) and again in the same one (warm), and the overview of who is
 * signed in. The peer is a page of one line from a bare server, in turn in the same browser. Limit 300 ms. Needs chromium.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startBrowser } from '../test/support/browser.ts';
import { KEY, startWeir } from '../test/support/weir.ts';
import { type Cell, printTable } from './support/load.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '9' } } });
const ROUNDS = Number(values.rounds);

const PAINTED = `new Promise((resolve) => new PerformanceObserver((list) => {
  for (const { name, startTime } of list.getEntries()) if (name === 'first-contentful-paint') resolve(startTime);
}).observe({ type: 'paint', buffered: true }))`;
const SIGN_IN = `fetch('/console/session', { method: 'POST', headers: { 'x-weir-console': '1', 'content-type': 'application/json' },
  body: JSON.stringify({ key: ${JSON.stringify(KEY)}, name: 'bench' }) }).then(({ status }) => status)`;

const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
const weir = await startWeir({ DATA_DIR: dir, BOOTSTRAP_API_KEY: KEY, LOG_LEVEL: 'error' });
const bare = createServer((_, response) => {
  response.setHeader('content-type', 'text/html').end('<!doctype html><title>bare</title><p>bare');
}).listen(0, '127.0.0.1');
await once(bare, 'listening');
const bareUrl = `http://127.0.0.1:${(bare.address() as AddressInfo).port}/`;

const times = { cold: [] as number[], warm: [] as number[], overview: [] as number[], bare: [] as number[] };
for (let round = 0; round < ROUNDS; round += 1) {
  const browser = await startBrowser();
  const page = await browser.page();
  await page.look(1280, 800, 'light');
  const paint = async (url: string) => {
    await page.open(url);
    return page.evaluate<number>(PAINTED);
  };
  times.bare.push(await paint(bareUrl));
  times.cold.push(await paint(`${weir.url}/console/`));
  times.warm.push(await paint(`${weir.url}/console/`));
  if ((await page.evaluate<number>(SIGN_IN)) !== 200) throw new Error('the sign-in was refused');
  times.overview.push(await paint(`${weir.url}/console/`));
  await browser.close();
}
const row = (name: string, rounds: readonly number[]): Cell[] => [name, rounds, 300];
printTable([
  ['first content painted, ms', 'median (least–most)', 'limit'],
  row('sign-in, new profile', times.cold),
  row('sign-in again', times.warm),
  row('overview, signed in', times.overview),
  ['a line of a bare server, new profile', times.bare, '–'],
]);
bare.close();
await weir.kill('SIGTERM');
rmSync(dir, { recursive: true, force: true });
