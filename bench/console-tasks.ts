/**
 * What people come to the console for: `node bench/console-tasks.ts [--rounds 3] [--rules 100000] [--keyboard]`. Of each task, from the overview, how
 * often one clicks or presses Enter, how many fields one fills, and the seconds that the console takes for all of it until the answer is
 * there, without those of the person; loopback, 1280 × 800. Needs chromium.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { keyParts } from '../src/account/key.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { startBrowser } from '../test/support/browser.ts';
import { consolePage } from '../test/support/console.ts';
import { ask, bearer, getFeed } from '../test/support/http.ts';
import { NAME, tabTo } from '../test/support/keyboard.ts';
import { eventually, KEY, startWeir } from '../test/support/weir.ts';
import { fillStore, scattered } from './support/fill.ts';
import { type Cell, printTable } from './support/load.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, rules: { type: 'string', default: '100000' }, keyboard: { type: 'boolean' } },
});
const [ROUNDS, RULES] = [Number(values.rounds), Number(values.rules)];
const MINUTE = 60_000;

const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
await fillStore(dir, [{ name: 'default', rules: RULES, maxEntries: 131_072 }], () => Date.now() + 30 * 24 * 60 * MINUTE);
await silence();
const weir = await startWeir({ DATA_DIR: dir, LOG_LEVEL: 'error', RATE_LIMIT_MANAGE: '0', FEED_REBUILD_SECONDS: '0' });
const make = (path: string, body: object) =>
  ask(weir.url, `/v1/manage${path}`, { method: 'POST', headers: bearer(KEY), body: JSON.stringify(body) });
await make('/feeds', { name: 'perimeter', all_lists: true });
await getFeed(weir.url, KEY);
const browser = await startBrowser();
const page = consolePage(await browser.page(), weir.url);
await page.look(1280, 800, 'light');
await page.signIn(KEY);

/** A firewall that has pulled every minute and then no more. */
async function silence(): Promise<void> {
  const store = await openSqliteStore(dir);
  const { workspaceId } = await store.bootstrap({ ...keyParts(KEY), onlyWhenEmpty: false });
  const lastPull = Date.now() - 60 * MINUTE;
  const seen = {
    workspaceId,
    keyId: workspaceId,
    userAgent: 'fortigate',
    address: '198.51.100.9',
    firstPull: lastPull - 120 * MINUTE,
    lastPull,
  };
  const answers = {
    pulls: 120,
    ok: 1,
    notModified: 119,
    refused: 0,
    failed: 0,
    lastStatus: 304,
    validates: true,
    documents: [],
    refusals: [],
  };
  await store.noteDevices([{ ...seen, ...answers }]);
  await store.markStopped({ now: Date.now(), running: 24 * 60 * MINUTE });
  await store.close();
}

/** Puts nothing off any more. */
async function tellAll(): Promise<void> {
  const { text } = await ask(weir.url, '/v1/manage/status', { headers: bearer(KEY) });
  for (const { snooze } of JSON.parse(text).items as { readonly snooze: { readonly id: string } | null }[]) {
    if (snooze !== null) await ask(weir.url, `/v1/manage/attention/snoozes/${snooze.id}`, { method: 'DELETE', headers: bearer(KEY) });
  }
}

/** The n-th host that is blocked. */
const host = (n: number) => [24, 16, 8, 0].map((bits) => (scattered(n) >>> bits) & 255).join('.');
let next = 0;

let clicks = 0;
let fields = 0;
const click = async (name: string, within?: string) => {
  clicks += 1;
  if (!values.keyboard) return page.click(name, within);
  await tabTo(page, name, within);
  await page.press('Enter');
};
const fill = async (label: string, value: string) => {
  fields += 1;
  if (!values.keyboard) return page.fill(label, value);
  await tabTo(page, label);
  if (!(await page.evaluate<boolean>(`document.activeElement.matches('select')`))) return page.type(value);
  const steps = `[...document.activeElement.options].findIndex((each) => each.value === ${JSON.stringify(value)}) - document.activeElement.selectedIndex`;
  await eventually(async () => {
    const left = await page.evaluate<number>(steps);
    if (left !== 0) await page.press(left > 0 ? 'ArrowDown' : 'ArrowUp');
    assert.equal(left, 0);
  });
};
/** Types into the field above every page, and goes to what is found first. */
const lookUp = async (text: string) => {
  fields += 1;
  clicks += 1;
  await page.press('/');
  await page.type(text);
  await page.press('Enter');
};

/** The most clicks of a task; 4 of others. */
const LIMITS: Readonly<Record<string, number>> = {
  'why is this address blocked, and who enforces it': 1,
  'the widest block': 1,
  'block the 50 addresses of a defanged report': 2,
  'enrol a Linux host, until its packet filter is verified': 3,
};

const TASKS: Readonly<Record<string, () => Promise<void>>> = {
  'why is this address blocked, and who enforces it': async () => {
    await lookUp(host(next));
    await page.sees(/is blocked on \d feeds, enforced by/);
  },
  'unblock it, with what that changes': async () => {
    await lookUp(host(next));
    await click('Unblock');
    await page.sees('Removes 1 rule');
    await click('Unblock');
    await page.sees('unblocked in 1 list');
  },
  'give the rules of a network another expiry': async () => {
    await click('Rules');
    await fill('Filter', `in:${host(next).split('.').slice(0, 2).join('.')}.0.0/16`);
    await page.sees('Clear filters');
    await click('Change these');
    await fill('Expires', '30d');
    await page.sees(/\d rules? changes?\./);
    await click(await page.evaluate<string>(`[...document.querySelectorAll('dialog button')].at(-1).innerText`));
    await page.sees(/rules? changed\./);
  },
  'which firewall is silent, and since when': async () => {
    await click('Review');
    await page.sees('198.51.100.9');
    await page.sees(/stopped/i);
  },
  'set a firewall up, until its first pull': async () => {
    await click('Feeds');
    await click('perimeter');
    await fill('Device', 'FortiGate');
    await click('Create key');
    await page.sees('Waiting for the first fetch');
    const key = /set password "(weir_[^"]+)"/.exec(await page.text())![1]!;
    await getFeed(weir.url, key, '/perimeter');
    await page.sees('Connected.');
  },
  'set a FortiGate up, with a feed of its own': async () => {
    await click('Devices');
    await click('New device');
    await fill('Kind', 'FortiGate');
    await fill('Name', `office ${next}`);
    await fill('Feed', 'new');
    await fill('Name of the feed', `office ${next}`);
    await click('Next');
    await page.sees('Waiting for the first fetch');
    const key = /set password "(weir_[^"]+)"/.exec(await page.text())![1]!;
    await getFeed(weir.url, key, `/office%20${next}`);
    await page.sees('Connected.');
    await page.press('Escape');
  },
  'the widest block': async () => {
    const name = await eventually(() => page.evaluate<string>(`document.querySelector('.blocks a').innerText`));
    await click(name, '.blocks');
    await page.sees('is blocked on');
  },
  'enrol a Linux host, until its packet filter is verified': async () => {
    await click('Devices');
    await click('New device');
    await fill('Name', `gateway ${next}`);
    await click('Next');
    await page.sees('Waiting for the host');
    const line = await page.evaluate<string>(`document.querySelector('dialog pre').textContent`);
    const { text } = await ask(weir.url, new URL(/'([^']+)'/.exec(line)![1]!).pathname, { method: 'POST' });
    const headers = { 'x-api-key': /^WEIR_API_KEY=(.*)$/m.exec(text)![1]!, 'user-agent': 'weir-follow/1 (gateway; nftables)' };
    const { headers: feed } = await ask(weir.url, '/v1/decisions/stream?startup=true&wait=1', { headers });
    const enforced = { version: feed['x-feed-version'], count: Number(feed['x-feed-count']), digest: feed['x-feed-digest'] };
    const body = JSON.stringify({ remediation_components: [{ type: 'weir-follow', version: '1', metrics: [] }], enforced });
    await ask(weir.url, '/v1/usage-metrics', { method: 'POST', headers, body });
    await page.sees('Its packet filter has the');
  },
  'undo a batch': async () => {
    await make('/rules', { value: `146.72.1.${next}` });
    await click('Timeline');
    await fill('What', 'batches');
    await page.sees('Signals');
    clicks += 1;
    const name = await page.evaluate<string>(`(${NAME})(document.querySelector('.long-row'))`);
    if (values.keyboard) await tabTo(page, name, '.long').then(() => page.press('Enter'));
    else await page.evaluate(`document.querySelector('.long-row').click()`);
    await click('Undo');
    await page.sees('Rules removed');
    await click('Undo');
    await page.sees('Batch undone');
  },
  'who created a feed': async () => {
    await click('Audit');
    await page.sees('batches undone');
    await fill('Object', 'perimeter');
    await page.sees(/feed created\s+perimeter/);
  },
  'the rules with a reason': async () => {
    await make('/rules', { value: `146.73.1.${next}`, reason: `case 47${next}` });
    await lookUp(`case 47${next}`);
    await page.sees(`146.73.1.${next}`);
  },
  'block the 50 addresses of a defanged report': async () => {
    fields += 1;
    await page.press('/');
    const report = Array.from({ length: 50 }, (_, i) => `ioc hxxp://146[.]70[.]${next}[.]${i + 1}/a`).join('\n');
    await page.evaluate(`(() => {
      const data = new DataTransfer();
      data.setData('text/plain', ${JSON.stringify(report)});
      document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    })()`);
    await page.sees('50 valid entries');
    await click('Block 50');
    await page.sees('50 addresses and networks blocked.');
  },
  'allow one address of a /22 everywhere, and undo': async () => {
    await make('/rules', { value: '146.71.0.0/22' });
    await lookUp(`146.71.1.${next}`);
    await page.sees('Split the block');
    await click('Allow');
    await page.sees('No feed will block it.');
    await click('Allow', 'dialog footer');
    await page.sees('is allowed. Devices get it');
    await click('Undo', '.toasts');
    await page.sees('Change undone.');
  },
  'what changed since yesterday': async () => {
    await click('Timeline');
    await page.sees(/Rules: [\d,]+ added/);
  },
  'put what needs attention off, with a reason': async () => {
    const name = await page.evaluate<string>(`document.querySelector('[aria-label^="Snooze:"]').ariaLabel`);
    await click(name);
    await fill('Reason', 'ticket 4711');
    await click('Snooze');
    await page.sees('1 snoozed alert');
  },
};

const rows: Cell[][] = [['task', 'clicks', 'at most', 'fields', 's, median (least–most)']];
for (const [task, work] of Object.entries(TASKS)) {
  const seconds: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    next += 1;
    await tellAll();
    await page.show('/', 'Overview');
    await page.sees('Needs attention');
    [clicks, fields] = [0, 0];
    const begun = performance.now();
    await work();
    seconds.push((performance.now() - begun) / 1000);
  }
  const most = LIMITS[task] ?? 4;
  if (clicks > most) process.exitCode = 1;
  rows.push([task, clicks, most, fields, seconds]);
}
printTable(rows);
await browser.close();
await weir.kill('SIGTERM');
rmSync(dir, { recursive: true, force: true });
