import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { layoutOf } from '@weir/expression/evaluate/value.ts';
import { packagedSchemes } from '@weir/expression/scheme.ts';
import fc from 'fast-check';
import { decompressed, pieces, TOO_LONG } from './bytes.ts';
import type { Recorded } from './exchange.ts';
import { readRecord } from './record.ts';

const layout = layoutOf(packagedSchemes().waf_rule);

function read(content: string | object): Recorded {
  const line = Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)).toString('latin1');
  const recorded = readRecord(line, layout);
  return recorded === null || typeof recorded === 'string' ? assert.fail(`${recorded}`) : recorded;
}
const latin1 = (text: string) => Buffer.from(text).toString('latin1');
const headersOf = ({ fields }: Recorded) => Object.fromEntries(fields['http.request.headers'] as Map<string, string[]>);
const client = (...bytes: number[]) => String.fromCharCode(...bytes);

/** What these say of the request that all forms below have. */
function holds(recorded: Recorded, more: Record<string, unknown> = {}): void {
  const { fields } = recorded;
  const wanted = {
    'http.request.method': 'POST',
    'http.request.path': '/a%20b',
    'http.request.query': 'x=1&y',
    'http.request.user_agent': 'bot/1',
    'ip.src': client(192, 0, 2, 7),
    'http.response.code': 403,
    ...more,
  };
  for (const [name, value] of Object.entries(wanted)) assert.deepEqual(fields[name], value, name);
  assert.equal(recorded.time, Date.UTC(2026, 9, 10, 13, 55, 36));
}
const WITH_HOST = {
  'http.request.host': 'shop.example',
  'http.request.scheme': 'https',
  'http.request.port': 443,
  'http.request.uri': 'https://shop.example/a%20b?x=1&y',
};

test('D19.12 the combined and the common log format', () => {
  const line = '192.0.2.7 - jo hn [10/Oct/2026:15:55:36 +0200] "POST /a%20b?x=1&y HTTP/1.1" 403 12 "-" "bot/1"';
  const combined = read(line);
  holds(combined);
  assert.deepEqual(combined.headers, new Set(['user-agent', 'referer']));
  const common = read(line.slice(0, line.indexOf(' "-"')));
  assert.equal(common.fields['http.request.user_agent'], undefined);
  assert.deepEqual(common.headers, new Set());
  const bytes = read('2001:db8::1 - - [10/Oct/2026:15:55:36 +0200] "GET /\\xff\\x22é HTTP/1.1" 200 - "" "a\\"b\\\\"');
  assert.equal(bytes.fields['http.request.path'], `/\xff"${latin1('é')}`);
  assert.equal(bytes.fields['http.request.user_agent'], 'a"b\\');
  assert.equal((bytes.fields['ip.src'] as string).length, 16);
  for (const broken of ['192.0.2.7 - - [10/Oct/2026:15:55:36 +0200] "-" 400 0 "-" "-"', 'hello'])
    assert.equal(typeof readRecord(broken, layout), 'string');
});

test('D19.12 JSON lines of nginx: the raw target, headers by their variables, bytes that are no UTF-8', () => {
  const nginx = read({
    time_iso8601: '2026-10-10T13:55:36+00:00',
    remote_addr: '192.0.2.7',
    request_method: 'POST',
    request_uri: '/a%20b?x=1&y',
    uri: '/a b',
    args: 'x=1&y',
    scheme: 'https',
    server_port: '443',
    http_host: 'shop.example',
    http_user_agent: 'bot/1',
    http_x_api_key: 'k',
    http_cookie: '',
    status: '403',
    content_length: '-',
  });
  holds(nginx, WITH_HOST);
  assert.deepEqual(headersOf(nginx), { host: ['shop.example'], 'user-agent': ['bot/1'], 'x-api-key': ['k'] });
  assert.ok(nginx.headers !== 'all' && nginx.headers.has('cookie') && !nginx.headers.has('accept'));
  const raw = readRecord(
    '{"request_method":"GET","request_uri":"/\xff\\u00e9\\u001f","http_user_agent":"\\ud83d\\ude00"}',
    layout,
  ) as Recorded;
  assert.equal(raw.fields['http.request.path'], `/\xff${latin1('é')}\x1f`);
  assert.equal(headersOf(raw)['user-agent'][0], latin1('😀'));
});

test('D19.12 JSON lines of Apache and Envoy, by their usual names', () => {
  holds(
    read({
      time: '[10/Oct/2026:15:55:36 +0200]',
      remoteIP: '192.0.2.7',
      request: 'POST /a%20b?x=1&y HTTP/1.1',
      status: '403',
      userAgent: 'bot/1',
    }),
  );
  holds(
    read({
      start_time: '2026-10-10T13:55:36.000Z',
      method: 'POST',
      path: '/a%20b?x=1&y',
      authority: 'shop.example',
      scheme: 'https',
      protocol: 'HTTP/2',
      response_code: 403,
      user_agent: 'bot/1',
      x_forwarded_for: null,
      downstream_remote_address: '192.0.2.7:51234',
    }),
    WITH_HOST,
  );
});

test('D19.12 Caddy, the agent and HAR: all headers, so what they lack was not sent', () => {
  const headers = { 'User-Agent': ['bot/1'], 'X-A': ['1', '2'], Cookie: ['REDACTED'] };
  const caddy = read({
    ts: Date.UTC(2026, 9, 10, 13, 55, 36) / 1000,
    status: 403,
    request: {
      method: 'POST',
      uri: '/a%20b?x=1&y',
      host: 'shop.example',
      proto: 'HTTP/2.0',
      remote_ip: '10.0.0.1',
      client_ip: '192.0.2.7',
      headers,
      tls: {},
    },
    resp_headers: { 'Content-Type': ['text/html; charset=utf-8'] },
  });
  holds(caddy, {
    ...WITH_HOST,
    'signal.ja4h_version': '20',
    'signal.ja4h_has_cookie': 1,
    'signal.ja4h_method': 'po',
    'http.request.content_type': '',
  });
  assert.equal(caddy.headers, 'all');
  assert.deepEqual(headersOf(caddy)['x-a'], ['1', '2']);
  assert.equal(caddy.fields['http.response.content_type.media_type'], 'text/html');
  const agent = read({
    timestamp: '2026-10-10T13:55:36Z',
    http: {
      method: 'POST',
      scheme: 'https',
      host: 'shop.example',
      port: 443,
      path: '/a%20b',
      query: 'x=1&y',
      headers: { 'user-agent': 'bot/1' },
      body: 'b',
      ja4h: 'po11',
    },
    network: { src_ip: '192.0.2.7' },
    tls: { ja4: 't13d', version: 'TLSv1.3' },
    response: { status: 403 },
  });
  holds(agent, { ...WITH_HOST, 'http.request.body': 'b', 'signal.ja4': 't13d', 'signal.ja4h': 'po11' });
});

test('D19.12 weir’s own lines: fields by name; a faulty one is told', () => {
  const own = read({
    time: 1_791_640_536,
    request: { 'http.request.path': 'é', 'http.request.headers': { b: ['2'], a: ['1'] }, 'ip.src': '192.0.2.7' },
  });
  assert.equal(own.time, 1_791_640_536_000);
  assert.equal(own.fields['http.request.path'], latin1('é'));
  assert.deepEqual([...(own.fields['http.request.headers'] as Map<string, unknown>).keys()], ['a', 'b']);
  assert.match(readRecord('{"request":{"http.request.port":"x"}}', layout) as string, /http\.request\.port must be an integer/);
});

async function collect(chunks: readonly (string | Buffer)[]): Promise<unknown[]> {
  async function* stream() {
    for (const chunk of chunks) yield Buffer.from(chunk as string);
  }
  const found = [];
  for await (const some of pieces(decompressed(stream()))) found.push(...some);
  return found;
}

test('D19.12 lines and entries come out whole however the bytes are cut, and from gzip', async () => {
  const lines = ['{"a":1}', 'b', '', 'c'];
  const har = JSON.stringify(
    { log: { pages: [{ id: '"entries": x' }], entries: [{ a: '}]"{' }, { b: [{ c: 1 }] }], after: [{}] } },
    null,
    1,
  );
  for (const size of [1, 2, 7, 100_000]) {
    const cut = (text: string) => text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g'))!;
    assert.deepEqual(await collect(cut(lines.join('\n'))), lines);
    const entries = (await collect(cut(har))) as string[];
    assert.deepEqual(
      entries.map((entry) => JSON.parse(entry)),
      [{ a: '}]"{' }, { b: [{ c: 1 }] }],
    );
  }
  const zipped = gzipSync(lines.join('\n'));
  assert.deepEqual(await collect([zipped.subarray(0, 1), zipped.subarray(1, 9), zipped.subarray(9)]), lines);
  await assert.rejects(collect([zipped.subarray(0, 12)]), /unexpected end/);
});

test('D19.12 a line that is too long is one line that cannot be read', async () => {
  const long = 'x'.repeat(9 * 1024 * 1024);
  assert.deepEqual(await collect(['a\n', long, long, 'y\nb']), ['a', TOO_LONG, 'b']);
});

test('D19.12 no line makes a reader fail, whatever it holds and however long it is', () => {
  const value = fc.oneof(
    fc.constantFrom(
      '',
      '-',
      'GET /x HTTP/1.1',
      '/a?b',
      'https://[::1]:99999/x',
      '192.0.2.1:80',
      '[::1]:1',
      '\ud800',
      1e300,
      -1,
      null,
      true,
    ),
    fc.jsonValue({ maxDepth: 2 }),
  );
  const names = [
    'request',
    'request_method',
    'request_uri',
    'uri',
    'url',
    'method',
    'headers',
    'http',
    'network',
    'tls',
    'response',
    'status',
    'time',
    'ts',
    'remote_addr',
    'http_host',
    'path',
    'args',
    'log',
    'postData',
    'body',
  ];
  const flat = fc.dictionary(fc.constantFrom(...names, '__proto__', 'ip.src', 'http.request.headers'), value, { maxKeys: 6 });
  const object = fc.dictionary(fc.constantFrom(...names, 'ip.src'), fc.oneof(value, flat, fc.array(flat, { maxLength: 2 })), {
    maxKeys: 6,
  });
  const line = fc.oneof(
    object.map((json) => Buffer.from(JSON.stringify(json)).toString('latin1')),
    fc
      .array(
        fc.constantFrom('192.0.2.1', ' - ', '[', ']', '"', '\\', 'x', '10/Oct/2026:15:55:36 +0200', ' 200 ', 'GET / HTTP/1.1', ' ', '\xff'),
      )
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(line, (text) => {
      const recorded = readRecord(text, layout);
      if (recorded !== null && typeof recorded !== 'string' && recorded.time !== null) new Date(recorded.time).toISOString();
    }),
    { seed: 20266, numRuns: 5000 },
  );
  const long = 'a'.repeat(8 * 1024 * 1024);
  for (const text of [
    `192.0.2.1 - - [x] "GET /${long} HTTP/1.1" 200 1 "-" "${long}"`,
    `192.0.2.1 - - [x] "${long}`,
    `{"request_uri":"/${long}"}`,
    `${'{"a":'.repeat(1e6)}1`,
    `{"request":${'['.repeat(1e6)}${']'.repeat(1e6)}}`,
  ])
    readRecord(text, layout);
});
