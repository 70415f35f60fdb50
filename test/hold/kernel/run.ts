/**
 * The kernel's set equals a model's, whatever breaks: `npm run test:hold kernel` runs this in a network namespace of its own, as root. Blocks
 * and unblocks go on all the time; once a second the kernel's set is read. The figures are how long the oldest difference had
 * lasted since its change was answered with 200, or since the system was able to answer again.
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Figure } from '../../../bench/support/figures.ts';
import { watchMachine } from '../../../bench/support/machine.ts';
import { openLink } from '../../kill/links.ts';
import { lastingPort } from '../../kill/ports.ts';
import { clockIn, keep, keepWeir } from '../../kill/world.ts';
import { commandText, newKey } from '../../support/command.ts';
import { smallGeo } from '../../support/geo.ts';
import { ask, postSignals } from '../../support/http.ts';
import { startOwnPostgres } from '../../support/postgres.ts';
import { seededRandom } from '../../support/random.ts';
import { KEY } from '../../support/weir.ts';
import { type Difference, KernelModel } from './model.ts';

const FOLLOW = fileURLToPath(new URL('../../../integrations/weir-follow', import.meta.url));
const PRELOAD = new URL('../../support/settable-clock.ts', import.meta.url).href;
const LIST = 'edge';
/** Between two changes, ms. */
const PACE = 150;
const HOUR = 3_600_000;
/** Networks that expire in one second, and how many of them are renewed before it. */
const MANY = 54_000;
const RENEWED = MANY / 2;
/** Seconds until then: a busy machine needs half of them to send the rules. */
const LEAD = 50;
/** Over the networks of the list, until it is over its cap. */
const CAP = 400;

const [engine, ...only] = process.argv.slice(2);
execFileSync('ip', ['link', 'set', 'lo', 'up']);
const folder = mkdtempSync(join(tmpdir(), 'weir-hold-'));
const postgres = engine === 'PostgreSQL' ? await startOwnPostgres() : undefined;
const clock = clockIn(join(folder, 'clock'));
const port = await lastingPort();
const ended: string[] = [];
const settings: Record<string, string> = {
  ...smallGeo(folder),
  ...{ DATA_DIR: join(folder, 'data'), PORT: String(port), BOOTSTRAP_API_KEY: KEY, LOG_LEVEL: 'error', DRAIN_SECONDS: '0' },
  ...{ RATE_LIMIT_SIGNALS: '0', RATE_LIMIT_ENTRIES: '0', RATE_LIMIT_FEEDS: '0', RATE_LIMIT_MANAGE: '0' },
  ...{ CLOCK_FILE: join(folder, 'clock'), NODE_OPTIONS: `--import ${PRELOAD}` },
  ...(postgres && { DATABASE_URL: await postgres.createDatabase() }),
};
const weir = keepWeir('weir', settings, ended);
const direct = `http://127.0.0.1:${port}`;
const link = await openLink(port);

/** Resolves when weir answers over the link. */
async function able(): Promise<void> {
  const isReady = async () => (await ask(`http://127.0.0.1:${link.port}`, '/readyz').catch(() => undefined))?.status === 200;
  while (!(await isReady())) await sleep(20);
}
await able();
await commandText(['list', 'create', LIST, '--workspace', 'default'], settings);
const key = await newKey(settings, 'default', '--permission', 'feed:read', '--list', LIST);
const env = { ...process.env, WEIR_URL: `http://127.0.0.1:${link.port}`, WEIR_API_KEY: key, WEIR_FOLLOW_STATE: join(folder, 'state') };
let log = '';
const follower = keep(
  {
    name: 'weir-follow',
    begin() {
      const child = spawn('python3', [FOLLOW], { env, stdio: ['ignore', 'pipe', 'pipe'] });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        log = (log + text).slice(-5000);
      });
      return child;
    },
    ready: '',
    mayEnd: () => false,
  },
  ended,
);

const model = new KernelModel();
const random = seededRandom(39);

/** Sends entries until they are accepted: until then each may be there or not. */
async function send(action: 'block' | 'unblock', networks: readonly string[], expiration = 24 * 3600): Promise<void> {
  for (const network of networks) model.expect(network, 'either');
  const entries = networks.map((network) => ({ type: 'access_rules', action, ip: network.replace(/\/32$/, ''), expiration }));
  for (;;) {
    const reply = await postSignals(direct, KEY, entries, `/v1/signal?list=${LIST}`).catch(() => undefined);
    if (reply?.status === 200) break;
    if (reply !== undefined && reply.status < 500) throw new Error(`${reply.status}: ${reply.text}`);
    await sleep(50);
  }
  for (const network of networks) model.expect(network, action === 'block' ? 'in' : 'out');
}

const slots = Array.from({ length: 300 }, (_, n) => (n % 3 === 0 ? `45.${n >> 8}.${n & 255}.0/25` : `46.0.${n >> 6}.${(n & 63) * 4}/32`));
const blocked = new Set<string>();
let isChanging = true;
/** Random changes, one after the other. */
async function change(): Promise<void> {
  while (isChanging) {
    const network = random.pick(slots);
    const action = blocked.has(network) ? 'unblock' : 'block';
    if (action === 'block') blocked.add(network);
    else blocked.delete(network);
    await send(action, [network]);
    await sleep(random.below(2 * PACE));
  }
}

const reader = spawn('python3', ['-B', fileURLToPath(new URL('read.py', import.meta.url)), FOLLOW], { stdio: ['pipe', 'pipe', 'inherit'] });
const lines = createInterface(reader.stdout)[Symbol.asyncIterator]();
let reading: Promise<unknown> = Promise.resolve();
/** The networks that the kernel drops packets from. */
function kernel(): Promise<ReadonlySet<string>> {
  const read = reading.then(async () => {
    reader.stdin.write('\n');
    const { value } = await lines.next();
    return new Set(String(value).split(' ').filter(Boolean));
  });
  reading = read;
  return read;
}

let worst: Difference = { missing: [], extra: [], age: 0 };
let looks = 0;
async function look(): Promise<void> {
  const at = performance.now();
  const difference = model.compare(await kernel(), at);
  if (difference === undefined) return;
  looks += 1;
  if (difference.age > worst.age) worst = difference;
}
let isLooking = true;
async function watch(): Promise<void> {
  while (isLooking) {
    const next = sleep(1000);
    await look();
    await next;
  }
}

const figures: Figure[] = [];
/** `work` breaks something and makes it good again; afterwards changes go on for some seconds. */
async function part(what: string, work: () => Promise<unknown>, ms = 4000): Promise<void> {
  if (only.length > 0 && !only.some((word) => what.includes(word))) return;
  [worst, looks] = [{ missing: [], extra: [], age: 0 }, 0];
  const bare = await watchMachine(20);
  await work();
  await sleep(ms);
  const delay = Math.max(...(await bare.end()));
  const { missing, extra, age } = worst;
  console.error(
    `${what}: ${Math.round(age)} ms, ${looks} looks${age > 0 ? `, ${missing.length} missing (${missing[0]}), ${extra.length} extra (${extra[0]})` : ''}`,
  );
  figures.push({ what: `kernel, ${engine}: ${what}: oldest difference, ms`, figure: Math.round(age), limit: 1000, machine: delay });
  if (looks === 0) figures.push({ what: `kernel, ${engine}: ${what}: looks`, figure: 0, limit: 1, least: true });
}

await model.while(async () => {
  await send(
    'block',
    slots.filter((_, n) => n % 2 === 0),
  );
  for (const [n, network] of slots.entries()) if (n % 2 === 0) blocked.add(network);
  while ((await kernel()).size < slots.length / 2) await sleep(100);
});
const working = [change(), watch()];
const times = async (count: number, work: () => Promise<unknown>) => {
  for (let n = 0; n < count; n += 1) {
    await work();
    await sleep(1500);
  }
};
const broken = (mode: 'hang' | 'slow' | 'refuse' | 'lose', ms: number) => () =>
  model.while(async () => {
    link.set(mode);
    await sleep(ms);
    link.set('pass');
    await able();
  });

await part('nothing broken', async () => {});
await part('kill -9 of weir', () =>
  times(2, () =>
    model.while(async () => {
      const starts = weir.starts();
      await weir.kill(0);
      while (weir.starts() === starts) await sleep(10);
      await able();
    }),
  ),
);
await part('kill -9 of weir-follow', () =>
  times(3, () =>
    model.while(async () => {
      const starts = follower.starts();
      await follower.kill(0);
      while (follower.starts() === starts) await sleep(10);
    }),
  ),
);
if (postgres !== undefined) {
  await part('kill -9 of PostgreSQL', () =>
    times(2, () =>
      model.while(async () => {
        await postgres.kill();
        await sleep(500);
        await postgres.start();
        await able();
      }),
    ),
  );
}
await part('connections cut', () => times(5, () => model.while(async () => link.cut())));
await part('connections refused', broken('refuse', 2500));
await part('connections silent', broken('hang', 2500));
await part('answers lost', broken('lose', 2500));
await part('slow connections', broken('slow', 3000));
await part('clock an hour back, and forward again', async () => {
  for (const off of [-HOUR, 0]) {
    clock.set(off);
    await sleep(3000);
  }
});
await part('ruleset flushed by another program', () => model.while(() => promisify(execFile)('nft', ['flush', 'ruleset'])), 6000);
await part('list over its cap', async () => {
  const cap = (most: number) => commandText(['list', 'set', LIST, '--workspace', 'default', '--max-entries', String(most)], settings);
  const more = Array.from({ length: CAP }, (_, n) => `47.0.${n >> 6}.${(n & 63) * 4}/32`);
  await model.while(async () => {
    await cap(CAP);
    await send('block', more);
    const before = (await kernel()).size;
    await sleep(2500);
    figures.push({
      what: `kernel, ${engine}: list over its cap: networks that remain`,
      figure: (await kernel()).size,
      limit: Math.min(before, 100),
      least: true,
    });
    await cap(131_072);
  });
  await sleep(3000);
  await send('unblock', more);
});
await part(`${MANY} rules expire in one second, half of them renewed before, half after`, async () => {
  const networks = Array.from({ length: MANY }, (_, n) => `10.${n >> 14}.${(n >> 6) & 255}.${(n & 63) * 4}/32`);
  const end = Math.ceil(Date.now() / 1000) + LEAD;
  const batch = async (some: readonly string[], last: number) => {
    for (let at = 0; at < some.length; at += 1000) await send('block', some.slice(at, at + 1000), last - Math.floor(Date.now() / 1000));
  };
  await model.while(async () => {
    await batch(networks, end);
    while ((await kernel()).size < MANY && Date.now() < end * 1000 - 5000) await sleep(200);
  });
  await batch(networks.slice(0, RENEWED), end + HOUR / 1000);
  // Accepted within a second, so their ends are within two.
  const ends = performance.now() + end * 1000 - Date.now();
  for (const network of networks.slice(RENEWED)) model.expect(network, 'either', ends - 2000);
  while (Date.now() < (end + 1) * 1000) await sleep(50);
  await batch(networks.slice(RENEWED), end + HOUR / 1000);
  await sleep(3000);
  const has = await kernel();
  const missing = networks.filter((network) => !has.has(network)).length;
  figures.push({ what: `kernel, ${engine}: ${MANY} renewed rules: missing`, figure: missing, limit: 0 });
});
isChanging = false;
await working[0];
await sleep(1500);
isLooking = false;
await working[1];
figures.push({ what: `kernel, ${engine}: programs that ended by themselves`, figure: ended.length, limit: 0 });
for (const line of ended) console.error(line);
if (process.env.VERBOSE) console.error(log);
reader.kill();
await Promise.all([weir.stop(), follower.stop(), link.close()]);
await postgres?.stop();
rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
console.log(JSON.stringify(figures));
process.exit(0);
