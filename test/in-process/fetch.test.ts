/** Downloads from servers on this machine: careless ones and hostile ones. */
import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { parseNetwork } from '@weir/network/parse.ts';
import { type Fetched, type FetchRequest, fetchInto } from '../../src/fetch/fetch.ts';
import { ANYWHERE, NAT64_LENGTHS, sourceReach } from '../../src/fetch/reach.ts';

const LIMITS = { idleMs: 30_000, totalMs: 60_000, bytes: 1_000_000 };
const NOW = Date.parse('2026-11-23T12:00:00Z');

async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function fetchText(url: string, more: Partial<FetchRequest> = {}): Promise<{ fetched: Fetched; text: string }> {
  const pieces: Uint8Array[] = [];
  const request = { url, userAgent: 'weir/test', known: undefined, limits: LIMITS, reach: ANYWHERE, signal: new AbortController().signal };
  const fetched = await fetchInto(
    { ...request, ...more },
    async (piece) => void pieces.push(piece),
    () => NOW,
  );
  return { fetched, text: Buffer.concat(pieces).toString() };
}

test('D20.1 private, special and own networks are not reached, however the address is written', () => {
  const reach = sourceReach([], [], ['198.41.0.4', '2001:500:2::c']);
  const forbidden = ['127.0.0.1', '10.1.2.3', '169.254.169.254', '100.64.0.1', '0.0.0.0', '255.255.255.255', '224.0.0.1', '::1', '::'];
  const forms = ['::ffff:127.0.0.1', '::ffff:a9fe:a9fe', '::7f00:1', '64:ff9b::7f00:1', '2002:a00:1::1', 'fe80::1', 'fd00::1', 'ff02::1'];
  // Teredo holds the address with all bits turned.
  for (const address of [...forbidden, ...forms, '2001:0:1:2:3:4:80ff:fffe', '198.41.0.4', '2001:500:2::c', 'fe80::1%eth0', 'x'])
    assert.notEqual(reach(address), undefined, address);
  for (const address of ['8.8.8.8', '2001:4860:4860::8888', '64:ff9b::808:808', '::ffff:8.8.8.8']) assert.equal(reach(address), undefined);
  const allowing = sourceReach(['10.1.0.0/16'], []);
  assert.equal(allowing('10.1.2.3'), undefined);
  assert.match(allowing('10.2.0.1')!, /private, special or own network \(10\.2\.0\.1\)/);
});

test('D47.4 what carries an IPv4 address is judged by that one, in every form; deprecated networks are special', () => {
  const reach = sourceReach([], []);
  /** The forms of an address, as text. */
  const forms = (text: string): string[] => {
    const { address } = parseNetwork(text) as { readonly address: number };
    const words = (number: number) => `${(number >>> 16).toString(16)}:${(number & 0xffff).toString(16)}`;
    const hex = words(address);
    return [
      ...[`::ffff:${hex}`, `::${hex}`, `::ffff:0:${hex}`, `64:ff9b::${hex}`, `2002:${hex}::1`],
      ...['0', '100', '200', '300'].map((bits) => `2600::${bits}:5efe:${hex}`),
      ...[`2002:808:808::200:5efe:${hex}`, `::ffff:0:${text}`, `2600::5efe:${text}`],
    ];
  };
  for (const address of ['127.0.0.1', '10.1.2.3', '169.254.169.254', '192.88.99.1', '192.0.2.1', '224.0.0.1'])
    for (const form of [address, ...forms(address)]) assert.notEqual(reach(form), undefined, form);
  for (const form of ['8.8.8.8', ...forms('8.8.8.8')]) assert.equal(reach(form), undefined, form);
  for (const form of ['fec0::1', 'feff::1', '192.88.99.255', '2001:0:a00:1::f7f7:f7f7', '2001:0:808:808::f5fe:fdfc'])
    assert.notEqual(reach(form), undefined, form);
});

test('D47.5 an address in a NAT64 prefix is judged by the IPv4 address in it, and by nothing else', () => {
  // RFC 6052 2.4: 192.0.2.33 behind a prefix of each length, here of other addresses.
  const behind = (bits: number, text: string) => {
    const bytes = [...Buffer.from('fd0122334455667700778899', 'hex').subarray(0, bits / 8)];
    for (const byte of text.split('.')) bytes.push(...(bytes.length === 8 ? [0] : []), Number(byte));
    const hex = Buffer.from([...bytes, ...Array.from({ length: 16 - bytes.length }, () => 0)]).toString('hex');
    return hex.match(/.{4}/g)!.join(':');
  };
  for (const bits of NAT64_LENGTHS) {
    const prefix = `${behind(bits, '0.0.0.0')}/${bits}`;
    const reach = sourceReach(['10.1.0.0/16'], [prefix]);
    const judged = ['8.8.8.8', '10.1.2.3', '10.2.0.1', '127.0.0.1', '192.88.99.1'].map((text) => reach(behind(bits, text)) === undefined);
    assert.deepEqual(judged, [true, true, false, false, false], prefix);
    assert.match(reach(behind(bits, '10.2.0.1'))!, /network \(10\.2\.0\.1\)/);
    assert.notEqual(reach('fd99::1'), undefined);
    assert.notEqual(sourceReach([], [])(behind(bits, '8.8.8.8')), undefined, prefix);
  }
  const reach = sourceReach(['10.1.0.0/16'], ['64:ff9b:1::/48', '64:ff9b:1:fffe::/96']);
  assert.equal(reach('64:ff9b::a01:203'), undefined);
  assert.equal(reach('64:ff9b:1:fffe::808:808'), undefined);
  assert.notEqual(reach('64:ff9b:1:fffe::7f00:1'), undefined);
});

test('D20.1 an address in the URL, a name and a redirect are judged before anything is sent', async (t) => {
  let asked = 0;
  const url = await serve(t, (_, response) => {
    asked++;
    response.end('secret');
  });
  const port = new URL(url).port;
  const reach = sourceReach([], []);
  for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '[::1]', 'localhost'])
    await assert.rejects(fetchText(`http://${host}:${port}/`, { reach }), { code: 'FETCH', message: /private, special or own network/ });
  assert.equal(asked, 0);

  const from = await serve(t, (_, response) => response.writeHead(302, { location: `http://127.0.0.2:${port}/` }).end());
  await assert.rejects(fetchText(from, { reach: sourceReach(['127.0.0.1'], []) }), { message: /127\.0\.0\.2 is in a private/ });
  assert.equal(asked, 0);
});

test('D20.2 credentials are shown to the origin that they are for, and to no other', async (t) => {
  const seen: (string | undefined)[] = [];
  const other = await serve(t, ({ headers }, response) => {
    seen.push(headers.authorization, headers['x-key'] as string | undefined);
    response.end('there');
  });
  const url = await serve(t, ({ headers, url }, response) => {
    seen.push(headers.authorization);
    response.writeHead(301, { location: url === '/' ? '/again' : other }).end();
  });
  const { text } = await fetchText(url, { credentials: { authorization: 'Bearer secret', 'x-key': 'secret' } });
  assert.deepEqual([text, seen], ['there', ['Bearer secret', 'Bearer secret', undefined, undefined]]);
});

test('D20.3 a download is whole and within its limits, or a fault', async (t) => {
  const bomb = gzipSync(Buffer.alloc(20_000_000));
  const answers: Record<string, RequestListener> = {
    '/packed': (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('192.0.2.1\n')),
    '/bomb': (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    '/cut-gzip': (_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('192.0.2.1\n'.repeat(99)).subarray(0, 20)),
    '/brotli': (_, response) => response.writeHead(200, { 'content-encoding': 'br' }).end('x'),
    '/endless': (_, response) => {
      const more = () => response.write(Buffer.alloc(65_536), () => response.destroyed || setImmediate(more));
      more();
    },
    '/cut': (request, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('192.0.2.1');
      setImmediate(() => request.socket.destroy());
    },
    '/cut-chunk': (request, response) => {
      response.write('192.0.2.1');
      setImmediate(() => request.socket.destroy());
    },
    '/silent': () => undefined,
    '/drip': (_, response) => {
      const timer = setInterval(() => response.write('1'), 5);
      response.once('close', () => clearInterval(timer));
    },
    '/loop': (_, response) => response.writeHead(302, { location: '/loop' }).end(),
    '/file': (_, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  };
  const url = await serve(t, (request, response) => answers[request.url!]!(request, response));
  const { fetched, text } = await fetchText(`${url}/packed`);
  assert.deepEqual([text, fetched.kind], ['192.0.2.1\n', 'fetched']);
  const short = { idleMs: 60, totalMs: 200, bytes: LIMITS.bytes };
  for (const [path, message, limits] of [
    ['/bomb', /longer than 1000000 bytes/],
    ['/cut-gzip', /unexpected end of file/],
    ['/brotli', /a coding that was not asked for: br/],
    ['/endless', /longer than 1000000 bytes/],
    ['/cut', /it was cut short/],
    ['/cut-chunk', /it was cut short/],
    ['/silent', /no data for 0\.06 s/, short],
    ['/drip', /it takes longer than 0\.2 s/, short],
    ['/loop', /redirects more than 5 times/],
    ['/file', /redirects from http:\/\/ to file:\/\//],
  ] as const)
    await assert.rejects(fetchText(`${url}${path}`, { limits: limits ?? LIMITS }), { code: 'FETCH', message });
});

test('D20.4 an unchanged file is told, and an answer that refuses with how long the server wants to be left alone', async (t) => {
  const url = await serve(t, ({ headers, url }, response) => {
    if (url === '/list') {
      const same = headers['if-none-match'] === '"1"';
      response.writeHead(same ? 304 : 200, { etag: '"1"', 'last-modified': 'Sun, 22 Nov 2026 00:00:00 GMT' }).end(same ? '' : 'x\n');
    } else response.writeHead(Number(url!.slice(1, 4)), { 'retry-after': decodeURIComponent(url!.slice(5)) }).end();
  });
  const { fetched } = await fetchText(`${url}/list`);
  assert.ok(fetched.kind === 'fetched');
  assert.deepEqual(fetched.validators, { etag: '"1"', lastModified: 'Sun, 22 Nov 2026 00:00:00 GMT' });
  assert.deepEqual((await fetchText(`${url}/list`, { known: fetched.validators })).fetched, { kind: 'unchanged' });
  const refused = async (path: string) => (await fetchText(`${url}${path}`)).fetched;
  assert.deepEqual(await refused('/429/120'), { kind: 'refused', status: 429, retryAfter: 120_000 });
  assert.deepEqual(await refused('/503/Mon, 23 Nov 2026 12:05:00 GMT'), { kind: 'refused', status: 503, retryAfter: 300_000 });
  assert.deepEqual(await refused('/403/soon'), { kind: 'refused', status: 403, retryAfter: undefined });
  // 304 to a question without validators says nothing.
  assert.deepEqual(await refused('/304/0'), { kind: 'refused', status: 304, retryAfter: 0 });
});
