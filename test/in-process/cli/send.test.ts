import assert from 'node:assert/strict';
import { lookup } from 'node:dns/promises';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { runCommandLine } from '../../../src/cli/program.ts';
import { temporaryFolder } from '../../support/folder.ts';

type Entry = Record<string, unknown>;
const block = (n: number): Entry => ({ type: 'access_rules', action: 'block', ip: `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}` });

/** A service that takes every batch and says that each entry with `bad` failed. */
async function service(t: TestContext) {
  const batches: { path: string; entries: Entry[]; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      const entries = JSON.parse(body) as Entry[];
      batches.push({ path: request.url!, entries, body });
      const errors = entries.flatMap((entry, i) => ('bad' in entry ? [`Entry ${i}: is bad`] : []));
      response.writeHead(errors.length > 0 ? 206 : 200).end(JSON.stringify({ success: errors.length === 0, errors }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { batches, url: `http://127.0.0.1:${(server.address() as { port: number }).port}` };
}

async function send(file: string, url: string, ...options: string[]) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const args = ['send', file, '--url', url, '--json', ...options];
  const code = await runCommandLine(args, { environment: { WEIR_API_KEY: 'k' }, stdout, stderr });
  return { code, result: JSON.parse(String(stdout.read() ?? 'null')), stderr: String(stderr.read() ?? '') };
}

const FORMS: Record<string, (entries: readonly Entry[]) => string> = {
  'a JSON array': (entries) => ` ${JSON.stringify(entries)}`,
  'one object a line': (entries) => entries.map((entry) => `${JSON.stringify(entry)}\n`).join('\r\n'),
};
for (const [form, write] of Object.entries(FORMS)) {
  test(`D1.8 weir send: every entry of a file with ${form} arrives, in order and in batches of 1000`, async (t) => {
    const { batches, url } = await service(t);
    const file = join(temporaryFolder(t), 'signals');
    for (const count of [1, 2, 3456]) {
      batches.length = 0;
      const entries = Array.from({ length: count }, (_, n) => block(n));
      writeFileSync(file, write(entries));
      const { code, result } = await send(file, url);
      assert.deepEqual([code, result], [0, { sent: count, failed: [] }]);
      assert.deepEqual(
        batches.flatMap((batch) => batch.entries),
        entries,
      );
      assert.ok(
        batches.every(({ path, entries: { length } }, i) => path === '/v1/signal' && (length === 1000 || i === batches.length - 1)),
      );
    }
  });
}

test('D1.8 weir send: failed entries are told by their number in the file, exit 1', async (t) => {
  const { url } = await service(t);
  const file = join(temporaryFolder(t), 'signals');
  writeFileSync(file, JSON.stringify(Array.from({ length: 1500 }, (_, n) => ({ ...block(n), ...(n === 1234 && { bad: true }) }))));
  const { code, result } = await send(file, url);
  assert.deepEqual([code, result], [1, { sent: 1499, failed: ['Entry 1234: is bad'] }]);
});

test('D1.8 weir send: a mixed file is refused at its first odd line, exit 2', async (t) => {
  const { batches, url } = await service(t);
  const file = join(temporaryFolder(t), 'signals');
  writeFileSync(file, `${JSON.stringify(block(1))}\n{"kind":"access_rule"}\n`);
  const { code, stderr } = await send(file, url);
  assert.equal(code, 2);
  assert.match(stderr, /line 2 is a v2 signal among v1 signals; send them as two files; nothing was sent/);
  assert.deepEqual(batches, []);
});

/** JSON that reading and writing again would change. */
const EXACT = [
  '{"type":"access_rules","expiration":1e400,"n":12345678901234567890}',
  '{ "type" : "access_rules", "a":1, "a":2, "ref":1.0 }',
  '{"type":"access_rules","name":"\u2028 \u2029 \u0085 \\u00e9 \\ud800 \u{1f600}"}',
];
test('D1.11 weir send: what is sent are the bytes of the file', async (t) => {
  const { batches, url } = await service(t);
  const file = join(temporaryFolder(t), 'signals');
  for (const content of [EXACT.join('\n'), `[${EXACT.join(',\n  ')}]`]) {
    writeFileSync(file, content);
    assert.equal((await send(file, url)).code, 0);
  }
  assert.deepEqual(
    batches.map(({ body }) => body),
    [`[${EXACT}]`, `[${EXACT}]`],
  );
});

test('D1.11 weir send: only LF ends a line, and bytes that are not UTF-8 are refused with their line', async (t) => {
  const { batches, url } = await service(t);
  const file = join(temporaryFolder(t), 'signals');
  const text = (content: string) => Buffer.from(`{"type":"access_rules","name":"${content}"}`);
  const latin = Buffer.from(text('é').toString('utf8'), 'latin1');
  const cases: [Buffer[], RegExp][] = [
    [[text('é'), latin], /^weir: line 2 is not UTF-8; nothing was sent$/m],
    [
      [Buffer.from('['), Buffer.concat([text('é'), Buffer.from(',')]), latin, Buffer.from(']')],
      /: line 3 must be JSON in UTF-8; nothing was sent$/m,
    ],
    [[Buffer.concat([text('a'), Buffer.from('\v'), text('b')])], /^weir: line 1 is not JSON; nothing was sent$/m],
  ];
  for (const [lines, says] of cases) {
    writeFileSync(file, Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')])));
    const { code, stderr } = await send(file, url);
    assert.equal(code, 2);
    assert.match(stderr, says);
  }
  assert.deepEqual(batches, []);
});

test('D1.11 weir send: a batch has no more bytes than the service takes', async (t) => {
  const { batches, url } = await service(t);
  const file = join(temporaryFolder(t), 'signals');
  const long = { ...block(1), name: 'x'.repeat(5 * 2 ** 20) };
  writeFileSync(file, JSON.stringify([long, long, long, long]));
  assert.deepEqual((await send(file, url)).result, { sent: 4, failed: [] });
  assert.deepEqual(
    batches.map(({ entries }) => entries.length),
    [3, 1],
  );
  writeFileSync(file, JSON.stringify({ ...block(1), name: 'x'.repeat(17 * 2 ** 20) }));
  assert.match((await send(file, url)).stderr, /line 1 is longer than 16 MiB; nothing was sent/);
});

test('D1.12 weir send --list names the list that the rules land in, on each address', async (t) => {
  const { batches, url } = await service(t);
  const file = join(temporaryFolder(t), 'signals');
  for (const entry of [block(1), { kind: 'access_rule' }]) {
    writeFileSync(file, JSON.stringify(entry));
    assert.equal((await send(file, `${url}/behind/`, '--list', 'a list & é?')).code, 0);
  }
  const query = '?list=a%20list%20%26%20%C3%A9%3F';
  assert.deepEqual(
    batches.map(({ path }) => path),
    [`/behind/v1/signal${query}`, `/behind/v2/signal${query}`],
  );
});

test('D1.12 weir send: an address with a query or fragment is refused; a key at the command line is warned of', async (t) => {
  const { batches, url } = await service(t);
  const file = join(temporaryFolder(t), 'signals');
  writeFileSync(file, JSON.stringify(block(1)));
  for (const odd of ['?list=x', '/?', '#x']) {
    const { code, stderr } = await send(file, `${url}${odd}`);
    assert.equal(code, 2);
    assert.match(stderr, /^weir: --url takes no query and no fragment; name a list with --list\n$/);
  }
  assert.deepEqual(batches, []);
  const { code, stderr } = await send(file, url, '--key', 'secret-of-mine');
  assert.equal(code, 0);
  assert.match(stderr, /^weir: every user of this machine sees a key that is given with --key in the process list; WEIR_API_KEY/);
  assert.ok(!stderr.includes('secret-of-mine'));
});

const NAMELESS = 'a name that does not exist';
/** Faults that do not pass: an address and what is said of it. */
const PERMANENT: Record<string, (url: string) => [url: string, says: RegExp]> = {
  'a port that is never asked': () => ['http://127.0.0.1:9', /cannot be reached: bad port; nothing was sent/],
  [NAMELESS]: () => ['http://nobody.invalid', /cannot be reached: getaddrinfo E\w+ nobody\.invalid/],
  'TLS that fails': (url) => [url.replace('http:', 'https:'), /cannot be reached: it speaks no TLS; try http:\/\//],
  'a pause of a month': (url) => [`${url}/busy`, /answered 429: .*; it asks for 2592000 s of patience, more than 600 s; nothing was sent/],
};
for (const [what, where] of Object.entries(PERMANENT)) {
  test(`D1.12 weir send: ${what} is told at once, exit 1`, async (t) => {
    if (what === NAMELESS && (await lookup('nobody.invalid').catch(({ code }) => code)) !== 'ENOTFOUND') return t.skip('no name server');
    const server = createServer((_request, response) => response.writeHead(429, { 'retry-after': '2592000' }).end('{"message":"later"}'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const [url, says] = where(`http://127.0.0.1:${(server.address() as { port: number }).port}`);
    const file = join(temporaryFolder(t), 'signals');
    writeFileSync(file, JSON.stringify(block(1)));
    const { code, result, stderr } = await send(file, url);
    assert.deepEqual([code, result], [1, { sent: 0, failed: [] }]);
    assert.match(stderr, says);
    assert.doesNotMatch(stderr, /next try/);
  });
}
