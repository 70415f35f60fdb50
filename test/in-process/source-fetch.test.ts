/** Contents of sources, fetched from a careless and hostile server: whole in a file, or a fault and no file. */
import assert from 'node:assert/strict';
import { lookup } from 'node:dns';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type SourceFetching, type SourceRequest, sourceFetch } from '../../src/fetch/content-file.ts';
import { sourceReach } from '../../src/fetch/reach.ts';
import { alternating, bare, bomb, cut, dripping, huge, list, listServer, redirect, silent, status } from '../support/list-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'weir-fetch-'));
const server = await listServer();
after(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const LIMITS = { idleMs: 5000, totalMs: 20_000, bytes: 2 ** 20 };

function get(path: string, more: Partial<SourceFetching> = {}, request: Partial<SourceRequest> = {}) {
  const fetch = sourceFetch({ folder, reach: () => sourceReach(['127.0.0.1'], []), via: {}, limits: LIMITS, now: Date.now, ...more });
  const url = path.startsWith('http') ? path : server.url + path;
  return fetch({ url, credentials: {}, known: undefined, signal: new AbortController().signal, ...request });
}

test('D23.10 a content comes into a file with what tells it, and the server learns who asks', async () => {
  server.set('/list', list('192.0.2.1\n192.0.2.2'));
  const fetched = await get('/list', { contact: 'https://weir.example' });
  assert.ok(fetched.kind === 'fetched');
  assert.equal(readFileSync(fetched.file, 'utf8'), '192.0.2.1\n192.0.2.2');
  assert.deepEqual([fetched.bytes, fetched.endsWithLineFeed, fetched.digest.length], [19, false, 64]);
  assert.match(server.headers.get('/list')!['user-agent']!, /^weir\/\d+\.\d+\.\d+ \(\+https:\/\/weir\.example\)$/);
  assert.equal((await get('/list', {}, { known: fetched.validators })).kind, 'unchanged');
  await fetched[Symbol.asyncDispose]();
  assert.deepEqual(readdirSync(folder), []);
});

test('D23.10 what is cut, too long, too slow, or a web page is a fault, and leaves no file', async () => {
  const text = '192.0.2.1\n'.repeat(50);
  for (const [path, answer, message, limits] of [
    ['/silent', silent, /no data for/, { ...LIMITS, idleMs: 60 }],
    ['/drip', dripping(text, 20), /it takes longer than/, { ...LIMITS, totalMs: 150 }],
    ['/cut', cut(text, 55, true), /it was cut short/],
    ['/cut-chunked', cut(text, 55, false), /it was cut short/],
    ['/bomb', bomb(64), /longer than 1048576 bytes/],
    ['/huge', huge(500), /longer than 1048576 bytes/],
    ['/page', bare('\uFEFF\n <!doctype html><title>403</title>'), /it is a web page or XML/],
    ['/loopback', redirect('http://127.0.0.2:1/'), /127\.0\.0\.2 is in a private/],
    ['/metadata', redirect('http://169.254.169.254/latest/'), /169\.254\.169\.254 is in a private/],
  ] as const) {
    server.set(path, answer);
    await assert.rejects(get(path, { limits: limits ?? LIMITS }), { code: 'FETCH', message }, path);
  }
  assert.deepEqual(readdirSync(folder), []);
  server.set('/busy', status(429, { 'retry-after': '90' }));
  assert.deepEqual(await get('/busy'), { kind: 'refused', status: 429, retryAfter: 90_000 });
});

test('D23.10 a name that is one address when it is judged and another when it is reached is reached where it was judged', async () => {
  let asked = 0;
  // The first answer may be reached, later ones may not: whoever looks up twice gets to the second.
  const changing = ((_name: string, _options: object, done: (e: null, a: { address: string; family: number }[]) => void) =>
    done(null, [{ address: asked++ === 0 ? '127.0.0.1' : '127.0.0.3', family: 4 }])) as unknown as typeof lookup;
  server.set('/dns', bare('192.0.2.9\n'));
  const url = server.url.replace('127.0.0.1', 'lists.example');
  const fetched = await get(`${url}/dns`, { via: { lookup: changing } });
  assert.ok(fetched.kind === 'fetched');
  await fetched[Symbol.asyncDispose]();
  await assert.rejects(get(`${url}/dns`, { via: { lookup: changing } }), {
    message: /lists\.example is 127\.0\.0\.3, which is in a private/,
  });
  assert.equal(asked, 2);
});

test('D23.10 a proxy is asked for a connection to where one may reach, and not for what goes without it', async (t) => {
  const lines: string[] = [];
  const proxy = createServer((socket) => {
    socket.once('data', (data) => {
      lines.push(data.toString().split('\r\n')[0]!);
      if (lines.at(-1)!.includes('refused.example')) return socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      const to = connect(Number(new URL(server.url).port), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        socket.pipe(to).pipe(socket);
      });
      to.on('error', () => socket.destroy());
    });
    socket.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => proxy.once('listening', resolve));
  t.after(() => proxy.close());
  const { port } = proxy.address() as { port: number };
  const unknown = ((_: string, _options: object, done: (error: Error) => void) => done(new Error('unknown'))) as unknown as typeof lookup;
  const via = { proxy: new URL(`http://127.0.0.1:${port}`), noProxy: ['127.0.0.1', '.inner.example'], lookup: unknown };
  server.set('/proxied', alternating('198.51.100.1\n', '198.51.100.2\n'));
  const fetched = await get('http://lists.example:8080/proxied', { via });
  assert.ok(fetched.kind === 'fetched');
  assert.equal(readFileSync(fetched.file, 'utf8'), '198.51.100.1\n');
  const direct = await get('/proxied', { via });
  assert.ok(direct.kind === 'fetched');
  await Promise.all([fetched[Symbol.asyncDispose](), direct[Symbol.asyncDispose]()]);
  assert.deepEqual(lines, ['CONNECT lists.example:8080 HTTP/1.1']);
  await assert.rejects(get('http://refused.example/', { via }), { message: /the proxy answers 403/ });
  await assert.rejects(get('http://10.0.0.1/', { via }), { message: /10\.0\.0\.1 is in a private/ });
  await assert.rejects(get('http://localhost/', { reach: () => sourceReach([], []), via: { ...via, lookup } }), {
    message: /localhost is .* private/,
  });
  assert.equal(lines.length, 2);
});
