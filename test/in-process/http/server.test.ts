/** Requests as bytes: what no client library would send must be answered or cut off, and never end the process. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { write } from '../../../src/http/answer.ts';
import { createApp } from '../../../src/http/app.ts';
import { authenticator } from '../../../src/http/auth/authenticator.ts';
import { closeServer, createHttpServer, refuseConnection } from '../../../src/http/server.ts';
import { createLogger } from '../../../src/runtime/logging.ts';

const SIGNAL_400 = /\r\n\r\n\{"error":"ValidationError",.*"code":400\}$/;
const FEED_400 = /\r\n\r\n\{"success":false,.*\}$/;

async function listening(t: TestContext) {
  const log: string[] = [];
  const now = () => 0;
  const app = createApp({
    settings: {
      trustProxy: [],
      maxConnections: 1000,
      maxConnectionsPerAddress: 1000,
      rateLimitSignals: 0,
      rateLimitFeeds: 0,
      rateLimitManage: 0,
      bodyBudgetMb: 256,
      baseUrl: undefined,
      console: false,
    },
    draining: () => false,
    authenticator: authenticator({ store: { keyRevision: async () => 1, findCaller: async () => undefined }, now, monotonic: now }),
    submitSignals: async () => ({ status: 500 }),
    bouncers: undefined,
    answerDocument: () => ({ status: 500 }),
    readiness: async () => ({ store: { ok: true } }),
    now,
    monotonic: now,
    logger: createLogger('warn', (line) => log.push(line)),
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => app.close());
  /** The answer to these bytes, after which the client has no more to say. */
  const raw = (text: string | Uint8Array) =>
    new Promise<string>((resolve) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.end(text));
      let answer = '';
      socket.setEncoding('latin1').on('data', (part: string) => {
        answer += part;
      });
      socket.on('error', () => {}).on('close', () => resolve(answer));
    });
  return { url, raw, log };
}

test('7.4 two Host headers, and on HTTP/1.1 none: 400 in the shape of the group; HTTP/1.0 needs none', async (t) => {
  const { raw } = await listening(t);
  for (const [path, shape] of [
    ['/v1/signal', SIGNAL_400],
    ['/healthz', SIGNAL_400],
    ['/v1/threat/feeds', FEED_400],
  ] as const) {
    for (const hosts of ['', 'Host: a\r\nHost: b\r\n', 'host: a\r\nAccept: */*\r\nHOST: a\r\n']) {
      const answer = await raw(`GET ${path} HTTP/1.1\r\n${hosts}\r\n`);
      assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n/, path + hosts);
      assert.match(answer, shape);
      assert.match(answer, /\r\nCache-Control: no-store\r\n/);
      assert.match(answer, /\r\nConnection: close\r\n/);
    }
  }
  assert.match(await raw('GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'), /^HTTP\/1\.1 200 /);
  assert.match(await raw('GET /healthz HTTP/1.0\r\n\r\n'), /^HTTP\/1\.1 200 /);
});

test('7.4 Expect: another expectation than 100-continue is 417 in the shape of the group', async (t) => {
  const { raw } = await listening(t);
  const ask = (path: string) => raw(`POST ${path} HTTP/1.1\r\nHost: a\r\nExpect: a-miracle\r\nContent-Length: 2\r\n\r\n[]`);
  assert.match(await ask('/v1/signal'), /^HTTP\/1\.1 417 Expectation Failed\r\n[\s\S]*\{"error":"ExpectationFailed",.*"code":417\}$/);
  assert.match(
    await ask('/v1/threat/feeds'),
    /^HTTP\/1\.1 417 [\s\S]*\{"success":false,"error":"The only expectation that is met is 100-continue","details":\{\}\}$/,
  );
});

test('7.4 bytes that are no HTTP are answered in the shape of the group that they ask', async (t) => {
  const { raw } = await listening(t);
  for (const [path, shape] of [
    ['/v1/signal', /\{"error":"ValidationError",.*"code":400\}$/],
    ['/v1/threat/feeds/b\xc3\xbcro', /\{"success":false,"error":"Malformed request","details":\{\}\}$/],
    ['/v1/decisions', /\{"message":"Malformed request"\}$/],
  ] as const) {
    const answer = await raw(Buffer.from(`GET ${path} HTTP/1.1\r\nHost: a\r\nBad Name: b\r\n\r\n`, 'latin1'));
    assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n[\s\S]*\r\nDate: [A-Z][a-z]{2}, \d\d /, path);
    assert.match(answer, shape);
  }
  assert.match(
    await raw(`GET /v1/threat/feeds/${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`),
    /^HTTP\/1\.1 431 [\s\S]*\{"success":false,"error":"The request headers are too large","details":\{\}\}$/,
  );
});

test('1.7 letters, digits and -._~ of an address may be percent-encoded', async (t) => {
  const { url } = await listening(t);
  const seen = async (path: string, method = 'GET') => (await fetch(url + path, { method })).status;
  for (const [escaped, plain] of [
    ['/v1/%73ignal', '/v1/signal'],
    ['/%68ealth%7A', '/healthz'],
    ['/d%6Fcs/%73ignal/swagger/', '/docs/signal/swagger/'],
  ] as const) {
    for (const method of ['GET', 'POST', 'OPTIONS'])
      assert.equal(await seen(escaped, method), await seen(plain, method), `${method} ${escaped}`);
    assert.notEqual(await seen(escaped), 404);
  }
  for (const other of ['/v1%2fsignal', '/v1/signal%20', '/v1/signal/', '/v1/Signal', '/v1/%2573ignal'])
    assert.equal(await seen(other), 404, other);
  assert.equal(await seen('/healthz%2%30'), 400, 'a malformed address stays one');
});

test('7.5 every answer forbids sniffing; pages of the documentation send no referrer', async (t) => {
  const { url } = await listening(t);
  for (const path of [
    '/',
    '/healthz',
    '/readyz',
    '/nowhere',
    '/v1/signal',
    '/v1/threat/feeds',
    '/docs/signal/swagger',
    '/docs/feeds/swagger/',
  ]) {
    for (const method of ['GET', 'HEAD', 'DELETE']) {
      const { status, headers } = await fetch(url + path, { method, redirect: 'manual' });
      assert.equal(headers.get('x-content-type-options'), 'nosniff', `${method} ${path} ${status}`);
    }
  }
  for (const file of ['', 'json', 'static/swagger-ui.css', 'static/index.css', 'static/swagger-ui-bundle.js']) {
    const { status, headers } = await fetch(`${url}/docs/feeds/swagger/${file}`);
    const seen = [status, headers.get('x-content-type-options'), headers.get('referrer-policy')];
    assert.deepEqual(seen, [200, 'nosniff', 'no-referrer'], file);
  }
});

test('7.2.2 a file that the documentation does not have: 404 in our shape, not kept by a cache', async (t) => {
  const { url } = await listening(t);
  for (const file of ['nothing.js', '..%2f..%2fpackage.json', 'a/b/c']) {
    const answer = await fetch(`${url}/docs/signal/swagger/static/${file}`);
    const { error, code } = (await answer.json()) as { error: string; code: number };
    assert.deepEqual([answer.status, error, code, answer.headers.get('cache-control')], [404, 'NotFound', 404, 'no-store'], file);
  }
});

test('1.6 / says where the documentation is', async (t) => {
  const { url } = await listening(t);
  const { docs } = (await (await fetch(url)).json()) as { docs: Record<string, string> };
  assert.deepEqual(docs, {
    signal: '/docs/signal/swagger/',
    feeds: '/docs/feeds/swagger/',
    rules: '/docs/rules/swagger/',
    agent: '/docs/agent/swagger/',
    bouncer: '/docs/bouncer/swagger/',
    manage: '/docs/manage/swagger/',
  });
  for (const page of Object.values(docs)) assert.equal((await fetch(url + page)).status, 200);
  assert.equal((await fetch(url, { method: 'HEAD' })).status, 200);
});

test('7.4 malformed requests are refused or cut off, and the service goes on', async (t) => {
  const { raw, url, log } = await listening(t);
  const post = 'POST /v1/signal HTTP/1.1\r\nHost: a\r\n';
  const malformed: (string | Uint8Array)[] = [
    '',
    '\r\n\r\n',
    '\0\0\0\0\r\n\r\n',
    'GET',
    'GET /',
    'GET / HTTP/9.9\r\nHost: a\r\n\r\n',
    'GET / HTTP/1.1\nHost: a\n\n',
    'GET  / HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET nowhere HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET * HTTP/1.1\r\nHost: a\r\n\r\n',
    'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET //[::: HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET http://[ HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET http:// HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET /v1/threat/feeds/%ff%fe HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET /v1/threat/feeds?%=%&=%zz HTTP/1.1\r\nHost: a\r\nAuthorization: Basic \xff\r\n\r\n',
    `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
    `GET / HTTP/1.1\r\nHost: a\r\n${'X: y\r\n'.repeat(5000)}\r\n`,
    'GET / HTTP/1.1\r\nHost : a\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\n Folded: b\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\nBad Name: b\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n',
    'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
    'TRACE / HTTP/1.1\r\nHost: a\r\n\r\n',
    'BREW / HTTP/1.1\r\nHost: a\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\x81\x05hello',
    `${post}Content-Length: -1\r\n\r\n`,
    `${post}Content-Length: 1e9\r\n\r\n`,
    `${post}Content-Length: 99999999999999999999\r\n\r\n`,
    `${post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n[]`,
    `${post}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    `${post}Transfer-Encoding: chunked\r\n\r\nxyz\r\n`,
    `${post}Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n`,
    `${post}Transfer-Encoding: gzip\r\n\r\n[]`,
    `${post}Expect: 100-continue\r\nContent-Length: 10\r\n\r\n`,
    Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]),
    Buffer.from('GET / HTTP/1.1\r\nHost: \xff\xfe\r\n\r\n', 'latin1'),
  ];
  for (const request of malformed) {
    const answer = await raw(request);
    assert.doesNotMatch(answer, /^HTTP\/1\.1 5/, String(request).slice(0, 100));
  }
  await Promise.all(malformed.map(raw));
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  assert.deepEqual(log, []);
});

test('D1.23 requests that are sent ahead are answered in their order, and one at a time', async (t) => {
  let [underWay, most] = [0, 0];
  const server = createHttpServer({
    draining: () => false,
    handler(request, response) {
      underWay += 1;
      most = Math.max(most, underWay);
      // Every third answer is ready at once.
      if (Number(request.url!.slice(1)) % 3 === 0) end();
      else setImmediate(end);
      function end() {
        underWay -= 1;
        response.end(request.url);
      }
    },
  }).listen(0, '127.0.0.1');
  t.after(() => closeServer(server));
  await once(server, 'listening');
  const COUNT = 2000;
  const requests = Array.from({ length: COUNT }, (_, i) => {
    const last = i === COUNT - 1 ? 'Connection: close\r\n' : '';
    return i % 5 === 0
      ? `POST /${i} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n${last}\r\n[]`
      : `GET /${i} HTTP/1.1\r\nHost: a\r\n${last}\r\n`;
  });
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.setEncoding('latin1').write(requests.join(''));
  let text = '';
  for await (const part of socket) text += part as string;
  assert.deepEqual(
    [...text.matchAll(/\r\n\r\n\/(\d+)/g)].map(([, number]) => Number(number)),
    requests.map((_, i) => i),
  );
  assert.equal(most, 1);
});

test('D1.20 a client that was told 408 and goes on sending loses its connection', async (t) => {
  const refused: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    refused.push(socket.resume().on('error', () => {}));
    refuseConnection(Object.assign(new Error('too slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket);
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  client.setEncoding('latin1').on('error', () => {});
  const sending = setInterval(() => client.write('X-Header: 1\r\n'), 50);
  t.after(() => {
    clearInterval(sending);
    client.destroy();
  });
  const [answer] = await once(client, 'data');
  assert.match(answer, /^HTTP\/1\.1 408 Request Timeout\r\n/);
  if (!refused[0]!.destroyed) await once(refused[0]!, 'close');
});

test('D1.23 long answers that are ready at the same moment are handed to their sockets a few in each turn', async (t) => {
  const responses: ServerResponse[] = [];
  const server = createHttpServer({ draining: () => false, handler: (_, response) => void responses.push(response) }).listen(
    0,
    '127.0.0.1',
  );
  t.after(() => closeServer(server));
  await once(server, 'listening');
  const COUNT = 20;
  const body = Buffer.alloc(3 * 1024 * 1024, 'x');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const answers = Array.from({ length: COUNT }, async () => (await (await fetch(url)).arrayBuffer()).byteLength);
  while (responses.length < COUNT) await turn();
  const sent = () => responses.filter(({ headersSent }) => headersSent).length;
  for (const response of responses) write(response, { status: 200, headers: ['Content-Length', String(body.length)], body });
  for (let before = 0; before < COUNT; await turn()) {
    const now = sent();
    assert.ok(now - before <= 2, `${now - before} in one turn`);
    before = now;
  }
  assert.deepEqual(new Set(await Promise.all(answers)), new Set([body.length]));
});
