/**
 * An idle tab of the console: `node bench/console-idle.ts [--rules 102000] [--seconds 20]`. MB an hour that each page reads while nothing
 * changes, and how many of its requests are answered 304. Limit 5 MB. Needs chromium.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startBrowser } from '../test/support/browser.ts';
import { consolePage } from '../test/support/console.ts';
import { KEY, startWeir } from '../test/support/weir.ts';
import { fillStore } from './support/fill.ts';

const { values } = parseArgs({ options: { rules: { type: 'string', default: '102000' }, seconds: { type: 'string', default: '20' } } });
const [RULES, SECONDS] = [Number(values.rules), Number(values.seconds)];
const PAGES = { '/rules': 'Rules', '/': 'Overview', '/feeds': 'Feeds', '/audit': 'Audit', '/changes': 'Timeline', '/devices': 'Devices' };
const READ = `(() => {
  const all = performance.getEntriesByType('resource');
  return { requests: all.length, same: all.filter(({ responseStatus }) => responseStatus === 304).length,
    bytes: all.reduce((sum, { transferSize }) => sum + transferSize, 0) };
})()`;

const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
await fillStore(dir, [{ name: 'default', rules: RULES, maxEntries: 131_072 }], () => Date.now() + 30 * 86_400_000);
const weir = await startWeir({ DATA_DIR: dir, LOG_LEVEL: 'error', RATE_LIMIT_MANAGE: '0' });
const browser = await startBrowser();
const page = consolePage(await browser.page(), weir.url);
await page.look(1280, 800, 'light');
await page.signIn(KEY);
for (const [path, heading] of Object.entries(PAGES)) {
  await page.show(path, heading);
  await sleep(8000);
  await page.evaluate('performance.clearResourceTimings()');
  await sleep(SECONDS * 1000);
  const { requests, same, bytes } = await page.evaluate<{ requests: number; same: number; bytes: number }>(READ);
  console.log(`${heading}: ${((bytes * 3600) / SECONDS / 1e6).toFixed(2)} MB an hour, ${same} of ${requests} requests 304`);
}
await browser.close();
await weir.kill('SIGTERM');
rmSync(dir, { recursive: true, force: true });
