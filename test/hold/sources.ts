/** What one tenant's sources, trials, contents and reads take from the others, and from the servers that all of them ask. */
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Figure } from '../../bench/support/figures.ts';
import { PERMISSIONS } from '../../src/account/permission.ts';
import { newKey, newTenant } from '../support/command.ts';
import { ask, bearer } from '../support/http.ts';
import { type Answer, list, listServer, redirect, status } from '../support/list-server.ts';
import { eventually } from '../support/weir.ts';
import { on, type Settings } from './checks.ts';
import { neighbourOf, WATCHED } from './neighbour.ts';

/** Sources of one tenant on one host, and where the only one of another tenant has to be. */
const CROWD = 40;
const TURN = 4;
/** How long is waited for what is to come, ms, and when an answer is late. */
const PATIENCE = 60_000;
const ANSWERED = 25_000;
/** Reads of one workspace at once, and the rules that they read. */
const READS = 400;
const RULES = 30_000;

const ALL = PERMISSIONS.flatMap((permission) => ['--permission', permission]);
const LIST = list('20.0.0.1\n20.0.0.2\n');

/** A proxy that leads to one server, whatever host is asked for. */
async function proxyTo(port: number) {
  const proxy = createServer().on('connect', (_, socket) => {
    const server = connect(port, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    for (const [from, to] of [
      [socket, server],
      [server, socket],
    ] as const)
      from.on('error', () => to.destroy()).pipe(to);
  });
  await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, [Symbol.dispose]: () => void proxy.close() };
}

/** Sources of a hostile tenant and of a good one, by way of a proxy that records what each host is asked. */
export const politeSources = async (settings: Settings): Promise<Figure[]> => {
  await using server = await listServer();
  using proxy = await proxyTo(Number(new URL(server.url).port));
  const sources = { SOURCE_PROXY: proxy.url, SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') };
  return await on({ ...settings, ...sources, ...WATCHED, RATE_LIMIT_MANAGE: '0' }, async (weir) => {
    const [good, hostile] = [
      await newTenant({ ...settings }, { organization: 'default', workspace: 'good' }, ...ALL),
      await newTenant({ ...settings }, { organization: 'default', workspace: 'hostile' }, ...ALL),
    ];
    const call = async (key: string, method: string, path: string, body?: object | string) => {
      const text = typeof body === 'object' ? JSON.stringify(body) : body;
      const answer = await ask(weir.url, `/v1/manage${path}`, { method, headers: bearer(key), ...(text !== undefined && { body: text }) });
      return { status: answer.status, body: JSON.parse(answer.text) };
    };
    const add = (key: string, name: string, url: string, more: object = {}) => call(key, 'POST', '/sources', { name, url, ...more });
    const entries = (key: string, name: string, least: number) =>
      eventually(async () => {
        const { body } = await call(key, 'GET', `/sources/${name}`);
        if (body.entries < least) throw new Error(JSON.stringify(body));
        return body.entries as number;
      }, PATIENCE).catch(() => 0);
    const order: string[] = [];
    const noted: Answer = (request, response) => {
      order.push(request.url!);
      LIST(request, response);
    };

    // A wrong token on the address of another tenant, whose server is told apart by nothing else.
    server.set('/private', (request, response) =>
      (request.headers.authorization === 'Bearer right' ? LIST : status(403, { 'retry-after': '604800' }))(request, response),
    );
    const url = 'http://lists.weir.example/private';
    await add(hostile.key, 'wrong', url, { auth: 'bearer', secret: 'wrong' });
    await eventually(async () => {
      const { body } = await call(hostile.key, 'GET', '/sources/wrong');
      if (body.state !== 'stopped') throw new Error(body.state);
    }, PATIENCE);
    await add(good.key, 'right', url, { auth: 'bearer', secret: 'right' });
    const untouched = await entries(good.key, 'right', 2);

    // Many sources on the host of one.
    for (let n = 0; n < CROWD; n += 1) {
      server.set(`/crowd/${n}`, noted);
      await add(hostile.key, `crowd-${n}`, `http://shared.weir.example/crowd/${n}`);
    }
    server.set('/one', noted);
    const before = order.length;
    await add(good.key, 'one', 'http://shared.weir.example/one');
    await entries(good.key, 'one', 2);
    const turn = order.indexOf('/one') - before + 1;

    // A host that sets an interval, reached by all ways: other spellings, redirects, trials, refreshes by hand.
    server.set('/drop/drop_v4.json', noted);
    server.set('/door', redirect('http://www.spamhaus.org./drop/drop_v4.json'));
    await add(good.key, 'drop', 'http://www.spamhaus.org/drop/drop_v4.json', { every: 3600 });
    const dropped = await entries(good.key, 'drop', 2);
    const ways = [
      'http://spamhaus.org/drop/drop_v4.json',
      'http://WWW.SPAMHAUS.ORG.:80//drop/%64rop_v4.json?x=1',
      'http://door.weir.example/door',
    ];
    for (const [n, way] of ways.entries()) {
      await add(hostile.key, `way-${n}`, way, { every: 3600 });
      await call(hostile.key, 'POST', `/sources/way-${n}/refresh`, {});
      await call(hostile.key, 'POST', '/sources/try', { url: way });
    }
    await call(good.key, 'POST', '/sources/drop/refresh', {});
    const waiting = await eventually(async () => {
      const { body } = await call(hostile.key, 'GET', '/sources?limit=1000');
      const told = body.sources.filter(
        ({ name, waits_until: until }: { name: string; waits_until: string | null }) => /^way/.test(name) && until !== null,
      );
      if (told.length < ways.length) throw new Error(JSON.stringify(told));
      return told.length as number;
    }, PATIENCE).catch(() => 0);

    // Contents in parts that nobody finishes, by a key that may only send signals.
    const sender = await newKey({ ...settings }, good.workspaceId, '--permission', 'signal:write');
    for (let n = 0; n < 5; n += 1) {
      await call(good.key, 'POST', '/lists', { name: `list ${n}` });
      await call(sender, 'POST', '/replacements', { list: `list ${n}` });
    }
    server.set('/beside', LIST);
    await add(good.key, 'beside', 'http://beside.weir.example/beside');
    const beside = await entries(good.key, 'beside', 2);
    const imported = await call(good.key, 'POST', '/imports?list=list%204&replace=1', '198.51.100.7\n');

    // A trial of a server that says nothing.
    server.set('/silent', () => undefined);
    const began = performance.now();
    const trial = await call(hostile.key, 'POST', '/sources/try', { url: 'http://silent.weir.example/silent' });
    const took = performance.now() - began;

    return [
      { what: "a wrong token on another tenant's address: entries of that tenant", figure: untouched, limit: 2, least: true },
      { what: `${CROWD} sources of one tenant on one host: the turn of another tenant's only one`, figure: turn, limit: TURN },
      { what: 'a host that sets an interval, by all ways: entries of who came first', figure: dropped, limit: 2, least: true },
      {
        what: 'a host that sets an interval, by all ways: times that it was asked',
        figure: order.filter((path) => path.includes('rop_v4')).length,
        limit: 1,
      },
      { what: `sources that say until when they wait, of ${ways.length}`, figure: waiting, limit: ways.length, least: true },
      { what: 'contents that nobody finishes: entries of a source beside them', figure: beside, limit: 2, least: true },
      { what: 'contents that nobody finishes: status of an import that replaces', figure: imported.status, limit: 200 },
      { what: 'a trial of a silent server: status', figure: trial.status, limit: 202, least: true },
      { what: 'a trial of a silent server: ms until its answer', figure: took, limit: ANSWERED },
    ];
  });
};

/** Very many reads of one workspace at once: none is cut off, and polls of that workspace and of another are answered. */
export const queuedReads = (settings: Settings): Promise<Figure[]> =>
  on({ ...settings, ...WATCHED, RATE_LIMIT_MANAGE: '0' }, async (weir) => {
    const { key } = await newTenant({ ...settings }, { organization: 'default', workspace: 'reading' }, ...ALL);
    for (let from = 0; from < RULES; from += 10_000) {
      const lines = Array.from({ length: 10_000 }, (_, n) => `20.${(from + n) >> 16}.${((from + n) >> 8) & 255}.${(from + n) & 255}`);
      await ask(weir.url, '/v1/manage/imports', { method: 'POST', headers: bearer(key), body: lines.join('\n') });
    }
    const neighbour = await neighbourOf(weir, settings);
    const statuses: number[] = [];
    let longest = 0;
    const feeds: number[] = [];
    const read = async (n: number) => {
      const path = n % 2 === 0 ? `/v1/manage/rules?sort=expires&limit=1000&reason=${n}` : '/v1/manage/changes?since=7d';
      const began = performance.now();
      const { status: code } = await ask(weir.url, path, { headers: bearer(key) }).catch(() => ({ status: 0 }));
      longest = Math.max(longest, performance.now() - began);
      statuses.push(code);
    };
    const what = `${READS} reads of one workspace at once`;
    const polls = await neighbour.during(what, async () => {
      const all = Promise.all(Array.from({ length: READS }, (_, n) => read(n)));
      for (let n = 0; n < 20; n += 1) feeds.push((await ask(weir.url, '/v1/threat/feeds', { headers: bearer(key) })).status);
      await all;
    });
    const others = statuses.filter((code) => code !== 200 && code !== 429).length;
    return [
      { what: `${what}: answered neither with 200 nor with 429`, figure: others, limit: 0 },
      { what: `${what}: ms until the last answer`, figure: longest, limit: ANSWERED },
      {
        what: `${what}: its own polls that are not 200, of ${feeds.length}`,
        figure: feeds.filter((code) => code !== 200).length,
        limit: 0,
      },
      ...polls,
    ];
  });
