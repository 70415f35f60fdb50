import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../../src/clock.ts';
import { row } from '../../../src/http/address.ts';
import { metricsApp } from '../../../src/http/app.ts';
import { bodyBudget } from '../../../src/http/bodies/body-budget.ts';
import type { Answered, Call } from '../../../src/http/call.ts';
import { countBatch, countRequest, newHttpCounts } from '../../../src/http/counts.ts';
import type { MetricsPage } from '../../../src/http/metrics.ts';
import { statusOf } from '../../../src/http/monitor/request-watch.ts';
import { router } from '../../../src/http/router.ts';
import { requestServer } from '../../../src/http/serve.ts';
import { createHttpServer } from '../../../src/http/server.ts';

const TOKEN = 'a-token-of-some-length';
const NOBODY = { status: 401 };
const BEARER = { authorization: `Bearer ${TOKEN}` };

async function listening(t: TestContext, page: Partial<MetricsPage> = {}) {
  const reported: unknown[] = [];
  const report = (error: unknown) => void reported.push(error);
  const app = metricsApp({ render: async () => 'weir_up 1\n', token: TOKEN, refuse: () => NOBODY, ...page }, () => false, report);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  t.after(app.close);
  return { url, reported };
}

test('D12.2 metrics ask for their token alone: 401 without it, with another, and with a part of it; without a token nothing is asked', async (t) => {
  const { url } = await listening(t);
  for (const authorization of [
    '',
    `Bearer ${TOKEN.slice(1)}`,
    `Bearer ${TOKEN}x`,
    `bearer  ${TOKEN.toUpperCase()}`,
    `Basic ${btoa(`api:${TOKEN}`)}`,
  ]) {
    const response = await fetch(`${url}/metrics`, { headers: { authorization } });
    assert.equal(response.status, 401, authorization);
    assert.equal(response.headers.get('www-authenticate'), 'Bearer');
    assert.deepEqual(await response.json(), { error: 'Unauthorized', message: 'Invalid or missing token', code: 401 });
  }
  const open = await listening(t, { token: undefined });
  for (const [base, headers] of [
    [url, BEARER],
    [open.url, {}],
  ] as const) {
    const response = await fetch(`${base}/metrics?x=1`, { headers });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
    assert.equal(response.headers.get('cache-control'), 'no-store');
    assert.equal(await response.text(), 'weir_up 1\n');
  }
});

test('D12.1 the port of metrics serves them and nothing else: 404 elsewhere, 405 for another method, 500 when they cannot be read', async (t) => {
  const { url, reported } = await listening(t);
  assert.equal((await fetch(`${url}/`, { headers: BEARER })).status, 404);
  const post = await fetch(`${url}/metrics`, { method: 'POST', headers: BEARER });
  assert.deepEqual([post.status, post.headers.get('allow')], [405, 'GET, HEAD']);
  const head = await fetch(`${url}/metrics`, { method: 'HEAD', headers: BEARER });
  assert.deepEqual([head.status, await head.text()], [200, '']);
  const fault = new Error('no');
  const broken = await listening(t, { render: () => Promise.reject(fault) });
  assert.equal((await fetch(`${broken.url}/metrics`, { headers: BEARER })).status, 500);
  assert.deepEqual([reported, broken.reported], [[], [fault]]);
});

test('D12.1 the server of metrics tells its port, and ends', async () => {
  const page = { render: async () => '', token: undefined, refuse: () => NOBODY };
  const app = () =>
    metricsApp(
      page,
      () => false,
      () => {},
    );
  const first = app();
  const url = await first.listen({ host: '127.0.0.1', port: 0 });
  assert.equal((await fetch(`${url}/metrics`)).status, 200);
  await assert.rejects(app().listen({ host: '127.0.0.1', port: Number(new URL(url).port) }), /EADDRINUSE/);
  await first.close();
});

test('D12.3 each request counts once: refused ones, and those whose client went away before the answer, with status 0', async (t) => {
  const counted: string[] = [];
  const left = Promise.withResolvers<void>();
  const answers: Record<string, (call: Call) => Answered> = {
    '/now': () => ({ status: 200, headers: [], body: undefined }),
    '/later': async () => ({ status: 404 }),
    '/never': ({ response }) => {
      response.once('close', left.resolve);
      return new Promise(() => {});
    },
  };
  const rows = Object.entries(answers).map(([path, answer]) =>
    row({ path, method: 'GET', group: undefined, gate: 'all', read: (call) => call, answer: () => answer }),
  );
  const handler = requestServer({
    find: router({}, rows),
    gates: { all: () => null, key: () => NOBODY, person: () => NOBODY, reader: () => NOBODY },
    budget: bodyBudget(0, 0),
    clocks: systemClock,
    addressOf: () => '',
    watches: [{ end: (_request, response, _ms, route) => void counted.push(`${route} ${statusOf(response)}`) }],
    report: assert.ifError,
  });
  const server = createHttpServer({ handler, draining: () => false });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const send = (lines: string, answered = true) =>
    new Promise<void>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(`${lines}\r\n\r\n`));
      socket.on('data', () => socket.end()).on('close', () => resolve());
      if (!answered) server.once('request', () => socket.destroy());
    });
  await send('GET /now HTTP/1.1\r\nHost: a');
  await send('GET /later HTTP/1.1\r\nHost: a');
  await send('GET /now HTTP/1.1');
  await send('GET /now HTTP/1.1\r\nHost: a\r\nExpect: miracles');
  await send('GET /never HTTP/1.1\r\nHost: a', false);
  await left.promise;
  await new Promise(setImmediate);
  assert.deepEqual(counted, ['/now 200', '/later 404', '/now 400', '/now 417', '/never 0']);
});

test('D12.3 every address counts under one of a few routes', () => {
  const routes = {
    '/v1/threat/feeds': '/v1/threat/feeds',
    '/v1/threat/feeds?family=v4': '/v1/threat/feeds',
    '/v1/threat/feeds/edge': '/v1/threat/feeds/{list}',
    '/v1/threat/feeds/edge?family=v4': '/v1/threat/feeds/{list}',
    'http://weir.example.com/v1/threat/feeds': '/v1/threat/feeds',
    '/v1/threat/feedsx': 'other',
    '/v1/signal': '/v1/signal',
    '/v2/signal?dry_run=1': '/v2/signal',
    '/healthz': '/healthz',
    '/readyz': '/readyz',
    '/docs/feeds/swagger/': 'other',
    '': 'other',
    '*': 'other',
  };
  const find = router({});
  assert.deepEqual(Object.fromEntries(Object.keys(routes).map((url) => [url, find('GET', url).name])), routes);
});

test('D12.4 a thousand lists count by themselves, all further ones together', () => {
  const counts = newHttpCounts();
  const land = (listId: string, entries: number) => {
    const accepted = new Map([['access_rule', entries]] as const);
    countBatch(counts, { became: 'accepted', version: 1, workspaceId: 'w', listId, entries, accepted, failed: new Map() });
  };
  for (let n = 0; n < 1200; n += 1) land(`list ${n}`, 2);
  land('list 0', 1);
  assert.equal(counts.listEntries.size, 1001);
  assert.deepEqual([counts.listEntries.get('list 0'), counts.listEntries.get('other')], [3, 400]);
});

test('D12.3 the time of a request falls into the buckets that it is below', () => {
  const counts = newHttpCounts();
  for (const seconds of [0.0001, 0.00011, 20]) countRequest(counts, '/healthz', 200, seconds);
  const times = counts.requests.get('/healthz')!.get(200)!;
  assert.deepEqual([...times.counts], [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
  assert.equal(times.sum, 20.00021);
});
