/** Sources that are tried: over HTTP on a thread of its own, and at the command line. Nothing of them is kept. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { DEFAULT_GUARDS, PLAIN_READING } from '../../src/account/source.ts';
import { readConfig } from '../../src/config.ts';
import { listOverlapJson, overlapJson } from '../../src/manage/overlap.ts';
import { inTrialFolder, removeTrialFolders } from '../../src/runtime/sources/trial-folder.ts';
import { runTrial } from '../../src/runtime/sources/try-job.ts';
import { overlapCounter } from '../../src/runtime/threads/overlap.ts';
import { sourceTrier } from '../../src/runtime/threads/source-try.ts';
import type { TryJob, TryReport } from '../../src/source/try-source.ts';
import { command, commandJson } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { bare, list, listServer, silent, status } from '../support/list-server.ts';
import { sourceWorld } from '../support/source-world.ts';
import { testEnvironment } from '../support/weir.ts';

const DATA_DIR = temporaryFolder({ after });
const settings = { DATA_DIR, PROTECTED_NETWORKS: 'private', SOURCE_NETWORKS: '127.0.0.1', ...smallGeo(DATA_DIR) };
const world = await sourceWorld(settings);
const server = await listServer();
after(() => world[Symbol.asyncDispose]());
const hosts = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `198.51.${(from + i) >> 8}.${(from + i) & 255}\n`).join('');
server.set('/first', list(hosts(0, 300)));
const first = await world.add('first', { url: `${server.url}/first`, copies: ['unknown'] });
await world.run();
await world.landed();

const read = readConfig(testEnvironment(settings) as Record<string, string>);
assert.ok('config' in read);
const { config } = read;
const { guardRails, geo } = world.base;
const tried = sourceTrier({ settings: config, guardRails, geo: () => geo.data() });
const here = (asked: TryJob) =>
  inTrialFolder((folder) =>
    runTrial(asked, { folder, settings: config, store: world.base.store, geo: geo.database(), guardRails, onStep: () => {} }),
  );
const job = (path: string, more: Partial<TryJob['content']> = {}, listId: string | null = null): TryJob => ({
  workspaceId: world.workspaceId,
  listId,
  credentials: {},
  content: {
    name: 'new',
    url: server.url + path,
    purpose: 'block',
    guards: DEFAULT_GUARDS,
    reading: PLAIN_READING,
    ...more,
  },
});

test('D23.41 what is there, what is refused, what it has in common, and what feeds would have, from a thread of its own', async () => {
  server.set(
    '/new',
    list(`# Entries : 7\n${hosts(298, 302)}198.51.1.44\nno\n10.0.0.0/8\n203.0.113.0/25\n`, {
      'last-modified': 'Sun, 22 Nov 2026 10:00:00 GMT',
    }),
  );
  const { content, trial, fault } = await tried(job('/new'));
  assert.equal(fault, null);
  assert.deepEqual(
    { ...content, bytes: 0 },
    {
      bytes: 0,
      last_modified: '2026-11-22T10:00:00.000Z',
      said_entries: 7,
      whole: 'said',
      entries: 5,
      v4: 5,
      v6: 0,
      countries: 0,
      asns: 0,
      addresses_v4: 132,
      addresses_v6: 0,
      widest_v4: '203.0.113.0/25',
      widest_v6: null,
      doubled: 1,
      expired: 0,
      passed: {},
      warnings: [],
      faults: { count: 1, first: [{ place: 'line 7', message: '"no": must be an address, a network, an AS number or a country' }] },
      refused: { count: 1, first: [{ place: 'line 8', message: '10.0.0.0/8 overlaps the protected network 10.0.0.0/8 (private)' }] },
      protected: ['10.0.0.0/8 (private)'],
    },
  );
  const common = { entries: 2, addresses_v4: 2, addresses_v6: 0 };
  assert.deepEqual(trial?.overlaps, [
    { kind: 'workspace', name: 'default', ...common },
    { kind: 'list', name: 'first', ...common },
  ]);
  const row = (kind: string, name: string, before: number, entries: number) => ({
    ...{ kind, name, action: 'block', entries_before: before, entries_after: entries, entry_limit: 131_072, fits: true, left_out: null },
  });
  assert.deepEqual(trial?.feeds, [row('list', 'new', 0, 3), row('workspace', 'default', 4, 6)]);
  assert.deepEqual([trial?.present, trial?.added, trial?.removed, trial?.left_out], [0, 5, 0, 0]);
  assert.deepEqual(trial?.holds, ['guard rails refuse 1 of 7 entries, more than 10 %', '1 of 7 entries cannot be taken, more than 0 %']);
});

test('D23.41 a source that there is, tried with another content: what would come and go', async () => {
  server.set('/other', list(hosts(10, 320)));
  const { trial } = await here(job('/other', {}, first.listId));
  assert.deepEqual([trial?.present, trial?.added, trial?.removed, trial?.holds], [300, 20, 10, []]);
  assert.deepEqual(
    trial?.feeds.map(({ kind, name }) => [kind, name]),
    [
      ['list', 'new'],
      ['workspace', 'default'],
    ],
  );
});

test('D23.41, D44.2 a source that there is, tried with a network that is most of its addresses', async () => {
  server.set('/broad', list(`${hosts(0, 300)}198.51.0.0/16\n`));
  const { trial } = await here(job('/broad', {}, first.listId));
  assert.match(
    trial!.holds.join(),
    /^it would block 65,536 IPv4 addresses instead of 300 \(65,236 added.*198\.51\.0\.0\/16\), more than 50 %$/,
  );
});

test('D23.41 what cannot be fetched or read is told, and countries and ASNs would be held', async () => {
  server.set('/gone', status(404));
  server.set('/page', bare('<!DOCTYPE html><html>Just a moment</html>'));
  server.set('/cut', bare('# Entries : 9\n192.88.99.1\n'));
  server.set('/wide', bare('AS64500\nNL\n'));
  for (const [path, fault] of [
    ['/gone', /^the server answers 404$/],
    ['/page', /web page or XML/],
    ['/cut', /says that it has 9 entries, and 1 were read/],
  ] as const) {
    const report = await here(job(path));
    assert.match(String(report.fault), fault);
    assert.deepEqual([report.content, report.trial], [null, null]);
  }
  const { trial } = await here(job('/wide'));
  assert.match(trial!.holds[0]!, /^whole countries or ASNs: 1 country, 1 ASN/);
});

test('D23.41 at the command line: an address, a source by its name, a row of the catalogue', async () => {
  const tryIt = (...args: string[]) => command(['source', 'try', '--workspace', 'default', ...args], settings);
  const { code, stdout } = await tryIt(`${server.url}/new`);
  assert.equal(code, 0);
  for (const line of [
    /^whole {9}yes, it says that it has 7$/m,
    /^not readable {2}1$/m,
    /^protected {5}10\.0\.0\.0\/8 \(private\)$/m,
    /^first +list +2 +2$/m,
    /^default +workspace, block +4 +6 +131072 +fits$/m,
    /^such a refresh would be held:$/m,
  ])
    assert.match(stdout, line);
  const { content, trial } = await commandJson<TryReport>(['source', 'try', '--workspace', 'default', 'first'], settings);
  assert.deepEqual([content?.entries, trial?.present, trial?.added, trial?.removed], [300, 300, 0, 0]);
  const failed = await tryIt(`${server.url}/gone`);
  assert.deepEqual([failed.code, /nothing of it can be taken: the server answers 404/.test(failed.stdout)], [1, true]);
  assert.match((await tryIt('nothing')).stderr, /nothing is neither an address, nor a source of the workspace, nor in the catalogue/);
  assert.match((await tryIt('http://10.1.2.3/')).stderr, /url leads to 10\.1\.2\.3, which is in a private, special or own network/);
});

test('D23.22 at the command line: a source is refreshed, what is held is accepted or discarded, and the audit log says who', async () => {
  const ask = async (what: string, ...args: string[]) => {
    const asked = command(['source', what, 'asked', '--workspace', 'default', '--actor', 'Renée', ...args], settings);
    const waiting = { is: true };
    void asked.finally(() => {
      waiting.is = false;
    });
    while (waiting.is) {
      await world.run();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return asked;
  };
  server.set('/asked', list(hosts(400, 500)));
  const source = await world.add('asked', { url: `${server.url}/asked` });
  await world.run();
  assert.match((await ask('accept')).stderr, /nothing of the source "asked" is held back/);
  server.set('/asked', list(hosts(600, 700)));
  const held = await ask('refresh', '--wait');
  assert.deepEqual(
    [held.code, /^asked: held, 100 entries, 100 added, 100 removed: 100 of 100 entries would be removed/.test(held.stdout)],
    [1, true],
    held.stdout,
  );
  const discarded = await ask('discard', '--wait');
  assert.match(discarded.stdout, /^asked: discarded/);
  assert.deepEqual(world.state(source).held, null);
  server.set('/asked', list(hosts(600, 701)));
  await ask('refresh', '--wait');
  const accepted = await ask('accept', '--wait');
  assert.deepEqual([accepted.code, accepted.stdout.trim()], [0, 'asked: applied, 101 entries, 101 added, 100 removed']);
  assert.equal((await world.rules(source)).length, 101);
  const { items } = await world.base.store.auditPage(world.workspaceId, { after: null, limit: 10 });
  const events = items.filter(({ by }) => by.actor === 'Renée').map(({ event }) => event);
  assert.deepEqual(events, ['source accepted', 'source refresh asked', 'source discarded', 'source refresh asked']);
});

test('D23.41 who tries again and again is told to wait: a host must not shut the whole service out', async () => {
  let at = 1_000_000;
  const patient = sourceTrier({
    settings: { ...config, sourceProxy: 'http://127.0.0.1:9' },
    guardRails,
    geo: () => geo.data(),
    now: () => at,
  });
  const drop = job('', { url: 'https://www.spamhaus.org/drop/drop_v4.json' });
  for (let i = 0; i < 3; i += 1) assert.match(String((await patient(drop)).fault), /proxy/);
  await assert.rejects(patient(drop), (error: Error & { cause?: unknown }) => {
    assert.match(error.message, /www\.spamhaus\.org was asked 3 times for trials in the last hour/);
    return (error.cause as { retryAfter: number }).retryAfter === 3600;
  });
  at += 3_600_000;
  assert.match(String((await patient(drop)).fault), /proxy/);
});

test('D47.3 a trial whose thread is ended leaves no download behind, nor does a process that was killed', async (t) => {
  const own = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`weir-try-${process.pid}-`));
  server.set('/half', (_, response) => void response.writeHead(200).write(hosts(0, 300)));
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const began = tried(job('/half'));
  while (!own().some((name) => readdirSync(join(tmpdir(), name)).length > 0)) await new Promise(setImmediate);
  t.mock.timers.tick(60_000);
  await assert.rejects(began, { code: 'TOO_LARGE' });
  assert.deepEqual(own(), []);
  const { pid: ended } = spawnSync(process.execPath, ['--version']);
  const left = [ended, process.pid].map((pid) => mkdtempSync(join(tmpdir(), `weir-try-${pid}-`)));
  const running = mkdtempSync(join(tmpdir(), `weir-try-${process.ppid}-`));
  t.after(() => rmSync(running, { recursive: true }));
  removeTrialFolders();
  assert.deepEqual([...left, running].map(existsSync), [false, false, true]);
});

test('D23.41 one of a workspace is tried at a time, and few in all', async () => {
  server.set('/silent', silent);
  const began = tried(job('/silent'));
  await assert.rejects(tried(job('/new')), { code: 'REFUSED', message: /is being tried already/ });
  const others = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'];
  const [second, third] = others.map((workspaceId) => tried({ ...job('/new'), workspaceId }));
  await assert.rejects(third!, { code: 'LIMITED' });
  await assert.rejects(second!, { code: 'NOT_FOUND', message: 'the workspace is gone' });
  while (!server.asked.has('/silent')) await new Promise(setImmediate);
  await server[Symbol.asyncDispose]();
  assert.match(String((await began).fault), /cut short|socket hang up|reset/);
});

test('D30.1, D30.4 what lists are worth, from a thread of its own and at the command line', async () => {
  const { store } = world.base;
  const { workspaceId } = world;
  const count = overlapCounter({ store, settings: config, guardRails, geo: () => geo.data() });
  const all = await overlapJson(store, workspaceId, await count.lists(workspaceId));
  const { entries, idle, copies, overlaps, unique } = all.lists.find(({ name }) => name === 'first')!;
  assert.ok(entries > 0);
  assert.deepEqual([idle, copies, overlaps, unique.entries], [true, [{ name: 'unknown', entries: 0 }], [], entries]);
  const one = await listOverlapJson(store, count, workspaceId, { id: first.listId, name: 'first' });
  assert.deepEqual(
    one!.feeds.map(({ kind, name, entries_without: without }) => (kind === 'list' ? [name, without] : kind)),
    [['first', 0], 'workspace'],
  );
  const told = await command(['worth', 'first', '--workspace', workspaceId], settings);
  assert.match(told.stdout, new RegExp(`^only here    ${entries} entries`, 'm'));
  assert.match((await command(['worth', '--workspace', workspaceId], settings)).stdout, /^without a detection in 30 days: first\b/m);
});
