import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { packagedSchemes } from '@weir/expression/scheme.ts';
import type { Caller } from '../../../src/account/caller.ts';
import { NO_GUARD_RAILS } from '../../../src/account/guard-rails.ts';
import { type AccessList, NO_SETTINGS } from '../../../src/account/list.ts';
import type { Permission } from '../../../src/account/permission.ts';
import { WeirError } from '../../../src/errors.ts';
import { type AppParts, createApp } from '../../../src/http/app.ts';
import { authenticator } from '../../../src/http/auth/authenticator.ts';
import { rateLimiter } from '../../../src/http/auth/rate-limit.ts';
import { inRestingSlices, inSlices } from '../../../src/http/signals/slices.ts';
import { signalSubmission } from '../../../src/http/signals/submit.ts';
import type { Message } from '../../../src/ports/stream.ts';
import { createLogger } from '../../../src/runtime/logging.ts';
import { fewAtOnce } from '../../../src/serial.ts';
import { acceptance } from '../../../src/signal/accept.ts';
import { landingList } from '../../../src/signal/landing-list.ts';
import { ruleQuota } from '../../../src/signal/rule-quota.ts';
import { bufferedDraft } from '../../../src/stream/buffered-draft.ts';
import { inject } from '../../support/inject.ts';
import { eventually } from '../../support/weir.ts';

const KEY = 'weir_abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG';
const ID = '0195a3c0-0000-7000-8000-00000000000';
const HEADERS = { authorization: `Bearer ${KEY}` };

const list = (id: string, name: string, isDefault = false): AccessList => ({
  ...NO_SETTINGS,
  id: `${ID}${id}`,
  workspaceId: 'w',
  name,
  isDefault,
  sourceId: null,
  revision: 1,
});

interface World {
  readonly draining?: boolean;
  caller?: Partial<Caller>;
  permissions?: Permission[];
  streamDown?: boolean;
  storeDown?: boolean;
  rateLimit?: number;
  entryLimit?: number;
  rules?: number;
  settings?: Partial<AppParts['settings']>;
  ready?: boolean;
  answerDocument?: AppParts['answerDocument'];
  manage?: AppParts['manage'];
  bouncers?: AppParts['bouncers'];
  signals?: boolean;
}

/** The application on a stream that keeps what it is given and a store of one workspace. */
function world(given: World = {}) {
  const published: Message[] = [];
  const log: string[] = [];
  const logger = createLogger('info', (line) => log.push(line));
  const caller: Caller = {
    keyId: 'k',
    workspaceId: 'w',
    organizationId: 'o',
    subscription: 'active',
    permissions: given.permissions ?? ['signal:write', 'feed:read'],
    listId: null,
    feedId: null,
    guardRails: NO_GUARD_RAILS,
    sample: null,
    networks: [],
    expiresAt: null,
    ...given.caller,
  };
  const lists = [list('1', 'default', true), list('2', 'edge'), list('3', 'twice'), list('4', 'twice'), list('5', `${ID}2`)];
  for (let i = 0; i < 23; i += 1) lists.push(list(`-${i}`, 'many'));
  const now = () => Date.parse('2026-11-20T10:00:00.250Z');
  const store: Parameters<typeof landingList>[0] = {
    async defaultList() {
      if (given.storeDown) throw new Error('SQLITE_BUSY');
      return lists.find(({ isDefault }) => isDefault)?.id;
    },
    async findNamed(_workspace, ref) {
      if (given.storeDown) throw new Error('SQLITE_BUSY');
      const byId = lists.filter(({ id }) => id === ref.toLowerCase());
      const found = byId.length > 0 ? byId : lists.filter(({ name }) => name === ref);
      return { id: 'w', name: 'w', revision: 1, lists: found, feeds: [], signingSecret: null, expressionRevision: 1, readAt: now() };
    },
  };
  const entryLimit = rateLimiter(given.entryLimit ?? 0);
  const logFailure = (err: unknown, what: string) => logger.error({ err }, what);
  const app = createApp({
    settings: {
      trustProxy: [],
      maxConnections: 1000,
      maxConnectionsPerAddress: 1000,
      rateLimitSignals: given.rateLimit ?? 0,
      rateLimitFeeds: given.rateLimit ?? 0,
      rateLimitManage: given.rateLimit ?? 0,
      bodyBudgetMb: 64,
      baseUrl: undefined,
      console: false,
      ...given.settings,
    },
    draining: () => given.draining ?? false,
    authenticator: authenticator({
      store: {
        keyRevision: async () => 1,
        findCaller: async (digest) => (Buffer.from(digest).equals(hash('sha256', KEY, 'buffer')) ? caller : undefined),
      },
      now,
      monotonic: now,
    }),
    submitSignals:
      given.signals === false
        ? undefined
        : signalSubmission({
            forecast: undefined,
            accept: acceptance({
              landingList: landingList(store, logFailure),
              stream: {
                draft: () =>
                  bufferedDraft(async (messages) => {
                    if (given.streamDown) throw new Error('SQLITE_FULL: disk full');
                    published.push(...messages);
                  }),
              },
              takeEntries: (keyId, entries) => entryLimit.take(keyId, now(), entries),
              ruleQuota: ruleQuota(2, { ruleCount: async () => given.rules ?? 0 }, now),
              check: () => ({ hasAsn: () => true, isCountry: (code) => code === 'NL', schemes: packagedSchemes() }),
              trials: async () => undefined,
              run: { usual: inSlices, large: inRestingSlices },
              foresee: undefined,
              count: () => undefined,
              now,
              logFailure,
            }),
          }),
    bouncers: given.bouncers,
    manage: given.manage,
    answerDocument:
      given.answerDocument ?? (() => ({ status: 200, headers: ['Content-Type', 'text/plain', 'Content-Length', '3'], body: 'ok\n' })),
    readiness: async () => ({ store: { ok: true }, stream: given.ready === false ? { ok: false, reason: 'disk full' } : { ok: true } }),
    now,
    monotonic: now,
    logger,
  });
  const post = (url: string, payload: unknown, headers: Record<string, string> = HEADERS) =>
    inject(app, {
      method: 'POST',
      url,
      headers,
      payload: typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload),
    });
  const listId = () => published.at(-1)?.headers.list_id;
  return { app, post, published, log, listId };
}

const EVENT = { type: 'access_rules', action: 'block', ip: '203.0.113.7' };
const ENVELOPE = { kind: 'access_rule', op: 'upsert', rule: { target: { ip: '203.0.113.7' } } };

test('2.5, 4.1 v1: 200 without errors, 206 with them', async () => {
  const { post, published } = world();
  const good = await post('/v1/signal', [EVENT, EVENT]);
  assert.equal(good.statusCode, 200);
  assert.equal(good.headers['content-type'], 'application/json; charset=utf-8');
  assert.deepEqual(good.json(), { success: true, message: 'Processed 2 entries, 0 failed' });
  const mixed = await post('/v1/signal', [EVENT, { ...EVENT, ip: 'x' }]);
  assert.equal(mixed.statusCode, 206);
  const { errors, ...rest } = mixed.json();
  assert.deepEqual(rest, { success: false, message: 'Processed 1 entries, 1 failed' });
  assert.match(errors[0], /^Entry 1: Schema validation failed: ip: ./);
  assert.equal(published.length, 3);
  const bad = await post('/v1/signal', [{ ...EVENT, ip: 'x' }]);
  assert.deepEqual([bad.statusCode, bad.json().message], [206, 'Processed 0 entries, 1 failed']);
});

test('4.2 v2: 200 with an empty array of errors; all kinds in one batch', async () => {
  const { post, published } = world();
  const waf = {
    kind: 'waf_rule',
    op: 'upsert',
    rule_ref: 'a',
    rule: { type: 'custom', action: 'block', expression: 'http.request.host eq "a"' },
  };
  const smart = { ...waf, kind: 'smart_firewall_rule', rule: { ...waf.rule, expression: 'ip.src eq 192.0.2.1' } };
  const good = await post('/v2/signal', [ENVELOPE, waf, smart]);
  assert.deepEqual([good.statusCode, good.json()], [200, { success: true, message: 'Processed 3 entries, 0 failed', errors: [] }]);
  assert.deepEqual(
    published.map(({ key, headers }) => [key, headers.schema_version, headers.workspace_id, headers.list_id, headers.received_at]),
    Array(3).fill(['w', '2', 'w', `${ID}1`, '2026-11-20T10:00:00.250Z']),
  );
  const missing = await post('/v2/signal', [ENVELOPE, { ...waf, rule: {} }]);
  assert.equal(missing.statusCode, 400);
  assert.equal(missing.json().message, 'Entry 1: rule.type is required and must be one of custom, generated');
});

test('7.2 400: ValidationError with details and code', async () => {
  const { post, published } = world();
  const answer = await post('/v1/signal', [EVENT, { ...EVENT, action: 'deny' }]);
  assert.equal(answer.statusCode, 400);
  assert.equal(answer.headers['cache-control'], 'no-store');
  assert.deepEqual(answer.json(), {
    error: 'ValidationError',
    message: 'Entry 1: action must be one of: block, unblock',
    details: [{ index: 1, field: 'action', message: 'must be one of: block, unblock', value: 'deny' }],
    code: 400,
  });
  assert.equal(published.length, 0);
});

test('D3 a body that is no JSON array in UTF-8 is refused with 400', async () => {
  const { post } = world();
  const bodies = [
    '',
    '{',
    '{}',
    'null',
    '[]',
    '[1]',
    Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d]),
    Buffer.from('[{"type":"\xe4"}]', 'latin1'),
  ];
  for (const body of bodies) {
    const answer = await post('/v1/signal', body);
    assert.equal(answer.statusCode, 400, String(body));
    const { error, code, details } = answer.json();
    assert.deepEqual([error, code, details.length], ['ValidationError', 400, 1]);
  }
  assert.equal((await post('/v1/signal', `\ufeff${JSON.stringify([EVENT])}`)).statusCode, 200);
});

test('D3 the content type is not looked at', async () => {
  const { post } = world();
  for (const type of [
    'application/x-www-form-urlencoded',
    'text/plain',
    'application/json; charset=utf-8',
    'multipart/form-data',
    'nonsense;;;',
    '',
  ]) {
    const headers = type === '' ? HEADERS : { ...HEADERS, 'content-type': type };
    assert.equal((await post('/v1/signal', [EVENT], headers)).statusCode, 200, type);
  }
});

test('8, D3 0 or more than 1000 entries, or more than 16 MiB: 400', async () => {
  const { post, published } = world();
  assert.equal((await post('/v2/signal', Array(1000).fill(ENVELOPE))).statusCode, 200);
  assert.equal(published.length, 1000);
  assert.equal((await post('/v2/signal', Array(1001).fill(ENVELOPE))).statusCode, 400);
  const large = await post('/v1/signal', Buffer.alloc(16 * 1024 * 1024 + 1, ' '));
  assert.equal(large.statusCode, 400);
  assert.match(large.json().message, /^body must be at most 16777216 bytes/);
});

test('5.1, 7.2 401 before the body is read', async () => {
  const { post } = world();
  const answer = await post('/v1/signal', 'nonsense', { authorization: 'Bearer weir_wrong_key' });
  assert.equal(answer.statusCode, 401);
  assert.equal(answer.headers['www-authenticate'], 'Bearer');
  assert.deepEqual(answer.json(), { error: 'Unauthorized', message: 'Invalid or missing API key', code: 401 });
  const large = await post('/v1/signal', Buffer.alloc(16 * 1024 * 1024 + 1, ' '), {});
  assert.equal(large.statusCode, 401);
});

test('D15.58, D36.3 each request to management begins when its turn has come, and so does each of its calls of the store', async () => {
  const turns: (() => void)[] = [];
  let begun = 0;
  const store = {
    workspace: async () => {
      begun += 1;
    },
  };
  const turnOf = () => new Promise<void>((turn) => turns.push(turn));
  const ports = { store, stepsOf: () => (work: () => unknown) => work(), turnOf };
  const { app } = world({ manage: ports as unknown as AppParts['manage'] });
  const answers = [1, 2].map(() => inject(app, { url: '/v1/manage/whoami', headers: HEADERS }));
  await eventually(() => assert.equal(turns.length, 2));
  for (const before of [0, 1]) {
    turns.shift()!();
    // It has begun, and waits to ask the store.
    await eventually(() => assert.equal(turns.length, 2 - before));
    assert.equal(begun, before);
    turns.pop()!();
    await answers[before];
    assert.equal(begun, before + 1);
  }
});

test('D15.55 of what one workspace asks for long at one address two requests are worked on', async () => {
  const open: (() => void)[] = [];
  const untilLanded = () => new Promise<number>((resolve) => open.push(() => resolve(1)));
  const asyncOperations = { inTime: (_: unknown, work: () => unknown) => work() };
  const ports = { untilLanded, asyncOperations, store: {}, stepsOf: () => (work: () => unknown) => work(), turnOf: async () => undefined };
  const { app } = world({ manage: ports as unknown as AppParts['manage'], permissions: ['rules:write'] });
  const payload = JSON.stringify({ list: 'edge', preview: true });
  const ask = () => inject(app, { method: 'POST', url: '/v1/manage/rules/delete', headers: HEADERS, payload });
  const statuses = [ask(), ask(), ask(), ask()].map(async (answer) => (await answer).statusCode);
  for (let done = 0; done < statuses.length; done += 1) {
    await eventually(() => assert.ok(open.length > 0));
    assert.ok(open.length <= 2, 'no third one is at work');
    open.shift()!();
  }
  assert.deepEqual(await Promise.all(statuses), [409, 409, 409, 409]);
});

test('D36.11 the bytes that a request has sent are let go of with its answer', async () => {
  const held: Uint8Array[] = [];
  const start = (_: string, { recording }: { readonly recording: Uint8Array }) => {
    held.push(recording);
    throw new WeirError('REFUSED', 'a backtest of the workspace runs already');
  };
  const ports = { backtests: { start }, schemes: packagedSchemes(), store: {}, stepsOf: () => (work: () => unknown) => work() };
  const manage = { ...ports, turnOf: async () => undefined } as unknown as AppParts['manage'];
  const { app } = world({ manage, permissions: ['rules:read'] });
  const url = '/v1/manage/backtests?expression=http.request.path%20eq%20%22%2F%22';
  const { statusCode } = await inject(app, { method: 'POST', url, headers: HEADERS, payload: Buffer.alloc(100_000, 'x') });
  assert.deepEqual([statusCode, held.map(({ length }) => length)], [409, [0]]);
});

test('D36.10 of what one workspace reads at one address two requests are at work, and nothing is read for who has gone', async () => {
  const open: (() => void)[] = [];
  const store = { workspace: () => new Promise<void>((resolve) => open.push(resolve)) };
  const ports = { store, patience: 60_000, stepsOf: () => (work: () => unknown) => work(), turnOf: async () => undefined };
  const { app } = world({ manage: ports as unknown as AppParts['manage'] });
  const gone = new AbortController();
  const read = (signal?: AbortSignal) => inject(app, { url: '/v1/manage/whoami', headers: HEADERS, signal });
  const answers = [read(), read()];
  await eventually(() => assert.equal(open.length, 2));
  const connections = (most: number) => () =>
    new Promise<void>((resolve, reject) =>
      app.server.getConnections((_, count) => (count === most ? resolve() : reject(new Error(`${count} connections`)))),
    );
  const left = read(gone.signal).catch(() => 'gone');
  await eventually(connections(3));
  answers.push(read());
  await eventually(connections(4));
  gone.abort();
  assert.equal(await left, 'gone');
  await eventually(connections(3));
  const statuses = answers.map(async (answer) => (await answer).statusCode);
  for (let done = 0; done < answers.length; done += 1) {
    await eventually(() => assert.ok(open.length > 0));
    assert.ok(open.length <= 2, 'no third one is at work');
    open.shift()!();
  }
  assert.deepEqual(await Promise.all(statuses), [404, 404, 404]);
  assert.equal(open.length, 0);
});

test('D36.9 of changes of one workspace one at a time is with the store', async () => {
  const open: (() => void)[] = [];
  const store = {
    usedBytesOf: async () => ({ audit: 0, answers: 0 }),
    createList: () => new Promise((_, reject) => open.push(() => reject(new WeirError('REFUSED', 'no')))),
  };
  const ports = {
    ...{ store, quota: { audit: 0, answers: 0 }, inTurn: fewAtOnce(1), stepsOf: () => (work: () => unknown) => work() },
    ...{ turnOf: async () => undefined, patience: 60_000 },
  };
  const { app } = world({ manage: ports as unknown as AppParts['manage'], permissions: ['manage'] });
  const make = (name: string) =>
    inject(app, { method: 'POST', url: '/v1/manage/lists', headers: HEADERS, payload: JSON.stringify({ name }) });
  const answers = ['a', 'b', 'c'].map(make);
  for (const answer of answers) {
    await eventually(() => assert.equal(open.length, 1));
    open.shift()!();
    assert.equal((await answer).statusCode, 409);
  }
});

test('D43.12 reads and changes of a workspace that do not get their turn soon are 429, and not begun; what may be late waits', async () => {
  const open: (() => void)[] = [];
  const answered = <T>(value: T) => new Promise<T>((resolve) => open.push(() => resolve(value)));
  const store = {
    usedBytesOf: async () => ({ audit: 0, answers: 0 }),
    workspace: () => answered(undefined),
    createList: () => answered({}),
  };
  const ports = {
    ...{ store, patience: 0, quota: { audit: 0, answers: 0 }, inTurn: fewAtOnce(1), untilLanded: () => answered(1) },
    ...{ asyncOperations: { inTime: (_: unknown, work: () => unknown) => work() } },
    ...{ stepsOf: () => (work: () => unknown) => work(), turnOf: async () => undefined },
  };
  const { app } = world({ manage: ports as unknown as AppParts['manage'], permissions: ['manage', 'rules:write'] });
  const post = (url: string, payload: object) =>
    inject(app, { method: 'POST', url: `/v1/manage${url}`, headers: HEADERS, payload: JSON.stringify(payload) });
  const asked = {
    read: () => inject(app, { url: '/v1/manage/whoami', headers: HEADERS }),
    change: () => post('/lists', { name: 'edge' }),
    long: () => post('/rules/delete', { list: 'edge', preview: true }),
  };
  for (const [kind, atOnce] of [
    ['read', 2],
    ['change', 1],
  ] as const) {
    const atWork = Array.from({ length: atOnce }, asked[kind]);
    await eventually(() => assert.equal(open.length, atOnce));
    const { statusCode, headers } = await asked[kind]();
    assert.deepEqual([kind, statusCode, headers['retry-after'], open.length], [kind, 429, '10', atOnce]);
    for (const go of open.splice(0)) go();
    await Promise.all(atWork);
  }
  const long = Array.from({ length: 3 }, asked.long);
  for (const each of long) {
    await eventually(() => assert.ok(open.length > 0));
    open.shift()!();
    assert.equal((await each).statusCode, 409);
  }
});

test('D15.4 requests of a key to management are limited by themselves', async () => {
  const ports = {
    store: { workspace: async () => undefined },
    stepsOf: () => (work: () => unknown) => work(),
    turnOf: async () => undefined,
  };
  const { app } = world({ manage: ports as unknown as AppParts['manage'], rateLimit: 1 });
  const statuses: number[] = [];
  for (let i = 0; i < 2; i += 1) statuses.push((await inject(app, { url: '/v1/manage/whoami', headers: HEADERS })).statusCode);
  const refused = await inject(app, { url: '/v1/manage/lists', headers: HEADERS });
  assert.deepEqual([...statuses, refused.statusCode, refused.headers['retry-after']], [404, 429, 429, '60']);
  assert.equal((await inject(app, { url: '/v1/threat/feeds', headers: HEADERS })).statusCode, 200);
});

test('5, D2 401, then 429, then 402, then 403', async () => {
  const inactive = { subscription: 'inactive' } as const;
  const steps = [
    [{ caller: { ...inactive, workspaceId: '' }, permissions: [], rateLimit: 1 }, 401],
    [{ caller: inactive, permissions: [], rateLimit: 1 }, 402],
    [{ caller: inactive, permissions: [] }, 402],
    [{ permissions: ['feed:read'] }, 403],
    [{}, 200],
  ] as const;
  for (const [given, status] of steps) {
    const { post } = world(given as World);
    assert.equal((await post('/v1/signal', [EVENT])).statusCode, status);
    if (status === 402) {
      const again = await post('/v1/signal', [EVENT]);
      assert.equal(again.statusCode, 'rateLimit' in given ? 429 : 402);
    }
  }
  const { app } = world({ permissions: ['signal:write'] });
  const feed = await inject(app, { url: '/v1/threat/feeds', headers: HEADERS });
  assert.deepEqual([feed.statusCode, feed.json().success, feed.json().details], [403, false, {}]);
});

test('D3 bodies of 402, 403, 404, 405, 409, 429 and 500', async () => {
  const body = async (given: World, url = '/v1/signal') => (await world(given).post(url, [EVENT])).json();
  const shape = ({ error, code, message, ...rest }: Record<string, unknown>) => [error, code, typeof message, Object.keys(rest).length];
  assert.deepEqual(shape(await body({ caller: { subscription: 'inactive' } })), ['PaymentRequired', 402, 'string', 0]);
  assert.deepEqual(shape(await body({ permissions: [] })), ['Forbidden', 403, 'string', 0]);
  assert.deepEqual(shape(await body({}, '/v1/signal?list=nowhere')), ['NotFound', 404, 'string', 0]);
  assert.deepEqual(shape(await body({}, '/v3/signal')), ['NotFound', 404, 'string', 0]);
  assert.deepEqual(shape(await body({}, '/healthz')), ['MethodNotAllowed', 405, 'string', 0]);
  assert.deepEqual(shape(await body({}, '/v1/signal?list=twice')), ['Conflict', 409, 'string', 0]);
  assert.deepEqual(shape(await body({ streamDown: true })), ['InternalServerError', 500, 'string', 0]);
  const { post } = world({ rateLimit: 1 });
  await post('/v1/signal', [EVENT]);
  const limited = await post('/v1/signal', [EVENT]);
  assert.deepEqual(shape(limited.json()), ['TooManyRequests', 429, 'string', 0]);
  assert.equal(limited.headers['retry-after'], '60');
  assert.equal(limited.headers['cache-control'], 'no-store');
});

test('D3 a stream that does not take the batch: 500 without a driver word, and the log says why', async () => {
  const { post, log } = world({ streamDown: true });
  const answer = await post('/v2/signal', [ENVELOPE]);
  assert.deepEqual(answer.json(), { error: 'InternalServerError', message: 'Internal server error', code: 500 });
  assert.match(log.join(''), /disk full/);
  assert.equal((await post('/v2/signal?dry_run=1', [ENVELOPE])).statusCode, 200);
});

test('4.1, 5, D2 404 for unknown paths and 405 with Allow need no key', async () => {
  const { app } = world();
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND'] as const) {
    const answer = await inject(app, { method, url: '/v2/signal?x=1' });
    assert.deepEqual([answer.statusCode, answer.headers.allow], [405, 'POST'], method);
    assert.equal(answer.headers['cache-control'], 'no-store');
  }
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'] as const) {
    for (const url of ['/v1/threat/feeds', '/v1/threat/feeds/edge']) {
      const answer = await inject(app, { method, url });
      assert.deepEqual([answer.statusCode, answer.headers.allow, answer.json().success], [405, 'GET, HEAD', false]);
    }
  }
  for (const url of ['/', '/v1', '/v1/signal/', '/V1/SIGNAL', '/v3/signal', '/v1/signals']) {
    const answer = await inject(app, { method: 'POST', url });
    assert.deepEqual([answer.statusCode, answer.json().error], [404, 'NotFound'], url);
  }
  for (const url of ['/v1/threat/feeds/', '/v1/threat/feeds/a/b', '/v1/threat', `/v1/threat/feeds/${'x'.repeat(3000)}`]) {
    const answer = await inject(app, { url });
    assert.deepEqual([answer.statusCode, answer.json().success], [404, false], url);
  }
});

test('D3 ?list= by id or name, a UUID wins; unknown 404, ambiguous 409, empty or repeated 400', async () => {
  const { post, listId } = world();
  const status = async (query: string) => (await post(`/v1/signal?${query}`, [EVENT])).statusCode;
  assert.deepEqual([await status(''), listId()], [200, `${ID}1`]);
  assert.deepEqual([await status('list=edge'), listId()], [200, `${ID}2`]);
  assert.deepEqual([await status(`list=${ID}3`), listId()], [200, `${ID}3`]);
  assert.deepEqual([await status(`list=${ID.toUpperCase()}2`), listId()], [200, `${ID}2`]);
  assert.deepEqual([await status(`list=${ID}2`), listId()], [200, `${ID}2`]);
  for (const [query, expected] of [
    ['list=Edge', 404],
    ['list=twice', 409],
    ['list=', 400],
    ['list=edge&list=edge', 400],
  ] as const) {
    assert.equal(await status(query), expected, query);
  }
});

test('D42.3 D42.4 what was probably not meant is in 200 and 206 of v2, and of v1 in dry runs only', async () => {
  const { post } = world();
  const rule = { type: 'generated', expression: 'http.request.path == "admin"', action: 'block' };
  const entry = { kind: 'waf_rule', op: 'upsert', rule_ref: 'w-1', name: 'x', rule };
  const said = [
    'w-1: http.request.path == "admin" is never true: a path begins with /',
    'w-1: name has no effect: did you mean rule.name?',
  ];
  assert.deepEqual((await post('/v2/signal', [entry])).json(), {
    success: true,
    message: 'Processed 1 entries, 0 failed',
    errors: [],
    warnings: said,
  });
  const part = await post('/v2/signal?dry_run=1', [entry, { ...entry, rule_ref: '-' }]);
  assert.deepEqual([part.statusCode, part.json().warnings], [206, said]);
  assert.equal('warnings' in (await post('/v2/signal', [ENVELOPE])).json(), false);
  const event = { ...EVENT, expires_in: 60 };
  assert.deepEqual((await post('/v1/signal', [event])).json(), { success: true, message: 'Processed 1 entries, 0 failed' });
  assert.deepEqual((await post('/v1/signal?dry_run=1', [event])).json().warnings, [
    '203.0.113.7: expires_in has no effect: did you mean expiration?',
  ]);
});

test('D3.17 D42.1 a parameter that is almost list or dry_run is 400 and names it, and nothing is published; others are ignored', async () => {
  const { post, published } = world();
  const almost = {
    dry_run: [
      'dryrun=1',
      'dry-run=1',
      'dryRun=1',
      'DRY_RUN=1',
      'dry_rnu=1',
      'dry_run=0&dry_runs=1',
      'dry=1',
      'amp;dry_run=1',
      'dry_run%3D1',
      'dry_run[]=1',
      'preview=1',
      'test',
      '+dry_run=1',
    ],
    list: ['lst=edge', 'List=edge', 'lists=edge', 'amp;list=edge', 'list[]=edge', 'list_id=edge', 'lis=edge', 'list%253Dedge'],
  };
  for (const [known, queries] of Object.entries(almost)) {
    for (const query of queries) {
      for (const [path, entry] of [
        ['/v1/signal', EVENT],
        ['/v2/signal', ENVELOPE],
      ] as const) {
        const answer = await post(`${path}?${query}`, [entry]);
        const { message, details } = answer.json();
        assert.equal(answer.statusCode, 400, query);
        assert.match(message, new RegExp(`is no parameter; did you mean ${known}\\?$`));
        assert.equal(details.length, 1);
      }
    }
  }
  assert.deepEqual(published, []);
  assert.equal((await post('/v1/signal?source=x&listing=y&_=1&utm_source=x', [EVENT])).statusCode, 200);
});

test('D3.17 the 409 of an ambiguous list names at most 20 of the ids', async () => {
  const { message } = (await world().post('/v1/signal?list=many', [EVENT])).json();
  assert.equal(message.split(ID).length - 1, 20);
  assert.match(message, /-18, \S+-19 and 3 more$/);
});

test('D2 a key bound to a list: its signals land there, another list is 403, other kinds are entry faults', async () => {
  const { post, listId } = world({ caller: { listId: `${ID}3` } });
  const status = async (query: string) => (await post(`/v1/signal?${query}`, [EVENT])).statusCode;
  assert.deepEqual([await status(''), listId()], [200, `${ID}3`]);
  assert.deepEqual([await status(`list=${ID}3`), listId()], [200, `${ID}3`]);
  assert.equal(await status('list=edge'), 403);
  assert.equal(await status('list=nowhere'), 403);
  assert.equal(await status('list=twice'), 409);
  const answer = await post('/v2/signal', [ENVELOPE, { kind: 'waf_rule', op: 'delete', rule_ref: 'a' }]);
  assert.equal(answer.statusCode, 206);
  assert.match(answer.json().errors[0], /^Entry 1: Schema validation failed: kind: /);
});

test('D3 ?dry_run=1 validates and answers, and publishes nothing', async () => {
  const { post, published } = world();
  const answer = await post('/v2/signal?dry_run=1', [ENVELOPE, { ...ENVELOPE, op: 'x' }]);
  assert.deepEqual([answer.statusCode, answer.json().message], [206, 'Processed 1 entries, 1 failed']);
  assert.equal((await post('/v2/signal?dry_run=true', [ENVELOPE])).statusCode, 200);
  assert.equal(published.length, 0);
  assert.equal((await post('/v2/signal?dry_run=0', [ENVELOPE])).statusCode, 200);
  assert.equal(published.length, 1);
  for (const value of ['', 'yes', '2', '1&dry_run=1'])
    assert.equal((await post(`/v2/signal?dry_run=${value}`, [ENVELOPE])).statusCode, 400, value);
});

test('D2 signals are accepted while the store cannot be read; a named list then is 500', async () => {
  const { post, listId, log } = world({ storeDown: true });
  assert.equal((await post('/v1/signal', [EVENT])).statusCode, 200);
  assert.equal(listId(), undefined);
  const named = await post('/v1/signal?list=edge', [EVENT]);
  assert.equal(named.statusCode, 500);
  assert(!named.body.includes('SQLITE'));
  assert.match(log.join(''), /SQLITE_BUSY/);
});

test('D1 /healthz and /readyz need no key', async () => {
  const healthy = world().app;
  assert.equal((await inject(healthy, { url: '/healthz' })).statusCode, 200);
  const ready = await inject(healthy, { url: '/readyz' });
  assert.deepEqual([ready.statusCode, ready.json().checks], [200, { store: { ok: true }, stream: { ok: true } }]);
  const red = await inject(world({ ready: false }).app, { url: '/readyz' });
  assert.equal(red.statusCode, 503);
  assert.deepEqual(red.json().checks.stream, { ok: false, reason: 'disk full' });
  assert.equal((await inject(healthy, { method: 'HEAD', url: '/readyz' })).body, '');
});

test('D1 a process without a role does not have its paths', async () => {
  const { app } = world({ signals: false });
  assert.equal((await inject(app, { method: 'POST', url: '/v1/signal' })).statusCode, 404);
});

test('4.3 a feed request reaches the feed endpoint with list, query and caller', async () => {
  const seen: unknown[] = [];
  const { app } = world({
    answerDocument: ({ query: { workspaceId, list, variant } }) => {
      seen.push([workspaceId, list, variant]);
      return { status: 304, headers: ['ETag', '"x"'], body: undefined };
    },
  });
  const basic = { authorization: `Basic ${Buffer.from(`api:${KEY}`).toString('base64')}` };
  const answer = await inject(app, { url: '/v1/threat/feeds?format=plain&a=b?c', headers: basic });
  assert.deepEqual([answer.statusCode, answer.headers.etag, answer.body], [304, '"x"', '']);
  await inject(app, { url: '/v1/threat/feeds/a%2Fb%20%C3%A4', headers: HEADERS });
  await inject(app, { url: `/v1/threat/feeds/${'%F0%9F%98%80'.repeat(200)}`, headers: HEADERS });
  assert.deepEqual(seen, [
    ['w', null, { format: 'plain' }],
    ['w', 'a/b ä', {}],
    ['w', '😀'.repeat(200), {}],
  ]);
  const challenge = await inject(app, { url: '/v1/threat/feeds' });
  assert.deepEqual(challenge.headers['www-authenticate'], ['Basic realm="threat-feed", charset="UTF-8"', 'Bearer']);
  assert.deepEqual(challenge.json(), { success: false, error: 'Unauthorized - invalid or missing API key', details: {} });
});

test('7.3 a feed endpoint that throws: 500 in the shape of its group, logged', async () => {
  const { app, log } = world({
    answerDocument: () => {
      throw new Error(`postgres://user:secret@db/x refused ${KEY}`);
    },
  });
  const answer = await inject(app, { url: '/v1/threat/feeds', headers: HEADERS });
  assert.deepEqual([answer.statusCode, answer.json()], [500, { success: false, error: 'Internal server error', details: {} }]);
  assert.match(log.join(''), /postgres:\/\/db\/x refused \[key\]/);
  assert(!/secret|weir_abc/.test(log.join('')));
});

async function listening(t: TestContext, given: World = {}) {
  const { app, log } = world(given);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => app.close());
  const { port } = new URL(url);
  const raw = (text: string) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1', () => socket.write(text));
      let answer = '';
      socket.on('data', (chunk) => {
        answer += chunk;
      });
      socket.on('close', () => resolve(answer));
      socket.on('error', reject);
    });
  return { url, raw, log };
}

test('7.2 what is no proper HTTP request gets an error body too', async (t) => {
  const { url, raw } = await listening(t);
  const garbage = await raw('GARBAGE\r\n\r\n');
  assert.match(garbage, /^HTTP\/1.1 400 Bad Request\r\n/);
  assert.equal(JSON.parse(garbage.split('\r\n\r\n')[1]!).error, 'ValidationError');
  assert.match(await raw(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`), /^HTTP\/1.1 431 /);
  const bad = await fetch(`${url}/v1/threat/feeds/%zz`, { headers: HEADERS });
  assert.equal(bad.status, 400);
  assert.deepEqual(await bad.json(), { success: false, error: 'The list is not valid percent-encoding', details: {} });
  const absolute = await raw(
    `GET http://user:password@host/v1/threat/feeds?format=plain HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nConnection: close\r\n\r\n`,
  );
  assert.match(absolute, /^HTTP\/1.1 200 /);
});

test('D3 a body over the limit gets its answer over a real connection', async (t) => {
  const { url } = await listening(t);
  const answer = await fetch(`${url}/v1/signal`, { method: 'POST', headers: HEADERS, body: Buffer.alloc(16 * 1024 * 1024 + 1, ' ') });
  assert.equal(answer.status, 400);
});

test('5.1, D2.5 a feed whose address cannot be decoded: 401 comes before 400', async () => {
  const { app } = world();
  for (const url of ['/v1/threat/feeds/%zz', '/v1/threat/feeds/%ff?format=plain']) {
    for (const headers of [{}, { authorization: 'Bearer weir_wrong_key' }]) {
      const answer = await inject(app, { url, headers });
      assert.deepEqual([answer.statusCode, answer.json().success], [401, false]);
      assert.deepEqual(answer.headers['www-authenticate'], ['Basic realm="threat-feed", charset="UTF-8"', 'Bearer']);
    }
    assert.equal((await inject(app, { url, headers: HEADERS })).statusCode, 400);
  }
});

test('4.3 HEAD has the headers of GET and no body', async (t) => {
  const { url } = await listening(t);
  const head = await fetch(`${url}/v1/threat/feeds`, { method: 'HEAD', headers: HEADERS });
  assert.deepEqual([head.status, head.headers.get('content-length'), await head.text()], [200, '3', '']);
  assert.equal(await (await fetch(`${url}/v1/threat/feeds`, { headers: HEADERS })).text(), 'ok\n');
});

test('D1 TRUST_PROXY: forwarded addresses count from these proxies only', async (t) => {
  const flood = async (url: string) => {
    const status = async (address: string) => {
      const headers = { authorization: 'Bearer weir_wrong_key', 'x-forwarded-for': address };
      return (await fetch(`${url}/v1/threat/feeds`, { headers })).status;
    };
    for (let i = 0; i < 20; i += 1) assert.equal(await status('198.51.100.1'), 401);
    return [await status('198.51.100.1'), await status('198.51.100.2')];
  };
  const trusting = await listening(t, { settings: { trustProxy: ['127.0.0.0/8'] } });
  assert.deepEqual(await flood(trusting.url), [429, 401]);
  const wary = await listening(t);
  assert.deepEqual(await flood(wary.url), [429, 429]);
});

test('D5 a recognised caller takes the short way: same answers, counted once', async (t) => {
  let answers = 0;
  const ready = { status: 200, headers: ['Content-Type', 'text/plain', 'Content-Length', '3'], body: 'ok\n' } as const;
  const ways = [
    () => ready,
    async () => ready,
    () => ({ status: 413, message: 'too many', details: { entries: 2 } }),
    async () => ({ status: 404 }),
    () => {
      throw new Error('sync');
    },
    async () => {
      throw new Error('async');
    },
  ];
  const way = () => ways[Math.floor(answers++ / 2) % ways.length]!();
  const { url, log } = await listening(t, { answerDocument: way, rateLimit: 14 });
  const ask = async () => {
    const answer = await fetch(`${url}/v1/threat/feeds/edge`, { headers: HEADERS });
    return { status: answer.status, body: await answer.text() };
  };
  assert.equal((await ask()).status, 200);
  assert.equal((await ask()).status, 200);
  const seen = [];
  for (let i = 0; i < 10; i += 1) seen.push(await ask());
  assert.deepEqual(
    seen.map(({ status }) => status),
    [200, 200, 413, 413, 404, 404, 500, 500, 500, 500],
  );
  assert.deepEqual(seen[2], { status: 413, body: '{"success":false,"error":"too many","details":{"entries":2}}' });
  assert.equal(seen[6]!.body, '{"success":false,"error":"Internal server error","details":{}}');
  assert.equal(log.filter((line) => line.includes('a request failed')).length, 4);
  assert.deepEqual([(await ask()).status, (await ask()).status, (await ask()).status], [200, 200, 429]);
});

test('D1 closing: what is in flight is finished, and the connection is told to close', async (t) => {
  let release: (() => void) | undefined;
  const { app } = world({
    answerDocument: () =>
      new Promise((resolve) => (release = () => resolve({ status: 200, headers: ['Content-Length', '3'], body: 'ok\n' }))),
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const pending = fetch(`${url}/v1/threat/feeds`, { headers: HEADERS });
  while (release === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
  const closed = app.close();
  t.after(() => closed);
  await new Promise((resolve) => setTimeout(resolve, 20));
  release();
  assert.equal(await (await pending).text(), 'ok\n');
  await closed;
  await assert.rejects(fetch(url));
});

test('7.2 a client that goes away in the middle of a body does no harm', async (t) => {
  const { url, log } = await listening(t);
  const { port } = new URL(url);
  for (const headers of ['Content-Length: 100', 'Transfer-Encoding: chunked']) {
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`POST /v1/signal HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\n${headers}\r\n\r\n[`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  assert.doesNotMatch(log.join(''), /failed/);
});

test('D3.24 a compressed body: 415 that says so; identity is none', async () => {
  const { post, published } = world();
  for (const coding of ['gzip', 'identity, br', 'Deflate', 'nonsense']) {
    const answer = await post('/v1/signal', [EVENT], { ...HEADERS, 'content-encoding': coding });
    assert.deepEqual([answer.statusCode, answer.json().error, answer.json().code], [415, 'UnsupportedMediaType', 415], coding);
    assert.match(answer.json().message, /Content-Encoding/);
    assert.equal(answer.headers['accept-encoding'], 'identity');
  }
  assert.equal(published.length, 0);
  for (const coding of ['identity', 'Identity ']) {
    assert.equal((await post('/v1/signal', [EVENT], { ...HEADERS, 'content-encoding': coding })).statusCode, 200);
  }
  assert.equal((await post('/v1/signal', [EVENT], { 'content-encoding': 'gzip' })).statusCode, 401);
});

test('D14.12 usage metrics are received as a batch is: a client may go away in their middle, 415 when compressed, 413 over 256 KiB', async (t) => {
  const unasked = async () => ({ status: 500 });
  const usage = async () => ({ status: 201, headers: ['Content-Length', '0'], body: undefined });
  const { url, log } = await listening(t, { bouncers: { stream: unasked, current: unasked, usage, refused: () => {} } });
  const address = `${url}/v1/usage-metrics`;
  for (const length of ['Content-Length: 100', 'Transfer-Encoding: chunked']) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write(`POST /v1/usage-metrics HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${KEY}\r\n${length}\r\n\r\n{`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
  }
  const report = (body: string, headers = {}) => fetch(address, { method: 'POST', headers: { ...HEADERS, ...headers }, body });
  assert.equal((await report('{}')).status, 201);
  assert.equal((await report('{}', { 'content-encoding': 'gzip' })).status, 415);
  const large = await report('x'.repeat(300_000));
  assert.deepEqual([large.status, await large.json()], [413, { message: 'Usage metrics must not exceed 256 KiB' }]);
  assert.doesNotMatch(log.join(''), /failed/);
});

test('D3.27 a key that has sent its entries of this minute: 429, and nothing of the batch is processed', async () => {
  const { post, published } = world({ entryLimit: 1000 });
  assert.equal((await post('/v1/signal', Array(600).fill(EVENT))).statusCode, 200);
  assert.equal((await post('/v1/signal', Array(1001).fill(EVENT))).statusCode, 400);
  const over = await post('/v1/signal', Array(500).fill(EVENT));
  assert.deepEqual([over.statusCode, over.headers['retry-after'], over.json().error], [429, '6', 'TooManyRequests']);
  assert.equal((await post('/v1/signal', Array(400).fill(EVENT))).statusCode, 200);
  assert.equal(published.length, 1000);
});

/** A post over a connection of its own: its answer's status as soon as it comes, and the way to send more or to leave. */
function posting(url: string, headers: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(`POST /v1/signal HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\n${headers}\r\n\r\n`);
  const text = () => new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(bytes.toString())));
  return { socket, status: async () => Number((await text()).split(' ')[1]), text };
}
const MEBIBYTE = 1024 * 1024;

test('D3.29 in a workspace with as many rules as it may have, upserts are faults of their entries, and deletes pass', async () => {
  const { post, published } = world({ rules: 2 });
  const answer = await post('/v1/signal', [
    { type: 'access_rules', action: 'block', ip: '192.0.2.1' },
    { type: 'access_rules', action: 'unblock', ip: '192.0.2.1' },
  ]);
  assert.equal(answer.statusCode, 206);
  assert.deepEqual(answer.json().errors, [
    'Entry 0: Schema validation failed: entry: the workspace has reached its limit of 2 rules: only deletes are accepted until it has fewer',
  ]);
  const both = await post('/v2/signal', [
    { kind: 'access_rule', op: 'upsert', rule: { target: { ip: '192.0.2.1' } } },
    { kind: 'waf_rule', op: 'delete', rule_ref: 'a' },
  ]);
  assert.match(both.json().message, /^Processed 1 entries, 1 failed/);
  assert.equal(published.length, 2);
  const { post: postToOther } = world({ rules: 1 });
  assert.equal((await postToOther('/v1/signal', [{ type: 'access_rules', action: 'block', ip: '192.0.2.1' }])).statusCode, 200);
});

test('D3.25 bodies over the budget: 429 with Retry-After before they are read; room comes back when a client leaves', async (t) => {
  const { url, log } = await listening(t);
  const slow = [1, 2, 3, 4].map(() => posting(url, `Content-Length: ${4 * MEBIBYTE}`));
  for (const { socket } of slow) socket.write('[');
  const small = () => fetch(`${url}/v1/signal`, { method: 'POST', headers: HEADERS, body: JSON.stringify([EVENT]) });
  // The share of a key is 16 MiB of 64: these four hold it once they are there.
  await eventually(async () => {
    const over = await small();
    const { error } = (await over.json()) as { error?: string };
    assert.deepEqual([over.status, over.headers.get('retry-after'), error], [429, '1', 'TooManyRequests']);
  });
  const large = posting(url, `Content-Length: ${15 * MEBIBYTE}`);
  const answer = await large.text();
  assert.match(answer, /^HTTP\/1.1 429 .*Retry-After: 1\r\n.*Connection: close\r\n/s);
  large.socket.write(Buffer.alloc(MEBIBYTE, ' '), () => large.socket.destroy());
  const chunked = posting(url, 'Transfer-Encoding: chunked');
  assert.equal(await chunked.status(), 429);
  chunked.socket.destroy();
  for (const { socket } of slow) socket.destroy();
  await eventually(async () => assert.equal((await small()).status, 200));
  for (let i = 0; i < 8; i += 1) {
    const body = Buffer.alloc(12 * MEBIBYTE, ' ').fill(JSON.stringify([EVENT]), 0, JSON.stringify([EVENT]).length);
    assert.equal((await fetch(`${url}/v1/signal`, { method: 'POST', headers: HEADERS, body })).status, 200);
  }
  assert.doesNotMatch(log.join(''), /failed/);
});

test('D3.25 a body without Content-Length counts as it comes, up to 16 MiB', async (t) => {
  const { url } = await listening(t);
  const stream = (pieces: number) =>
    fetch(`${url}/v1/signal`, {
      method: 'POST',
      headers: HEADERS,
      duplex: 'half',
      body: ReadableStream.from(
        (function* () {
          yield Buffer.from(JSON.stringify([EVENT]));
          for (let i = 0; i < pieces; i += 1) yield Buffer.alloc(MEBIBYTE / 2, ' ');
        })(),
      ),
    } as RequestInit);
  assert.equal((await stream(31)).status, 200);
  const over = await stream(33).then(
    (answer) => answer.status,
    () => 'reset',
  );
  assert.equal(over, 400);
  assert.equal((await stream(0)).status, 200);
});

for (const [how, expects] of [
  ['', ''],
  [', also after 100 Continue', 'Expect: 100-continue\r\n'],
]) {
  test(`D3.1 a body that turns out to be over 16 MiB: a client that sends all of it before it reads gets its 400${how}`, async (t) => {
    const { url } = await listening(t);
    const socket = connect(Number(new URL(url).port), '127.0.0.1').pause();
    const failed = new Promise<Error>((resolve) => socket.once('error', resolve));
    const chunk = `${MEBIBYTE.toString(16)}\r\n${' '.repeat(MEBIBYTE)}\r\n`;
    socket.write(`POST /v1/signal HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\n${expects}Transfer-Encoding: chunked\r\n\r\n`);
    // Far more than the machine keeps of what nobody reads.
    const sent = new Promise((resolve) => socket.write(`${chunk.repeat(30)}0\r\n\r\n`, resolve));
    assert.equal(await Promise.race([sent, failed]), null);
    const answer = new Promise<string>((resolve) => {
      let text = '';
      socket.on('data', (bytes) => {
        text += bytes;
        if (text.includes('ValidationError')) resolve(text);
      });
    });
    socket.resume();
    assert.match(await answer, /^(HTTP\/1.1 100 Continue\r\n\r\n)?HTTP\/1.1 400 /);
    socket.destroy();
  });
}

test('D3.26 100 Continue only once the key is admitted and there is room', async (t) => {
  const { url } = await listening(t);
  const body = JSON.stringify([EVENT]);
  const expecting = (length: number, more = '') => posting(url, `${more}Content-Length: ${length}\r\nExpect: 100-continue`);
  const good = expecting(body.length);
  assert.match(await good.text(), /^HTTP\/1.1 100 Continue\r\n\r\n$/);
  good.socket.write(body);
  assert.equal(await good.status(), 200);
  const holder = posting(url, `Content-Length: ${16 * MEBIBYTE}`);
  holder.socket.write('[');
  // Its body is held once it is there; who is admitted before that goes away.
  await eventually(async () => {
    const full = expecting(body.length);
    const ended = new Promise((resolve) => full.socket.once('close', resolve));
    const status = await full.status();
    if (status !== 429) full.socket.destroy();
    await ended;
    assert.equal(status, 429);
  });
  holder.socket.destroy();
  assert.equal(await expecting(17 * MEBIBYTE).status(), 400);
  assert.equal(await expecting(body.length, 'Content-Encoding: gzip\r\n').status(), 415);
  const stranger = connect(Number(new URL(url).port), '127.0.0.1');
  const refused = new Promise<string>((resolve) => stranger.once('data', (bytes) => resolve(bytes.toString())));
  stranger.write('POST /v1/signal HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n');
  assert.match(await refused, /^HTTP\/1.1 401 .*Connection: close/s);
});

test('D3.22 one entry that nobody can read is the fault of that entry, not of the batch', async () => {
  const { post, published } = world();
  const answer = await post('/v2/signal', [ENVELOPE, { ...ENVELOPE, kind: { toString: 1 } }]);
  assert.deepEqual([answer.statusCode, answer.json().message], [206, 'Processed 1 entries, 1 failed']);
  assert.equal(published.length, 1);
});
