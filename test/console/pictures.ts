/**
 * Pictures of every page of the console, with data as a workspace has them: light, dark, and as wide as a phone.
 * `node test/console/pictures.ts FOLDER [page …]`
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { startBrowser } from '../support/browser.ts';
import { consolePage } from '../support/console.ts';
import { ask, bearer, getFeed, postSignals } from '../support/http.ts';
import { seededRandom } from '../support/random.ts';
import { KEY, startWeir } from '../support/weir.ts';

const [folder = 'pictures', ...wanted] = process.argv.slice(2);
/** What there is a picture of: the address, and the heading that says that it is there. */
const PAGES: Readonly<Record<string, { readonly path: string; readonly heading: string }>> = {
  overview: { path: '/', heading: 'Overview' },
  feeds: { path: '/feeds', heading: 'Feeds' },
  feed: { path: '/feeds/composed/perimeter', heading: 'perimeter' },
  rules: { path: '/rules', heading: 'Rules' },
  timeline: { path: '/changes?since=7d', heading: 'Timeline' },
  lookup: { path: `/lookup?target=${encodeURIComponent('45[.]83[.]64[.]1')}`, heading: 'Look up' },
  backtest: { path: '/backtest', heading: 'Backtest' },
  devices: { path: '/devices', heading: 'Devices' },
  bouncers: { path: '/bouncers', heading: 'Bouncers' },
  workspace: { path: '/workspace', heading: 'Workspace' },
  webhooks: { path: '/webhooks', heading: 'Webhooks' },
  'dead-letters': { path: '/dead-letters', heading: 'Dead letters' },
  geo: { path: '/geo', heading: 'Geo data' },
  keys: { path: '/keys', heading: 'Keys' },
  audit: { path: '/audit', heading: 'Audit' },
};
const REASONS = [
  'port scan',
  'SSH brute force',
  'login attempts with leaked passwords',
  'spam',
  'phishing page',
  'probes for /wp-login.php',
];
const LOOKS = { light: [1440, 'light'], dark: [1440, 'dark'], phone: [390, 'light'] } as const;

const { below, pick } = seededRandom(7);
/** Of devices, by name. */
const keys = new Map<string, string>();

mkdirSync(folder, { recursive: true });
const data = mkdtempSync(join(tmpdir(), 'weir-pictures-'));
const settings = { DATA_DIR: data, BOOTSTRAP_API_KEY: KEY, FEED_REBUILD_SECONDS: '1' };
let weir = await startWeir(settings);
const browser = await startBrowser();
try {
  await fill(weir.url);
  // What devices get from now on is newer than that.
  await new Promise((resolve) => setTimeout(resolve, 3000));
  await poll(weir.url);
  // The ledger of devices is written when it stops.
  await weir.kill('SIGTERM');
  past();
  weir = await startWeir(settings);
  await poll(weir.url);
  await send(weir.url, 'scanners', 3);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  await poll(weir.url);
  // What has landed, and what devices have, is written once a minute.
  await new Promise((resolve) => setTimeout(resolve, 65_000));
  await poll(weir.url);
  for (const [look, [width, scheme]] of Object.entries(LOOKS)) {
    const page = consolePage(await browser.page(), weir.url);
    await page.look(width, 900, scheme);
    if (look === 'light') {
      await page.open(`${weir.url}/console/`);
      await page.sees('API key');
      writeFileSync(join(folder, 'sign-in.png'), await page.picture());
      await page.signIn(KEY);
    }
    for (const [name, { path, heading }] of Object.entries(PAGES)) {
      if (wanted.length > 0 && !wanted.includes(name)) continue;
      await page.show(path, heading);
      await page.seesNot('Loading…');
      await new Promise((resolve) => setTimeout(resolve, 1500));
      const height = await page.evaluate<number>('document.documentElement.scrollHeight');
      await page.look(width, Math.min(3000, Math.max(900, height)), scheme);
      await new Promise((resolve) => setTimeout(resolve, 300));
      writeFileSync(join(folder, `${name}-${look}.png`), await page.picture());
      await page.look(width, 900, scheme);
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
      if (wide > width) console.log(`${name} is ${wide} px wide in ${look}`);
    }
    if (page.complaints.length > 0) console.log(page.complaints.join('\n'));
  }
} finally {
  await browser.close();
  await weir.kill('SIGTERM');
  rmSync(data, { recursive: true, force: true });
}

/** Lists, feeds, rules, polls, and a past of 90 days. */
async function fill(url: string): Promise<void> {
  const manage = async (method: string, path: string, body: object): Promise<{ id: string }> =>
    JSON.parse((await ask(url, `/v1/manage${path}`, { method, headers: bearer(KEY), body: JSON.stringify(body) })).text);
  const rails = JSON.stringify({ protect: ['private'], min_prefix_v4: 8 });
  await ask(url, '/v1/manage/workspace', { method: 'PATCH', headers: { ...bearer(KEY), 'if-match': '*' }, body: rails });
  const lists = [
    { name: 'scanners', description: 'Hosts that scan the perimeter' },
    { name: 'mail-abuse', description: 'Senders of spam and phishing' },
    { name: 'analysts', description: 'Blocked by hand, from cases', max_entries: 4000 },
  ];
  for (const list of lists) await manage('POST', '/lists', list);
  await manage('POST', '/feeds', { name: 'perimeter', description: 'All that the edge firewalls block', all_lists: true });
  await manage('POST', '/feeds', { name: 'mail-gateway', lists: ['mail-abuse', 'analysts'], format: 'plain', family: 'v4' });
  for (const [list, batches] of Object.entries({ scanners: 8, 'mail-abuse': 4, analysts: 4 })) await send(url, list, batches);
  const places = [{ country: 'KP' }, { country: 'IR' }, { asn: 'AS14061' }];
  const blocks = places.map((target) => ({
    kind: 'access_rule',
    op: 'upsert',
    reason: 'case 2026-114',
    rule: { action: 'block', target },
  }));
  await postSignals(
    url,
    KEY,
    [...blocks, { kind: 'access_rule', op: 'upsert', rule: { action: 'block', target: { ip: 'none' } } }],
    '/v2/signal?list=analysts',
  );
  const network = (ip: string, reason: string, more: object) => ({
    ...{ kind: 'access_rule', op: 'upsert', reason, ...more },
    rule: { action: 'block', target: { ip } },
  });
  await postSignals(url, KEY, [network('45.83.64.0/24', 'hoster of scanners', {})], '/v2/signal?list=scanners');
  const one = { value: '45.83.64.1', reason: 'case 2026-114, C2', list: 'analysts', expires: '604800' };
  const headers = { ...bearer(KEY), 'x-actor': 'Jana Novak' };
  await ask(url, '/v1/manage/rules', { method: 'POST', headers, body: JSON.stringify({ ...one, action: 'block' }) });
}

/** Batches of signals for a list. */
async function send(url: string, list: string, batches: number): Promise<void> {
  const address = () => `${pick([45, 91, 103, 185, 193])}.${below(256)}.${below(256)}.${1 + below(254)}`;
  for (let batch = 0; batch < batches; batch += 1) {
    const entries = Array.from({ length: 950 }, () => ({
      ...{ kind: 'access_rule', op: 'upsert', expires_in: 3600 + below(86_400 * 6), reason: pick(REASONS) },
      rule: { action: 'block', target: { ip: address() } },
    }));
    await postSignals(url, KEY, entries, `/v2/signal?list=${list}`);
  }
}

/** The key of a device. */
async function keyOf(url: string, agent: string): Promise<string> {
  const name = `${agent.split('/')[0]!.toLowerCase()} Prague`;
  if (!keys.has(name)) {
    const body = JSON.stringify({ name, permissions: ['feed:read'] });
    keys.set(name, JSON.parse((await ask(url, '/v1/manage/keys', { method: 'POST', headers: bearer(KEY), body })).text).key);
  }
  return keys.get(name)!;
}

/** Devices pull their feeds. */
async function poll(url: string): Promise<void> {
  for (const [agent, feed] of [
    ['FortiGate/7.4.3', '/perimeter'],
    ['PaloAlto-EDL/11.1', '/perimeter'],
    ['curl/8.5.0', '/mail-gateway'],
    ['nftables-loader', ''],
  ] as const) {
    const headers = { ...bearer(await keyOf(url, agent)), 'user-agent': agent };
    const { headers: first } = await ask(url, `/v1/threat/feeds${feed}`, { headers });
    for (let i = 0; i < 12; i += 1) await ask(url, `/v1/threat/feeds${feed}`, { headers: { ...headers, 'if-none-match': first.etag } });
  }
  await getFeed(url, KEY, '/analysts');
}

/** What landing and builds would have written on each of the last 90 days. */
function past(): void {
  const db = new DatabaseSync(join(data, 'weir.db'));
  const today = Math.floor(Date.now() / 86_400_000);
  const insert = db.prepare(
    `INSERT OR IGNORE INTO feed_days (workspace_pk, list_pk, day, added, expired, removed, undone, last_v4, max_v4, last_v6, max_v6)
     VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  for (let ago = 90; ago > 0; ago -= 1) {
    const added = 9000 + below(6000) + (90 - ago) * 60;
    const size = 14_000 + (90 - ago) * 70 + below(1500);
    for (const place of [0, -1]) {
      insert.run(place, today - ago, added, added - below(2500), below(80), ago === 40 ? 4200 : 0, size, size + 300, 900 + below(90), 1000);
    }
  }
  // The lists grew over forty days.
  const lists = db.prepare('SELECT list_pk, net FROM feed_days WHERE list_pk > 0 AND day = ? AND net > 0').all(today);
  for (const { list_pk: list, net } of lists) {
    let left = Number(net);
    for (let ago = 40; ago > 0; ago -= 1) {
      const grown = Math.min(left, below(Math.ceil(Number(net) / 20)));
      left -= grown;
      db.prepare('INSERT INTO feed_days (workspace_pk, list_pk, day, net) VALUES (1, ?, ?, ?)').run(list!, today - ago, grown);
    }
    db.prepare('UPDATE feed_days SET net = ? WHERE list_pk = ? AND day = ?').run(left, list!, today);
  }
  db.close();
}
