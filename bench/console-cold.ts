/**
 * The console over a slow line on a slow machine: `node bench/console-cold.ts [--rounds 3] [--rules 100000] [--waterfall]`. Seconds from
 * the request until what a page is for is painted, with 50 KB/s, 100 ms until an answer begins, a processor that is six times slower, and a
 * session that is there already: with nothing kept (cold) and opened again (warm), and the KB of it. Beside it, for machines that are busy, the
 * processor's ms of the page's thread on a fast line: six times that and the KB at 50 KB/s is what there is to wait for. Limit 3 s. Needs chromium.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startBrowser } from '../test/support/browser.ts';
import { consolePage } from '../test/support/console.ts';
import { KEY, startWeir } from '../test/support/weir.ts';
import { fillStore } from './support/fill.ts';
import { type Cell, printTable } from './support/load.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    rules: { type: 'string', default: '100000' },
    waterfall: { type: 'boolean', default: false },
  },
});
const [ROUNDS, RULES] = [Number(values.rounds), Number(values.rules)];
const LIMIT = 3;
const LINE = { offline: false, latency: 100, downloadThroughput: 50 * 1024, uploadThroughput: 50 * 1024 };
/** The pages, and what each is for. */
const PAGES = [
  { name: 'Rules: rows', path: '/rules', seen: '.long-row' },
  { name: 'Look up: the verdict', path: '/lookup?target=1.0.0.1', seen: '.verdict p' },
  { name: 'Overview: what needs attention', path: '/', seen: '.attention, .figures' },
] as const;

/** Notes when a selector is painted first. */
const noting = (selector: string) => `{
  const look = () => {
    if (document.querySelector(${JSON.stringify(selector)}) === null) requestAnimationFrame(look);
    else requestAnimationFrame(() => requestAnimationFrame(() => { window.seenAt = performance.now(); }));
  };
  look();
}`;
const SEEN = 'new Promise((resolve) => { const look = () => (window.seenAt ? resolve(window.seenAt) : setTimeout(look, 50)); look(); })';
const LOADED = `performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation')).filter(({ responseEnd }) => responseEnd <= window.seenAt)
  .map(({ name, startTime, responseStart, responseEnd, transferSize }) => ({ name, startTime, responseStart, responseEnd, transferSize }))`;

interface Loaded {
  readonly name: string;
  readonly startTime: number;
  readonly responseStart: number;
  readonly responseEnd: number;
  readonly transferSize: number;
}

const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
await fillStore(dir, [{ name: 'default', rules: RULES, maxEntries: 131_072 }], () => Date.now() + 30 * 86_400_000);
const weir = await startWeir({ DATA_DIR: dir, LOG_LEVEL: 'error', RATE_LIMIT_MANAGE: '0' });
const browser = await startBrowser();
const page = consolePage(await browser.page(), weir.url);
await page.look(1280, 800, 'light');
await page.signIn(KEY);
await page.command('Performance.enable', { timeDomain: 'threadTicks' });
const isSlow = async (slow: boolean) => {
  await page.command('Emulation.setCPUThrottlingRate', { rate: slow ? 6 : 1 });
  await page.command(
    'Network.emulateNetworkConditions',
    slow ? LINE : { ...LINE, latency: 0, downloadThroughput: -1, uploadThroughput: -1 },
  );
};
/** The processor's time of the page's thread, ms. */
const threadTime = async () => {
  const { metrics } = (await page.command('Performance.getMetrics')) as { metrics: { name: string; value: number }[] };
  return metrics.find(({ name }) => name === 'TaskDuration')!.value * 1000;
};

/** Opens a page: when what it is for was painted, s, and KB that were read until then. */
async function opened(path: string, seen: string): Promise<{ seconds: number; kilobytes: number }> {
  await page.open('about:blank');
  const { identifier } = await page.command('Page.addScriptToEvaluateOnNewDocument', { source: noting(seen) });
  await page.open(`${weir.url}/console${path}`);
  const seconds = (await page.evaluate<number>(SEEN)) / 1000;
  const loaded = await page.evaluate<readonly Loaded[]>(LOADED);
  await page.command('Page.removeScriptToEvaluateOnNewDocument', { identifier });
  if (values.waterfall) waterfall(path, loaded);
  return { seconds, kilobytes: loaded.reduce((sum, { transferSize }) => sum + transferSize, 0) / 1024 };
}

/** Each request: when it begins, when its answer begins and ends, ms, and its bytes. */
function waterfall(path: string, loaded: readonly Loaded[]): void {
  console.log(`\n${path}`);
  for (const { name, ...times } of loaded.toSorted((a, b) => a.startTime - b.startTime)) {
    const figures = [times.startTime, times.responseStart, times.responseEnd, times.transferSize];
    console.log(
      figures.map((figure) => String(Math.round(figure)).padStart(7)).join(''),
      new URL(name).pathname.replace(/\/files\/\w+/, ''),
    );
  }
}

const rows: Cell[][] = [['until it is painted, s', 'cold, median (least–most)', 'KB', 'warm', 'KB', 'thread, ms', 'limit']];
for (const { name, path, seen } of PAGES) {
  const [cold, warm] = [[], []] as { seconds: number; kilobytes: number }[][];
  const thread: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await isSlow(false);
    await page.command('Network.clearBrowserCache');
    await opened(path, seen);
    thread.push(await threadTime());
    await isSlow(true);
    await page.command('Network.clearBrowserCache');
    cold.push(await opened(path, seen));
    warm.push(await opened(path, seen));
  }
  const of = (rounds: typeof cold, what: 'seconds' | 'kilobytes') => rounds.map((round) => round[what]);
  rows.push([name, of(cold, 'seconds'), of(cold, 'kilobytes'), of(warm, 'seconds'), of(warm, 'kilobytes'), thread, LIMIT]);
}
printTable(rows);
await browser.close();
await weir.kill('SIGTERM');
rmSync(dir, { recursive: true, force: true });
