/** `weir send` against a real weir and against a service that misbehaves (decisions, section 1). */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createReadStream, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { command } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { eventually, KEY, MAIN, startWeir, testEnvironment, type Weir } from '../support/weir.ts';

const folder = temporaryFolder({ after });
const settings = { ...smallGeo(folder), DATA_DIR: join(folder, 'data'), BOOTSTRAP_API_KEY: KEY };

type Json = Record<string, unknown>;
const address = (n: number) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
const v1 = (n: number, more: Json = {}): Json => ({ type: 'access_rules', action: 'block', ip: address(n), ...more });
const v2 = (n: number, more: Json = {}): Json => ({ kind: 'access_rule', op: 'upsert', rule: { target: { ip: address(n) } }, ...more });
const many = (count: number, make: (n: number) => Json) => Array.from({ length: count }, (_, n) => make(n));
const ndjson = (entries: readonly Json[]) => entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');

let files = 0;
function file(content: string): string {
  files += 1;
  const path = join(folder, `signals-${files}`);
  writeFileSync(path, content);
  return path;
}

interface Run {
  readonly stdin?: string;
  readonly env?: Record<string, string>;
  readonly node?: readonly string[];
}

/** Tells at the end how much memory was in use at most, garbage left out. */
const LIVE_MEMORY = `data:text/javascript,${encodeURIComponent(`
  let most = 0;
  setInterval(() => {
    gc();
    const { heapUsed, external } = process.memoryUsage();
    most = Math.max(most, heapUsed + external);
  }, 200).unref();
  process.on('exit', () => process.stderr.write('live ' + Math.round(most / 2 ** 20) + ' MiB'));
`)}`;

/** Runs `weir send`, as a process where its standard input or its memory matters. */
async function send(args: readonly string[], { stdin, env = { WEIR_API_KEY: KEY }, node }: Run = {}) {
  if (stdin === undefined && node === undefined) return command(['send', ...args], { ...settings, ...env });
  const child = spawn(process.execPath, [...(node ?? []), MAIN, 'send', ...args], {
    env: testEnvironment({ ...settings, ...env }),
    stdio: 'pipe',
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) child[name].setEncoding('utf8').on('data', (text: string) => (output[name] += text));
  if (stdin === undefined) child.stdin.end();
  else createReadStream(stdin).pipe(child.stdin);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, ...output };
}

interface Received {
  readonly path: string;
  readonly key: string;
  readonly entries: Json[];
  readonly at: number;
}

/** An HTTP service that keeps what it receives and answers as it is told; by default it takes everything. */
async function service(
  t: { after(work: () => void): void },
  answer?: (received: Received, number: number, response: ServerResponse) => void,
) {
  const received: Received[] = [];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const one = {
        path: request.url!,
        key: request.headers.authorization!,
        entries: JSON.parse(text || '[]') as Json[],
        at: performance.now(),
      };
      received.push(one);
      response.setHeader('content-type', 'application/json');
      if (answer !== undefined) answer(one, received.length, response);
      else response.end('{"success":true,"message":"Processed"}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { received, url: `http://127.0.0.1:${(server.address() as { port: number }).port}` };
}

suite('weir send to a weir', { concurrency: 2 }, () => {
  let weir: Weir;
  before(async () => {
    weir = await startWeir(settings);
  });
  after(() => weir.kill('SIGKILL'));

  const landed = async (list: string) => {
    const { stdout } = await command(['rule', 'ls', '--workspace', 'default', '--list', list, '--json'], settings);
    return (JSON.parse(stdout) as { target: string }[]).map(({ target }) => target);
  };

  const INPUTS: Record<string, { content: (entries: Json[]) => string; stdin: boolean }> = {
    'a JSON array': { content: (entries) => JSON.stringify(entries, null, 1), stdin: false },
    'one object a line': { content: ndjson, stdin: false },
    'one object a line from standard input': { content: ndjson, stdin: true },
    'a JSON array from standard input': { content: (entries) => JSON.stringify(entries), stdin: true },
  };
  for (const [form, { content, stdin }] of Object.entries(INPUTS)) {
    for (const [version, make] of [
      ['v1', v1],
      ['v2', v2],
    ] as const) {
      test(`D1.8 weir send: ${form}, ${version}: every signal lands`, async () => {
        const list = `${form} ${version}`;
        await command(['list', 'create', list, '--workspace', 'default'], settings);
        const { stdout: made } = await command(['key', 'create', '--workspace', 'default', '--list', list, '--json'], settings);
        const { key } = JSON.parse(made) as { key: string };
        const path = file(content(many(1200, make)));
        const sent = await send([stdin ? '-' : path, '--url', weir.url], { env: { WEIR_API_KEY: key }, ...(stdin && { stdin: path }) });
        assert.deepEqual([sent.code, sent.stdout], [0, '1200 signals processed, 0 failed\n'], sent.stderr);
        const expected = many(1200, v1).map(({ ip }) => ip);
        await eventually(async () => assert.deepEqual(await landed(list), expected));
      });
    }
  }

  test('D1.8 D42.4 weir send: failed entries are printed with their number in the file, from 0; exit 1; the others land, with warnings', async () => {
    const faulty = new Map([
      [7, '10.0.0.999'],
      [1003, '10.0.0.0/33'],
      [2100, ''],
    ]);
    const entries = many(2200, (n) =>
      v2(n, faulty.has(n) ? { rule: { target: { ip: faulty.get(n) } } } : n % 100 === 0 ? { confidence: 'low' } : {}),
    );
    const sent = await send([file(ndjson(entries)), '--url', weir.url]);
    assert.equal(sent.code, 1);
    const lines = sent.stdout.trimEnd().split('\n');
    assert.deepEqual(
      lines.slice(0, -1).map((line) => /^Entry (\d+): Schema validation failed: rule\.target/.exec(line)?.[1]),
      ['7', '1003', '2100'],
    );
    assert.equal(lines.at(-1), '2197 signals processed, 3 failed');
    assert.equal(sent.stderr.match(/^weir: warning: .*: confidence has no effect: did you mean rule\.config\.confidence\?$/gm)?.length, 20);
    assert.match(sent.stderr, /^weir: and 1 more warning$/m);
    const json = await send([file(JSON.stringify(entries)), '--url', weir.url, '--json']);
    assert.equal(json.code, 1);
    const { batches, ...told } = JSON.parse(json.stdout) as { batches: string[] };
    assert.deepEqual([told, batches.length], [{ failed: lines.slice(0, -1), sent: 2197 }, 3]);
    assert.match(json.stderr, /^sending .*0%.*\n(.*\n)*sending .* 100% \| 2197 signals \| 3 failed$/m, 'progress is on standard error');
  });

  test('D1.8 weir send: an entry for which a whole batch is refused is named by its number in the file; exit 1', async () => {
    const entries = many(2000, (n) => v1(n, n === 1234 ? { action: 'allow' } : {}));
    const sent = await send([file(ndjson(entries)), '--url', weir.url]);
    assert.equal(sent.code, 1);
    assert.match(
      sent.stderr,
      /answered 400: Entry 1234: action must be one of: block, unblock; the 1000 signals before its batch were sent/,
    );
    assert.equal(sent.stdout, '1000 signals processed, 0 failed\n');
  });

  test('D1.8 weir send: a wrong key: one sentence, exit 1, not again', async () => {
    const sent = await send([file(ndjson([v1(1)])), '--url', weir.url], { env: { WEIR_API_KEY: 'wrong-key-wrong-key' } });
    assert.equal(sent.code, 1);
    assert.match(sent.stderr, /^weir: http:\S+ answered 401: Invalid or missing API key; nothing was sent$/m);
    assert.doesNotMatch(sent.stderr, /next try|wrong-key/);
  });
});

suite('weir send', { concurrency: 2 }, () => {
  test('D1.12 weir send: https:// where no TLS is spoken is told as that, at once', async (t) => {
    const { url } = await service(t);
    const sent = await send([file(ndjson([v2(1)])), '--url', url.replace('http:', 'https:')]);
    assert.equal(sent.code, 1);
    assert.match(sent.stderr, /^weir: https:\S+ cannot be reached: it speaks no TLS; try http:\/\/; nothing was sent$/m);
  });

  test('D1.8 weir send: batches of 1000, in order; v1 or v2 by the objects; the key from WEIR_API_KEY or --key; an address with a path', async (t) => {
    const { received, url } = await service(t);
    const entries = many(2500, (n) => v1(n, { name: `signal ${n}` }));
    assert.equal((await send([file(ndjson(entries)), '--url', url])).code, 0);
    assert.deepEqual(
      received.map(({ path, key, entries: { length } }) => [path, key, length]),
      [
        ['/v1/signal', `Bearer ${KEY}`, 1000],
        ['/v1/signal', `Bearer ${KEY}`, 1000],
        ['/v1/signal', `Bearer ${KEY}`, 500],
      ],
    );
    assert.deepEqual(
      received.flatMap((batch) => batch.entries),
      entries,
    );
    received.length = 0;
    assert.equal((await send([file(ndjson([v2(1)])), '--url', `${url}/behind/proxy/`, '--key', 'another-key'])).code, 0);
    assert.deepEqual(
      received.map(({ path, key }) => [path, key]),
      [['/behind/proxy/v2/signal', 'Bearer another-key']],
    );
  });

  test('D1.8 weir send: 429, 5xx and a lost connection: again with back-off, the same batch, until it is taken', async (t) => {
    const answers: ((response: ServerResponse) => void)[] = [
      (response) => response.writeHead(503).end('{"error":"InternalServerError","message":"Internal server error","code":500}'),
      (response) => response.writeHead(500).end('<html>a proxy</html>'),
      (response) => response.socket!.destroy(),
      (response) =>
        response.writeHead(429, { 'retry-after': '2' }).end('{"error":"TooManyRequests","message":"Too many requests","code":429}'),
    ];
    const { received, url } = await service(t, (_, number, response) => {
      const misbehave = answers[number - 1];
      if (misbehave === undefined) response.end('{"success":true,"message":"Processed 1 entries, 0 failed","errors":[]}');
      else misbehave(response);
    });
    const sent = await send([file(ndjson([v2(1)])), '--url', url]);
    assert.deepEqual([sent.code, sent.stdout], [0, '1 signals processed, 0 failed\n']);
    assert.equal(received.length, 5);
    for (const { entries } of received) assert.deepEqual(entries, [v2(1)]);
    const pauses = received.slice(1).map(({ at }, i) => at - received[i].at);
    for (const [i, least] of [250, 500, 1000, 2000].entries()) assert.ok(pauses[i] >= least - 5, `pause ${i}: ${pauses[i]}`);
    for (const reason of [
      'answered 503: Internal server error',
      'answered 500: <html>a proxy</html>',
      'cannot be reached: ',
      'answered 429: Too many requests',
    ]) {
      assert.ok(sent.stderr.includes(reason), reason);
    }
  });

  const FINAL: Record<string, { answer: (response: ServerResponse) => void; code: number; says: RegExp }> = {
    '206 is never sent again': {
      answer: (response) =>
        response.writeHead(206, { 'retry-after': '1' }).end('{"success":false,"message":"","errors":["Entry 0: is bad"]}'),
      code: 1,
      says: /^$/,
    },
    '206 without a readable body is never sent again': {
      answer: (response) => response.writeHead(206).end('partly'),
      code: 1,
      says: /answered 206: partly - that is not weir's answer/,
    },
    '402 is never sent again': {
      answer: (response) => response.writeHead(402).end('{"error":"PaymentRequired","message":"no","code":402}'),
      code: 1,
      says: /answered 402: no; nothing was sent/,
    },
    'a redirect is told, not followed': {
      answer: (response) => response.writeHead(301, { location: 'https://elsewhere.example/v1/signal' }).end(),
      code: 1,
      says: /answered 301: https:\/\/elsewhere\.example\/v1\/signal/,
    },
  };
  for (const [what, { answer, code, says }] of Object.entries(FINAL)) {
    test(`D1.8 weir send: ${what}`, async (t) => {
      const { received, url } = await service(t, (_, _number, response) => answer(response));
      const sent = await send([file(ndjson([v1(1), v1(2)])), '--url', url]);
      assert.deepEqual([sent.code, received.length], [code, 1]);
      assert.match(sent.stderr.replace(/^(sending.*)?\n/gm, ''), says);
    });
  }

  const ODD: Record<string, { content: string; says: RegExp; batches: number }> = {
    'a mixed file, at its first odd line': {
      content: ndjson([...many(1500, v1), v2(1), ...many(2000, v1)]),
      says: /line 1501 is a v2 signal among v1 signals; send them as two files; the 1000 signals before its batch were sent/,
      batches: 1,
    },
    'a mixed array, at its first odd entry': {
      content: JSON.stringify([v2(1), v2(2), v1(3)]),
      says: /entry 2 is a v1 signal among v2 signals; send them as two files; nothing was sent/,
      batches: 0,
    },
    'an object that is no signal': {
      content: ndjson([v1(1), { ip: '10.0.0.1' }]),
      says: /line 2 has neither "kind" \(v2\) nor "type" \(v1\)/,
      batches: 0,
    },
    'a line that is no object': { content: '\n7\n', says: /the first line is neither an address, .* nor JSON: "7"/, batches: 0 },
    'a line that is no JSON': { content: `${ndjson([v1(1)])}{"type":\n`, says: /line 2 is not JSON/, batches: 0 },
    'an array that ends early': { content: `[${JSON.stringify(v1(1))},`, says: /the file is not a JSON array/, batches: 0 },
  };
  for (const [what, { content, says, batches }] of Object.entries(ODD)) {
    test(`D1.8 weir send: refused: ${what}; nothing of that batch is sent, exit 2`, async (t) => {
      const { received, url } = await service(t);
      const sent = await send([file(content), '--url', url]);
      assert.deepEqual([sent.code, received.length], [2, batches]);
      assert.match(sent.stderr, says);
    });
  }

  test('D1.8 weir send: white space, a byte order mark, CRLF and blank lines are no matter; an empty array is no mistake, an empty file is', async (t) => {
    const { received, url } = await service(t);
    for (const [content, count] of [
      [`\uFEFF ${JSON.stringify([v1(1)])}`, 1],
      [`\uFEFF\r\n${JSON.stringify(v1(1))}\r\n\r\n${JSON.stringify(v1(2))}`, 2],
      [`${' \n'.repeat(40_000)}[${JSON.stringify(v1(1))}]`, 1],
      ['[]', 0],
    ] as const) {
      const sent = await send([file(content), '--url', url]);
      assert.deepEqual([sent.code, sent.stdout], [0, `${count} signals processed, 0 failed\n`], sent.stderr);
    }
    assert.deepEqual(
      received.map(({ entries }) => entries.length),
      [1, 2, 1],
    );
    const empty = await send([file(''), '--url', url]);
    assert.equal(empty.code, 2);
    assert.match(empty.stderr, /^weir: the file is empty; nothing was sent$/m);
  });

  test('D1.7 weir send: a mistake at the command line: one sentence, exit 2, no key in it', async () => {
    const path = file(ndjson([v1(1)]));
    mkdirSync(join(folder, 'directory'), { recursive: true });
    for (const [args, env, says] of [
      [[join(folder, 'none'), '--url', 'http://127.0.0.1:9'], {}, /the file ".*none" cannot be read/],
      [[join(folder, 'directory'), '--url', 'http://127.0.0.1:9'], {}, /the file ".*directory" cannot be read/],
      [[path, '--url', 'http://127.0.0.1:9'], { WEIR_API_KEY: '' }, /give an API key with --key or in WEIR_API_KEY/],
      [[path, '--url', 'http://127.0.0.1:9'], { WEIR_API_KEY: 'line\nbreak' }, /visible ASCII/],
      [[path], {}, /address of the service with --url/],
      [[path, '--url', 'localhost:8080'], {}, /--url must be an address that begins with http/],
      [[path, '--url', `http://api:${KEY}@127.0.0.1:9`], {}, /--url takes no user or password/],
      [['--url', 'http://127.0.0.1:9'], {}, /missing required argument 'file'/],
    ] as [string[], Record<string, string>, RegExp][]) {
      const sent = await send(args, { env: { WEIR_API_KEY: KEY, ...env } });
      assert.deepEqual([sent.code, sent.stdout], [2, '']);
      assert.match(sent.stderr, /^weir: .*\n$/);
      assert.match(sent.stderr, says);
      assert.ok(!sent.stderr.includes(KEY));
    }
  });

  const COUNT = 60_000;
  const LARGE = { 'one object a line': ndjson, 'a JSON array': (entries: Json[]) => JSON.stringify(entries) };
  for (const [form, content] of Object.entries(LARGE)) {
    test(`D1.8 weir send: ${COUNT} signals as ${form}, all of them failing, in constant memory`, async (t) => {
      const { received, url } = await service(t, ({ entries }, number, response) => {
        received[number - 1] = { ...received[number - 1], entries: [] };
        const errors = entries.map((_, i) => `Entry ${i}: Schema validation failed: ip: is bad`);
        response.writeHead(206).end(JSON.stringify({ success: false, message: '', errors }));
      });
      const path = file(content(many(COUNT, (n) => v1(n, { description: 'x'.repeat(300) }))));
      const sent = await send([path, '--url', url], { node: ['--expose-gc', '--import', LIVE_MEMORY] });
      assert.equal(sent.code, 1, sent.stderr.slice(-500));
      assert.ok(sent.stdout.endsWith(`\nEntry ${COUNT - 1}: Schema validation failed: ip: is bad\n0 signals processed, ${COUNT} failed\n`));
      assert.equal(received.length, COUNT / 1000);
      const live = Number(/live (\d+) MiB/.exec(sent.stderr)?.[1]);
      // About 43 with any file; this one is 22 MiB more.
      assert.ok(live > 5 && live < 54, `${live} MiB are held`);
    });
  }
});
