/** Backtests over HTTP: jobs with progress, limits, and nobody else's (SPEC D19.16 to D19.18). */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { command, newTenant } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { bearer } from '../support/http.ts';
import { eventually, startWeir, type Weir } from '../support/weir.ts';

interface Job {
  readonly id: string;
  readonly state: string;
  readonly fault: string | null;
  readonly read_bytes: number;
  readonly bytes: number;
  readonly requests: number;
  readonly message: string;
  readonly details: readonly { readonly field: string }[];
  readonly backtests: readonly Job[];
  readonly result: {
    readonly requests: number;
    readonly view: string;
    readonly rules: readonly {
      readonly name: string;
      readonly matches: number;
      readonly decides: number;
      readonly never: readonly string[];
      readonly agent: readonly string[];
      readonly samples: readonly { readonly target: string }[];
    }[];
    readonly actions: Record<string, number>;
    readonly histogram: { readonly bars: readonly object[] };
  } | null;
}

const LOG = Array.from(
  { length: 1000 },
  (_, i) =>
    `192.0.2.${i % 250} - - [20/Nov/2026:10:${String(i % 60).padStart(2, '0')}:00 +0000] "${i % 4 === 0 ? 'POST' : 'GET'} /${i % 10 === 0 ? 'login?secret=hunter2' : `page/${i}`} HTTP/1.1" 200 512 "-" "curl/8"`,
).join('\n');
/** Long enough to be cancelled: its lines are many once unpacked. */
const LARGE = gzipSync(`${LOG.slice(0, LOG.indexOf('\n', 16_000))}\n`.repeat(20_000));

suite('backtests over HTTP', () => {
  const folder = temporaryFolder({ after });
  const settings = { DATA_DIR: join(folder, 'data'), RATE_LIMIT_MANAGE: '0', ...smallGeo(folder) };
  let server: Weir;
  before(async () => {
    server = await startWeir(settings);
    await command(['org', 'create', 'acme'], settings);
  });
  after(() => server.kill('SIGKILL'));

  async function space(name: string) {
    const permissions = ['--permission', 'rules:read', '--permission', 'rules:write'];
    const { key } = await newTenant(settings, { organization: 'acme', workspace: name }, ...permissions);
    const call = async (method: string, path: string, body?: string | Buffer) => {
      const answer = await fetch(`${server.url}/v1/manage${path}`, { method, headers: bearer(key), body: body as string });
      return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Job };
    };
    const get = async (id: string) => (await call('GET', `/backtests/${id}`)).body;
    const start = (body: string | Buffer, query = '') => call('POST', `/backtests${query}`, body);
    const ended = (id: string): Promise<Job> =>
      eventually(async () => {
        const job = await get(id);
        assert.notEqual(job.state, 'running');
        return job;
      });
    const run = async (body: string | Buffer, query = '') => {
      const { status, body: job } = await start(body, query);
      assert.equal(status, 202, JSON.stringify(job));
      return ended(job.id);
    };
    const rule = (rule_ref: string, expression: string, rest: object = {}) =>
      call('POST', '/rules/expressions', JSON.stringify({ kind: 'waf_rule', rule_ref, expression, action: 'block', ...rest }));
    return { call, get, start, ended, run, rule };
  }
  const one = (expression: string) => `?expression=${encodeURIComponent(expression)}`;

  test('D19.16 the rules of a workspace, in their order, on a recording: what each matches and decides', async () => {
    const { call, run, rule, start, ended } = await space('rules');
    assert.equal((await start(LOG)).status, 409);
    await rule('b-login', 'http.request.path contains "/login"', { name: 'Login' });
    await rule('a-post', 'http.request.method == "POST"', { order: 1 });
    await rule('c-host', 'http.request.host == "shop.example"');
    await eventually(async () => assert.equal((await run(LOG)).result!.rules.length, 3));
    for (const recording of [LOG, gzipSync(LOG)]) {
      const { status, headers, body } = await start(recording);
      assert.deepEqual([status, headers.get('location'), body.state], [202, `/v1/manage/backtests/${body.id}`, 'running']);
      const { state, result, requests, bytes, read_bytes } = await ended(body.id);
      assert.deepEqual([state, requests, read_bytes], ['done', 1000, bytes]);
      const { rules, actions, histogram } = result!;
      assert.deepEqual(
        rules.map(({ name, matches, decides }) => [name, matches, decides]),
        [
          ['a-post', 250, 250],
          ['Login', 100, 50],
          ['c-host', 0, 0],
        ],
      );
      assert.deepEqual(actions, { none: 700, block: 300 });
      assert.match(rules[2]!.never[0]!, /never true/);
      assert.equal(rules[1]!.samples[0]!.target, '/login?secret=…');
      assert.ok(histogram.bars.length > 0);
    }
    const { body: list } = await call('GET', '/backtests');
    assert.deepEqual([list.backtests.length <= 5, list.backtests[0]!.state], [true, 'done']);
  });

  test('D19.16 one expression, as recorded and as the agent sees it; what is wrong is told by its name', async () => {
    const { run, start } = await space('one');
    const har = JSON.stringify({
      log: {
        entries: [
          { startedDateTime: '2026-11-20T10:00:00Z', request: { method: 'GET', url: 'https://shop.example/x' }, response: { status: 200 } },
        ],
      },
    });
    const matches = async (query: string) =>
      (await run(har, `${one('http.request.host == "shop.example"')}${query}`)).result!.rules[0]!.matches;
    assert.deepEqual([await matches(''), await matches('&as=agent')], [1, 0]);
    for (const [query, body, field] of [
      [one('http.request.path =='), LOG, 'expression'],
      ['?as=bogus', LOG, 'as'],
      ['?kind=access_rule', LOG, 'kind'],
      ['?bogus=1', LOG, 'bogus'],
      [one('ip.src == ::1'), '', 'body'],
    ] as const) {
      const { status, body: fault } = await start(body, query);
      assert.deepEqual([status, fault.details?.[0]?.field], [400, field], query);
    }
    assert.equal((await start(Buffer.alloc(16 * 1024 * 1024 + 1), one('ip.src == ::1'))).status, 413);
  });

  test('D19.17 what is no recording fails with the reason, also one that unpacks to too much', async () => {
    const { run } = await space('hostile');
    const all = one('http.request.path contains "/"');
    for (const [recording, fault] of [
      ['hello', /there is no request in the recording/],
      [Buffer.concat([gzipSync(LOG).subarray(0, 200)]), /cannot be unpacked/],
      [Buffer.from([0x1f, 0x8b, 8, 255, 1, 2, 3]), /cannot be unpacked/],
      [Buffer.alloc(3_000_000, '{"log":{"entries":['), /there is no request/],
      [Buffer.concat(Array<Buffer>(41).fill(gzipSync(Buffer.alloc(25 * 1024 * 1024), { level: 1 }))), /larger than 1024 MiB|MiB of memory/],
    ] as const) {
      const job = await run(recording, all);
      assert.equal(job.state, 'failed');
      assert.match(job.fault!, fault);
      assert.equal(job.result, null);
    }
  });

  test('D19.17, D19.18 one of a workspace at a time, cancelled at once; others know nothing of it and go on, and polls do not wait', async () => {
    const [mine, other] = [await space('mine'), await space('other')];
    const all = one('http.request.path matches "(a+)+$" or http.request.path contains "/login"');
    const { body: job } = await mine.start(LARGE, all);
    assert.equal(job.state, 'running', JSON.stringify(job));
    const { status, body: refused } = await mine.start(LOG, all);
    assert.deepEqual([status, refused.message.includes(job.id)], [409, true]);
    for (const method of ['GET', 'DELETE']) assert.equal((await other.call(method, `/backtests/${job.id}`)).status, 404);
    assert.deepEqual((await other.call('GET', '/backtests')).body.backtests, []);
    assert.equal((await other.run(LOG, all)).result!.rules[0]!.matches, 100);
    await eventually(async () => assert.ok((await mine.get(job.id)).requests > 0));
    const waits: number[] = [];
    for (let i = 0; i < 50; i++) {
      const at = performance.now();
      await fetch(`${server.url}/healthz`).then((answer) => answer.text());
      waits.push(performance.now() - at);
    }
    // The median: a busy machine has its own pauses.
    assert.ok(waits.sort((a, b) => a - b)[25]! < 200, `${waits[25]} ms`);
    assert.equal((await mine.get(job.id)).state, 'running');
    const { status: cancelled, body: ended } = await mine.call('DELETE', `/backtests/${job.id}`);
    assert.deepEqual([cancelled, ended.state], [200, 'cancelled']);
    assert.equal((await mine.get(job.id)).state, 'cancelled');
    // Its thread has ended: there is room for the next.
    await eventually(async () => assert.equal((await mine.start(LOG, all)).status, 202));
    await mine.call('DELETE', `/backtests/${job.id}`);
    assert.equal((await mine.call('GET', `/backtests/${job.id}`)).status, 404);
  });

  test('D19.17, D47.16 three run in all: one more is 429, and may be sent again, before those who had a turn', async () => {
    const spaces = await Promise.all(['w1', 'w2', 'w3', 'w4'].map(space));
    const all = one('http.request.path contains "/login"');
    const jobs = [];
    for (const each of spaces.slice(0, 3)) jobs.push((await each.start(LARGE, all)).body.id);
    const { status, headers } = await spaces[3]!.start(LOG, all);
    assert.deepEqual([status, headers.get('retry-after')], [429, '10']);
    await spaces[0]!.call('DELETE', `/backtests/${jobs[0]}`);
    // Whoever is first with the free place: it is the one that waits for it.
    for (let asked = 0; asked < 5; asked += 1) assert.equal((await spaces[0]!.start(LARGE, all)).status, 429);
    await eventually(async () => assert.equal((await spaces[3]!.start(LARGE, all)).status, 202));
    await spaces[1]!.call('DELETE', `/backtests/${jobs[1]}`);
    await eventually(async () => assert.equal((await spaces[0]!.start(LARGE, all)).status, 202));
    for (const each of spaces)
      for (const { id } of (await each.call('GET', '/backtests')).body.backtests) await each.call('DELETE', `/backtests/${id}`);
  });
});
