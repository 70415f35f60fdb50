/** What a weir that runs tells of itself: its log, its devices, its traces; and that no key is in any of it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { command, commandJson, commandText } from '../support/command.ts';
import { beforeMidnight } from '../support/day.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { ask, bearer, postSignals } from '../support/http.ts';
import { eventually, KEY, startWeir, type Weir } from '../support/weir.ts';

type Json = Record<string, unknown>;
interface KeyMade {
  readonly id: string;
  readonly key: string;
}

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const WRONG = `weir_${'wrong'.repeat(8)}abc`;

suite('a server that is observed', () => {
  const folder = temporaryFolder({ after });
  const data = join(folder, 'data');
  const settings = { ...smallGeo(folder), DATA_DIR: data, BOOTSTRAP_API_KEY: KEY };
  /** What a collector of traces got. */
  const collected: string[] = [];
  const collector = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text) => {
      body += text;
    });
    request.on('end', () => {
      collected.push(`${request.url} ${body}`);
      response.end('{}');
    });
  });
  let weir: Weir;
  const keys = new Map<string, KeyMade>();
  /** Everything that was written to the status file. */
  let status = '';
  let stopped = false;

  const makeKey = async (name: string, ...options: string[]): Promise<string> => {
    const made = await commandJson<KeyMade>(['key', 'create', '--workspace', 'default', '--name', name, ...options], settings);
    keys.set(name, made);
    return made.key;
  };
  const lines = () =>
    weir
      .output()
      .stderr.trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Json);
  const line = (request: string): Promise<Json> =>
    eventually(() => {
      const found = lines().find((each) => each.msg === 'request' && each.request_id === request);
      assert.ok(found, request);
      return found;
    });
  const poll = (key: string, more: Record<string, string> = {}, target = '/v1/threat/feeds') =>
    ask(weir.url, target, { headers: { ...bearer(key), 'user-agent': 'firewall/7', ...more } });
  const stop = async () => {
    if (!stopped) await weir.kill('SIGTERM');
    stopped = true;
  };

  before(async () => {
    await beforeMidnight();
    collector.listen(0, '127.0.0.1');
    await once(collector, 'listening');
    weir = await startWeir({
      ...settings,
      LOG_LEVEL: 'debug',
      ACCESS_LOG: '1',
      FEED_REBUILD_SECONDS: '0',
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}/`,
    });
  });
  after(async () => {
    await weir.kill('SIGKILL');
    collector.close();
  });

  test('D16.1, D16.2 a line for each request; its id is that of the client where it is sane', async () => {
    const reader = await makeKey('reader', '--permission', 'feed:read');
    const feed = await poll(reader, { 'x-request-id': 'poll-1' });
    assert.deepEqual([feed.status, feed.headers['x-request-id']], [200, 'poll-1']);
    const found = await poll(reader, { 'x-request-id': 'poll-2', 'if-none-match': feed.headers.etag! });
    assert.equal(found.status, 304);
    const posted = await postSignals(weir.url, KEY, [{ type: 'access_rules', action: 'block', ip: '192.0.2.1' }]);
    const { ms, time, ...first } = await line('poll-1');
    assert.deepEqual(first, {
      level: 'info',
      method: 'GET',
      route: '/v1/threat/feeds',
      status: 200,
      bytes: feed.bytes.length,
      key_id: keys.get('reader')!.id,
      address: '127.0.0.1',
      request_id: 'poll-1',
      msg: 'request',
    });
    assert.ok(typeof ms === 'number' && ms > 0 && Date.parse(String(time)) > 0);
    assert.deepEqual([(await line('poll-2')).status, (await line('poll-2')).bytes], [304, 0]);
    const signal = await line(posted.headers['x-request-id']!);
    assert.deepEqual([signal.route, signal.status, signal.bytes], ['/v1/signal', 200, posted.bytes.length]);
    assert.ok(signal.key_id);
    for (const id of ['pull-1', 'pull-2']) {
      const pulled = await poll(reader, { 'x-request-id': id }, '/v1/decisions/stream?startup=true');
      const { route, status, key_id } = await line(id);
      assert.deepEqual([pulled.status, route, status, key_id], [200, '/v1/decisions/stream', 200, keys.get('reader')!.id]);
    }
    for (const insane of ['a b', 'x'.repeat(129), WRONG, '{"a":1}']) {
      const { headers } = await poll(reader, { 'x-request-id': insane });
      assert.match(headers['x-request-id']!, /^[0-9a-f-]{36}$/);
    }
    const unknown = await ask(weir.url, `/nothing/${WRONG}?key=${WRONG}`, { headers: { 'x-request-id': 'unknown' } });
    assert.deepEqual([unknown.status, (await line('unknown')).route, (await line('unknown')).key_id], [404, 'other', undefined]);
  });

  test('D16.12 a device and a bouncer that came seconds ago are named before a key is revoked, beside the running server', async () => {
    const edge = await makeKey('edge', '--permission', 'feed:read');
    await poll(edge);
    await poll(edge, { 'user-agent': 'crowdsec-firewall-bouncer/v0.0.34' }, '/v1/decisions/stream?startup=true');
    await eventually(async () => {
      const { code, stderr } = await command(['key', 'revoke', 'edge', '--workspace', 'default'], settings);
      assert.equal(code, 2);
      assert.match(stderr, /device 127\.0\.0\.1 +firewall\/7 /);
      assert.match(stderr, /bouncer 127\.0\.0\.1 +crowdsec-firewall-bouncer/);
    });
  });

  test('D16.4 the trace of a request is that of the landing line; without one nothing is added to the messages', async () => {
    const body = JSON.stringify([{ type: 'access_rules', action: 'block', ip: '192.0.2.2' }]);
    const traceparent = `00-${TRACE}-b7ad6b7169203331-01`;
    await ask(weir.url, '/v1/signal', { method: 'POST', body, headers: { ...bearer(KEY), traceparent } });
    await poll(KEY);
    await eventually(() => {
      const landed = lines().filter(({ msg }) => /^landed 1 messages of traceparent/.test(String(msg)) && String(msg).includes(TRACE));
      assert.equal(landed.length, 1);
      assert.equal(landed[0]!.level, 'info');
    });
    await eventually(() =>
      assert.ok(lines().some(({ level, msg }) => level === 'debug' && /^landed \d+ messages \(partition 0/.test(String(msg)))),
    );
  });

  test('D16.8 polls with a revoked key, and with one that was never one', async () => {
    const gone = await makeKey('gone', '--permission', 'feed:read');
    assert.equal((await poll(gone, { 'user-agent': 'old box' })).status, 200);
    await commandText(['key', 'revoke', keys.get('gone')!.id], settings);
    await eventually(async () => assert.equal((await poll(gone, { 'user-agent': 'old box' })).status, 401));
    assert.equal((await poll(WRONG)).status, 401);
  });

  test('D16.3 keys and lists that are made, changed and deleted have their lines, whoever did it', async () => {
    const { id } = await commandJson<{ id: string }>(['list', 'create', 'edge', '--workspace', 'default'], settings);
    await commandText(['list', 'set', 'edge', '--workspace', 'default', '--family', 'v4'], settings);
    await poll(keys.get('reader')!.key, { 'user-agent': `mine ${WRONG}` }, '/v1/threat/feeds/edge');
    await poll(keys.get('reader')!.key, {}, `/v1/threat/feeds/${WRONG}`);
    status += await eventually(() => {
      const [name] = readdirSync(data).filter((each) => /^status-\d+\.json$/.test(each));
      assert.ok(name !== undefined);
      return readFileSync(join(data, name), 'utf8');
    });
    await commandText(['list', 'delete', 'edge', '--yes', '--workspace', 'default'], settings);
    await stop();
    const told = lines().map(({ msg }) => String(msg));
    const gone = keys.get('gone')!.id;
    for (const text of [
      `list created: ${id}`,
      `list changed: ${id}`,
      `list deleted: ${id}`,
      `key created: ${gone}`,
      `key revoked: ${gone}`,
    ]) {
      // Commands have an author: the system's user.
      assert.equal(told.filter((msg) => msg === text || msg.startsWith(`${text} (by `)).length, 1, text);
    }
  });

  test('D16.7, D16.12 weir device ls tells what polled, and what it has', async () => {
    await stop();
    const devices = await commandJson<Json[]>(['device', 'ls', '--workspace', 'default'], settings);
    const [reader] = devices.filter(({ key_id, user_agent }) => key_id === keys.get('reader')!.id && user_agent === 'firewall/7');
    const { answers, address, sends_validators, last_status, documents } = reader as {
      answers: Json;
      documents: Json[];
    } & Json;
    assert.deepEqual(
      { answers, address, sends_validators, last_status },
      { answers: { '200': 5, '304': 1, '4xx': 1, '5xx': 0 }, address: '127.0.0.1', sends_validators: true, last_status: 404 },
    );
    assert.deepEqual(
      documents.map(({ feed_id, format, family, action }) => [feed_id, format, family, action]),
      [[null, 'plain', 'both', 'block']],
    );
    assert.ok(Number(documents[0]!.behind_seconds) >= 0);
    const [old] = devices.filter(({ user_agent }) => user_agent === 'old box');
    const mix = (old as { answers: Record<string, number> }).answers;
    assert.ok(old!.key_id === keys.get('gone')!.id && old!.last_status === 401 && mix['200']! >= 1 && mix['4xx']! >= 1);
    const table = await commandText(['device', 'ls', '--workspace', 'default', '--key', keys.get('gone')!.id], settings);
    assert.match(
      table,
      /^LAST PULL .*\n\S+ .* refused 401 +old box\nold box at \S+ is refused the workspace's feed: 401 \(its key is not valid\) /,
    );
  });

  test('D16.12 weir key revoke names the devices that use the key, and asks', async () => {
    await stop();
    const { id } = keys.get('reader')!;
    const asked = await command(['key', 'revoke', id], settings);
    assert.equal(asked.code, 2);
    assert.match(
      asked.stderr,
      /was used in the last ten minutes by\n(.*\n)*.*127\.0\.0\.1 +firewall\/7 .*\n(.*\n)*weir: nothing has changed; add --yes/,
    );
    assert.match(await commandText(['key', 'revoke', id, '--yes'], settings), new RegExp(`^key reader ${id} is revoked\\n$`));
  });

  test('D16.13 weir history tells what was added, and how large the feed was', async () => {
    await stop();
    const [today] = await commandJson<Json[]>(['history', '--workspace', 'default', '--days', '2'], settings);
    assert.deepEqual([today!.added, today!.removed, today!.v4], [2, 0, { last: 2, max: 2 }]);
    assert.match(await commandText(['history', 'default', '--workspace', 'default'], settings), /^DAY .*\n20\S+ +2 +0 +0 +0 /);
  });

  test('D16.5 the collector has a step for the request and one for its landing, of the trace that the client began', async () => {
    await stop();
    const spans = collected
      .flatMap((text) => (JSON.parse(text.replace(/^\/v1\/traces /, '')) as { resourceSpans: Json[] }).resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans as { spans: Record<string, string>[] }[])
      .flatMap((scope) => scope.spans);
    const [request, ...others] = spans.filter(({ traceId, name }) => traceId === TRACE && name === 'POST /v1/signal');
    assert.deepEqual([request!.parentSpanId, others.length], ['b7ad6b7169203331', 0]);
    const landing = spans.find(({ traceId, name }) => traceId === TRACE && name === 'land');
    assert.equal(landing!.parentSpanId, request!.spanId);
    assert.ok(!spans.some(({ name }) => name!.startsWith('GET')), 'polls are no steps');
  });

  test('D16.6 no key is in anything that was written', async () => {
    await stop();
    const { stdout, stderr } = weir.output();
    const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const written = [
      ['stdout', stdout],
      ['log', stderr],
      ['status', status],
      ['traces', collected.join('\n')],
      ...files.map((file) => [file.name, readFileSync(join(file.parentPath, file.name), 'latin1')]),
    ] as const;
    assert.ok(status.length > 0 && collected.length > 0);
    for (const key of [KEY, WRONG, ...[...keys.values()].map(({ key }) => key)]) {
      for (const [where, text] of written) assert.ok(!text.includes(key), `a key is in ${where}`);
    }
  });
});
