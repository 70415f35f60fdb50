/** Requests of management that take longer than a client waits, and clients that go away before that (SPEC D15.55, D15.56). */
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { PERMISSIONS } from '../../src/account/permission.ts';
import { newKey, newTenant } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { ask, bearer } from '../support/http.ts';
import { list, listServer } from '../support/list-server.ts';
import { eventually, startWeir, type Weir } from '../support/weir.ts';

interface Body {
  readonly answer?: string;
  readonly accepted: number;
  readonly batches: readonly string[];
  readonly landed: boolean;
  readonly message: string;
}

const all = PERMISSIONS.flatMap((permission) => ['--permission', permission]);
const hosts = (count: number, block = 0) => Array.from({ length: count }, (_, n) => `20.${block}.${n >> 8}.${n & 255}`).join('\n');

suite('late answers', () => {
  const folder = temporaryFolder({ after });
  const settings = {
    ...{ DATA_DIR: join(folder, 'data'), MANAGE_ANSWER_SECONDS: '0', RATE_LIMIT_MANAGE: '0', RATE_LIMIT_ENTRIES: '0' },
    ...{ ...smallGeo(folder), SOURCE_NETWORKS: '127.0.0.1' },
  };
  let server: Weir;
  let mine: { key: string; workspaceId: string };
  let stranger: string;
  before(async () => {
    server = await startWeir(settings);
    mine = await newTenant(settings, { organization: 'default', workspace: 'late' }, ...all);
    stranger = (await newTenant(settings, { organization: 'default', workspace: 'other' }, ...all)).key;
  });
  after(() => server.kill('SIGKILL'));

  const call = async (method: string, path: string, body?: string, key = mine.key) => {
    const { status, text, headers } = await ask(server.url, `/v1/manage${path}`, { method, headers: bearer(key), ...(body && { body }) });
    return { status, headers, body: JSON.parse(text) as Body };
  };
  /** The answer that was late. */
  const later = (path: string) =>
    eventually(async () => {
      const answer = await call('GET', path.replace('/v1/manage', ''));
      assert.notEqual(answer.status, 202);
      return answer;
    });

  test('D15.55 what takes longer than a client waits is 202 with an address for its answer: import, undo, deletion, and what refuses them', async () => {
    const asked = await call('POST', '/imports', hosts(2000));
    assert.deepEqual([asked.status, asked.body.landed, typeof asked.body.answer], [202, false, 'string']);
    const { location } = asked.headers;
    assert.equal(location, `/v1/manage/answers/${asked.body.answer}`);
    const { status, body } = await later(String(location));
    assert.deepEqual([status, body.accepted, body.batches.length], [200, 2000, 2]);
    // It stays, and is nobody else's.
    assert.deepEqual((await call('GET', `/answers/${asked.body.answer}`)).body, body);
    const sister = await newKey(settings, mine.workspaceId, ...all);
    for (const key of [stranger, sister]) assert.equal((await call('GET', `/answers/${asked.body.answer}`, undefined, key)).status, 404);

    // Another process on the same store knows neither it nor backtests of this one, and says so.
    const replica = await startWeir({ ...settings, ROLES: 'signals,manage' });
    const there = async (path: string) => JSON.parse((await ask(replica.url, `/v1/manage${path}`, { headers: bearer(mine.key) })).text);
    const [answer, backtest] = [await there(`/answers/${asked.body.answer}`), await there(`/backtests/${asked.body.answer}`)];
    await replica.kill('SIGKILL');
    assert.deepEqual([answer.code, backtest.code], [404, 404]);
    assert.match(
      answer.message,
      /^this process has no result ".*" for this key: another process ran the operation, .*GET \/v1\/manage\/batches shows what was sent/,
    );
    assert.match(backtest.message, /^this process has no such backtest: it runs in another process, /);

    const preview = await call('POST', '/undo', JSON.stringify({ batches: body.batches, preview: true }));
    assert.equal(preview.status, 202);
    assert.equal((await later(String(preview.headers.location))).status, 200);
    const large = await call('POST', '/imports', hosts(10_001));
    const refused = await later(String(large.headers.location));
    assert.deepEqual([large.status, refused.status], [202, 413]);
    assert.match(refused.body.message, /has more than 10000 entries/);
    const deleted = await call('POST', '/rules/delete', JSON.stringify({ address: '20.0.0.1' }));
    assert.equal((await later(String(deleted.headers.location))).status, 200);
  });

  test('D43.9 a trial of a source that takes longer is 202, and so is what refuses it', async () => {
    await using origin = await listServer();
    const go = Promise.withResolvers<void>();
    origin.set('/slow', (...given) => void go.promise.then(() => list('198.51.100.7\n')(...given)));
    const body = JSON.stringify({ url: `${origin.url}/slow` });
    const asked = await call('POST', '/sources/try', body);
    assert.deepEqual([asked.status, typeof asked.body.answer], [202, 'string']);
    const refused = await call('POST', '/sources/try', body);
    assert.equal((refused.status === 202 ? await later(String(refused.headers.location)) : refused).status, 409);
    assert.equal((await call('GET', `/answers/${asked.body.answer}`)).status, 202);
    go.resolve();
    const { status, body: trial } = await later(String(asked.headers.location));
    const { fault, content } = trial as unknown as { fault: string | null; content: { entries: number } };
    assert.deepEqual([status, fault, content?.entries], [200, null, 1]);
  });
});

suite('clients that go away', () => {
  const folder = temporaryFolder({ after });
  const settings = {
    ...{ DATA_DIR: join(folder, 'data'), RATE_LIMIT_MANAGE: '0', RATE_LIMIT_ENTRIES: '0', METRICS_TOKEN: 'metrics-token-0123456789' },
    ...smallGeo(folder),
  };
  let server: Weir;
  before(async () => {
    server = await startWeir(settings);
  });
  after(() => server.kill('SIGKILL'));

  test('D15.56 an import whose client goes away before it is answered is read, judged and sent no further, and its memory is given back', async () => {
    const { key } = await newTenant(settings, { organization: 'default', workspace: 'gone' }, ...all);
    const agent = new Agent();
    const imports = Array.from({ length: 8 }, (_, n) => {
      const options = { method: 'POST', agent, headers: bearer(key) };
      const sent = request(new URL('/v1/manage/imports', server.url), options).on('error', () => undefined);
      sent.end(hosts(10_000, n));
      return sent;
    });
    const batches = async () => {
      const { text } = await ask(server.url, '/v1/manage/batches?limit=200', { headers: bearer(key) });
      return (JSON.parse(text) as Body).batches.length;
    };
    const held = async () => {
      const { text } = await ask(server.url, '/metrics', { headers: bearer(settings.METRICS_TOKEN) });
      return Number(/^weir_request_body_bytes (\d+)$/m.exec(text)![1]);
    };
    await eventually(async () => assert.ok((await batches()) > 0));
    assert.ok((await held()) > 0, 'they are worked on');
    for (const sent of imports) sent.destroy();
    await eventually(async () => assert.equal(await held(), 0));
    const sent = await batches();
    assert.ok(sent < 80, `${sent} batches of 80 were sent`);
    agent.destroy();
  });
});
