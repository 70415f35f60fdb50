/** Sources that are tried: over HTTP on a thread of its own, and at the command line. Nothing of them is kept. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createProxy } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { DEFAULT_GUARDS, PLAIN_READING } from '../../src/account/source.ts';
import { systemClock } from '../../src/clock.ts';
import { readConfig } from '../../src/config.ts';
import { listOverlapJson, overlapJson } from '../../src/manage/overlap.ts';
import { overlapCounter } from '../../src/runtime/jobs/overlap.ts';
import { sourceTrier } from '../../src/runtime/jobs/source-try.ts';
import { politeFetching } from '../../src/runtime/sources/fetching.ts';
import { inTrialFolder, removeTrialFolders } from '../../src/runtime/sources/trial-folder.ts';
import { fetchTried, runTrial } from '../../src/runtime/sources/try-job.ts';
import type { TryJob, TryReport } from '../../src/source/try-source.ts';
import { makeAuthority, makeCertificate } from '../support/certificates.ts';
import { command, commandJson } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { bare, list, listServer, redirect, silent, status } from '../support/list-server.ts';
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
const { store } = world.base;
const fetching = politeFetching(config, join(DATA_DIR, 'tried'), systemClock);
const trier = { settings: config, guardRails, fetching, recall: async () => undefined, geo: () => geo.data() };
const tried = sourceTrier(trier);
const here = (asked: TryJob) =>
  inTrialFolder((folder) =>
    runTrial(asked, {
      ...{ settings: config, store, geo: geo.database(), guardRails, onStep: () => {} },
      fetch: () => fetchTried(asked, config, folder, async () => undefined),
    }),
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
  assert.deepEqual(trial?.holds, ['guard rails refuse 1 of 7 entries, more than 10 %', '1 of 7 entries cannot be used, more than 0 %']);
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
    ['/cut', /announces 9 entries but has 1/],
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
    /^whole {9}yes, it announces 7$/m,
    /^not readable {2}1$/m,
    /^protected {5}10\.0\.0\.0\/8 \(private\)$/m,
    /^first +list +2 +2$/m,
    /^default +workspace, block +4 +6 +131072 +fits$/m,
    /^such a refresh would be put on hold:$/m,
  ])
    assert.match(stdout, line);
  const { content, trial } = await commandJson<TryReport>(['source', 'try', '--workspace', 'default', 'first'], settings);
  assert.deepEqual([content?.entries, trial?.present, trial?.added, trial?.removed], [300, 300, 0, 0]);
  const failed = await tryIt(`${server.url}/gone`);
  assert.deepEqual([failed.code, /it cannot be used: the server answers 404/.test(failed.stdout)], [1, true]);
  assert.match((await tryIt('nothing')).stderr, /nothing is neither an address, nor a source of the workspace, nor in the catalogue/);
  assert.match((await tryIt('http://10.1.2.3/')).stderr, /url leads to 10\.1\.2\.3, which is in a private, special or own network/);
});

test('D62.7 recommended never-block sources: what each would take out of each feed is shown first; those that cannot be used are not added', async (t) => {
  const folder = temporaryFolder(t);
  const hosts = ['www.cloudflare.com', 'ip-ranges.amazonaws.com', 'developers.google.com', 'api.fastly.com', 'api.github.com'];
  await makeAuthority(folder);
  await makeCertificate(folder, 'all', '/CN=all', `subjectAltName=${hosts.map((host) => `DNS:${host}`)}`);
  const [key, cert] = ['all.key', 'all.pem'].map((name) => readFileSync(join(folder, name)));
  const contents: Readonly<Record<string, string>> = {
    '/ips-v4': '198.51.0.0/20\n',
    '/ips-v6': '2001:db8::/32\n',
    '/public-ip-list': '{"addresses":["192.0.2.0/24"],"ipv6_addresses":[]}',
    '/meta': '{"hooks":["192.88.99.0/24"]}',
  };
  const makers = createServer({ key, cert }, ({ url }, response) =>
    response.writeHead(contents[url!] ? 200 : 404).end(contents[url!]),
  ).listen(0);
  const proxy = createProxy().listen(0);
  // Every host is this one.
  proxy.on('connect', (_, socket) => {
    const there = connect((makers.address() as AddressInfo).port, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    socket
      .on('error', () => there.destroy())
      .pipe(there.on('error', () => socket.destroy()))
      .pipe(socket);
  });
  await Promise.all([makers, proxy].map((server) => server.listening || once(server, 'listening')));
  t.after(() => [makers, proxy].forEach((server) => void server.close()));
  const proxied = {
    ...settings,
    SOURCE_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    SOURCE_CA_FILE: join(folder, 'ca.pem'),
  };
  const add = (...args: string[]) => command(['source', 'add', '--workspace', 'default', ...args], proxied);
  const names = async () =>
    (await commandJson<{ name: string; catalogue: string | null }[]>(['source', 'ls', '--workspace', 'default'], settings))
      .filter(({ catalogue }) => catalogue !== null)
      .map(({ name }) => name);

  const asked = await add('--recommended');
  assert.deepEqual([asked.code, await names()], [2, []]);
  for (const line of [
    /cloudflare-v4: 1 entry$/m,
    /^ {2}the list first blocks addresses of 1 entry \(300 IPv4 addresses\)$/m,
    /^fastly: 1 entry; no list and no feed blocks any of them$/m,
    /^aws-cloudfront: cannot be added: the server answers 404$/m,
    /^no block feed subtracts the never-block rules of other lists: /m,
    /add 4 never-block sources\?\nnothing has changed; add --yes to do it$/m,
  ])
    assert.match(asked.stderr.replaceAll(/^weir: /gm, ''), line);
  await commandJson(['workspace', 'set', 'default', '--subtract-allow', 'on'], settings);
  const added = await add('--recommended', '--yes');
  assert.equal(added.code, 1, added.stderr);
  assert.match(added.stdout, /^ {2}the block feed of the workspace default would have 0 entries instead of \d+$/m);
  assert.deepEqual((await names()).sort(), ['cloudflare-v4', 'cloudflare-v6', 'fastly', 'github-hooks']);
  const later = await add('--recommended', '--yes');
  assert.ok(!later.stdout.includes('fastly') && /^googlebot: cannot be added/m.test(later.stdout), later.stdout);
  for (const args of [[], ['fastly', '--recommended']])
    assert.match((await add(...args)).stderr, /^weir: give a name, or --recommended alone/);
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
  assert.match((await ask('accept')).stderr, /the source "asked" has no refresh on hold/);
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
  const closed = { ...config, sourceProxy: 'http://127.0.0.1:9' };
  const others = politeFetching(closed, join(DATA_DIR, 'tried'), { now: () => at, monotonic: () => at });
  const patient = sourceTrier({ ...trier, settings: closed, fetching: others, now: () => at });
  const drop = (path: string, host = 'www.spamhaus.org') => patient(job('', { url: `https://${host}/drop/${path}` }));
  const refused = (trial: Promise<unknown>, text: RegExp, seconds: number) =>
    assert.rejects(trial, ({ message, cause }: Error) => {
      assert.match(message, text);
      return (cause as { retryAfter: number }).retryAfter === seconds;
    });
  for (const path of ['drop_v4.json', 'drop_v6.json', 'asndrop.json']) assert.match(String((await drop(path)).fault), /proxy/);
  at += 60_000;
  for (const host of ['www.spamhaus.org', 'spamhaus.org.', 'SPAMHAUS.org:443'])
    await refused(drop('other.json', host), /^spamhaus\.org was asked 3 times for trials in the last hour$/, 3540);
  at += 3_540_000;
  assert.match(String((await drop('drop_v4.json')).fault), /proxy/);
  // Nor is it asked for the same again, however it is written, until its interval is over.
  at += 60_000;
  const wait = /^it has to wait for the least interval of spamhaus\.org: 1h for an address: try again in 59m$/;
  await refused(drop('drop_v4.json?again=1', 'spamhaus.org.'), wait, 3540);
});

test('D43.3, D43.8 a redirect of a trial is counted where it leads, and what a server has answered holds for trials, refreshes and whom it was for', async () => {
  const patient = sourceTrier({ ...trier, now: () => 1 });
  server.set('/moved', redirect('https://www.spamhaus.org./drop/drop_v4.json'));
  const other = { workspaceId: 'other', key: '' };
  fetching.visits.politeness.asked(new URL('https://spamhaus.org/drop/drop_v4.json'), other, systemClock.monotonic());
  await assert.rejects(patient(job('/moved')), { code: 'LIMITED', message: /the least interval of spamhaus\.org/ });
  server.set('/busy', status(429, { 'retry-after': '600' }));
  assert.equal((await patient(job('/busy'))).fault, 'the server answers 429');
  await assert.rejects(patient(job('/busy')), ({ message, cause }: Error) => {
    assert.match(message, /the server of 127\.0\.0\.1:\d+, which requested a pause: try again in 10m$/);
    const { retryAfter } = cause as { retryAfter: number };
    return retryAfter > 500 && retryAfter <= 600;
  });
  assert.equal((await patient({ ...job('/busy'), credentials: { authorization: 'Bearer other' } })).fault, 'the server answers 429');
  assert.ok(server.asked.get('/busy') === 2);
  // A refresh waits for it as well.
  const { politeness } = fetching.visits;
  assert.ok(politeness.wait(new URL(`${server.url}/busy`), other, systemClock.monotonic()) !== undefined);
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

test('D23.41 one of a workspace is tried at a time, and two in all: the others wait for their turn', async () => {
  server.set('/silent', silent);
  const began = tried(job('/silent'));
  await assert.rejects(tried(job('/new')), { code: 'REFUSED', message: /is being tried already/ });
  const others = Array.from({ length: 3 }, (_, n) => `00000000-0000-4000-8000-00000000000${n}`);
  const gone = others.map((workspaceId) => tried({ ...job('/new'), workspaceId }));
  for (const each of gone) await assert.rejects(each, { code: 'NOT_FOUND', message: 'the workspace was deleted' });
  while (!server.asked.has('/silent')) await new Promise(setImmediate);
  await server[Symbol.asyncDispose]();
  assert.match(String((await began).fault), /cut short|socket hang up|reset/);
});

test('D30.1, D30.4 what lists are worth, from a thread of its own and at the command line', async () => {
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
