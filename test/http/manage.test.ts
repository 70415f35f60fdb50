/** The management API: what holds of every operation, from the table of operations, and what each group does (SPEC D15). */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { addressSet, difference, isEmpty } from '@weir/network/address-set.ts';
import { coalesceV4, coalesceV6 } from '@weir/network/coalesce.ts';
import { formatNetwork } from '@weir/network/format.ts';
import type { Network } from '@weir/network/network.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import { allows, PERMISSIONS, type Permission } from '../../src/account/permission.ts';
import { ROLE_NAMES, ROLES } from '../../src/account/role.ts';
import type { Operation } from '../../src/manage/operation.ts';
import { OPERATIONS } from '../../src/manage/table.ts';
import { openSqliteStream } from '../../src/stream/sqlite/stream.ts';
import { command, commandJson, newKey, newTenant } from '../support/command.ts';
import { beforeMidnight } from '../support/day.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { ask, bearer, getFeed, type Headers, postSignals, type Reply } from '../support/http.ts';
import { type ListServer, list, listServer } from '../support/list-server.ts';
import { seededRandom } from '../support/random.ts';
import { eventually, PATIENT, startWeir, type Weir } from '../support/weir.ts';

const networksOf = (lines: Iterable<string>) => [...lines].map((text) => parseNetwork(text) as Network);

type Json = Record<string, unknown>;
interface Row extends Json {
  readonly id: string;
  readonly name: string;
}
interface Answer extends Reply {
  readonly body: Json & {
    readonly id: string;
    readonly next: string | null;
    readonly message: string;
    readonly details: { readonly field: string; readonly message: string }[];
    readonly lists: Row[];
    readonly feeds: Row[];
    readonly keys: Row[];
    readonly rules: (Json & { readonly id: number })[];
    readonly dead_letters: (Json & { readonly id: number; readonly value: string })[];
    /** Of a change of rules. */
    readonly batches: string[];
    readonly entries: (Json & { readonly event: string; readonly object: string; readonly after: Json })[];
  };
}

suite('management', () => {
  const folder = temporaryFolder({ after });
  const settings = {
    ...{ DATA_DIR: join(folder, 'data'), FEED_REBUILD_SECONDS: '0', RATE_LIMIT_MANAGE: '0', MAX_LISTS: '200', MAX_SOURCES: '0' },
    ...{ SOURCE_NETWORKS: '127.0.0.1', WEBHOOK_NETWORKS: '127.0.0.1', SECRETS_KEY: 'a'.repeat(64) },
    ...smallGeo(folder),
  };
  let server: Weir;
  let lists: ListServer;
  let workspace: string;
  /** May do everything in the workspace, in another one. */
  let admin: string;
  let stranger: string;

  before(async () => {
    [server, lists] = await Promise.all([startWeir(settings), listServer()]);
    await command(['org', 'create', 'acme'], settings);
    const all = PERMISSIONS.flatMap((permission) => ['--permission', permission]);
    [{ workspaceId: workspace, key: admin }, { key: stranger }] = [
      await newTenant(settings, { organization: 'acme', workspace: 'edge' }, ...all),
      await newTenant(settings, { organization: 'acme', workspace: 'core' }, ...all),
    ];
  });
  after(async () => {
    await server.kill('SIGKILL');
    await lists[Symbol.asyncDispose]();
  });

  async function call(method: string, path: string, key: string, body?: unknown, headers: Headers = {}): Promise<Answer> {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const reply = await ask(server.url, `/v1/manage${path}`, {
      method,
      headers: { ...(key !== '' && bearer(key)), ...headers },
      ...(text !== undefined && { body: text }),
    });
    return { ...reply, body: reply.text === '' ? {} : JSON.parse(reply.text) };
  }
  const get = (path: string, key = admin) => call('GET', path, key);
  const change = (path: string, body: unknown, ifMatch = '*', key = admin) => call('PATCH', path, key, body, { 'if-match': ifMatch });
  async function make(path: string, body: unknown, headers: Headers = {}): Promise<Answer> {
    const answer = await call('POST', path, admin, body, headers);
    assert.equal(answer.status, 201, answer.text);
    return answer;
  }

  let made = 0;
  const fresh = (what: string) => {
    made += 1;
    return `${what}-${made}`;
  };
  /** Two at most. */
  async function noSigningKeys(): Promise<void> {
    const { body } = await get('/signing-keys');
    for (const { id } of body.signing_keys as { id: string }[]) await call('DELETE', `/signing-keys/${id}`, admin);
  }
  /** Makes what a part of a path names, in the workspace; one row for each name. */
  const RESOURCES: Readonly<Record<string, () => Promise<string>>> = {
    list: async () => (await make('/lists', { name: fresh('list') })).body.id,
    feed: async () => (await make('/feeds', { name: fresh('feed'), all_lists: true })).body.id,
    source: async () => (await make('/sources', { name: fresh('source'), url: 'https://lists.invalid/a' })).body.id,
    webhook: async () => (await make('/webhooks', { name: fresh('hook'), url: `${lists.url}/hook` })).body.id,
    signing_key: async () => {
      await noSigningKeys();
      return (await make('/signing-keys', {})).body.id;
    },
    key: async () => (await make('/keys', { permissions: ['feed:read'] })).body.id,
    kind: async () => 'access_rule',
    rule: async () => {
      const value = address();
      await makeBatch(value);
      return String((await get(`/rules?address=${value}`)).body.rules[0]!.id);
    },
    batch: () => makeBatch(address()),
    replacement: async () => (await make('/replacements', {})).body.id,
    snooze: async () => (await call('POST', '/attention/snoozes', admin, await putOff())).body.id,
    enrolment: async () => (await make('/enrolments', { name: fresh('host'), feed: 'default' })).body.id,
    // Made in approvals.test.ts.
    approval: async () => '0195a3c0-0000-7000-8000-0000000000fd',
    // One that is late is made in late.test.ts.
    answer: async () => '0195a3c0-0000-7000-8000-0000000000fe',
    letter: async () => {
      const stream = openSqliteStream(settings.DATA_DIR);
      await stream.publish([{ key: workspace, headers: { workspace_id: workspace }, value: fresh('{') }]);
      await stream.close();
      return eventually(async () => {
        const [letter] = (await get('/dead-letters')).body.dead_letters;
        assert.equal(letter?.value, `{-${made}`);
        return String(letter.id);
      });
    },
  };
  /** An address that no rule has. */
  const address = () => {
    made += 1;
    return `198.18.${made >> 8}.${made & 255}`;
  };
  /** Blocks an address; the batch that did it. */
  async function makeBatch(value: string): Promise<string> {
    const { status, body } = await call('POST', '/rules', admin, { value });
    // 202 on a busy machine.
    if (status !== 202) assert.equal(status, 200);
    else await eventually(async () => assert.equal((await get(`/batches/${body.batches[0]}`)).status, 200));
    return body.batches[0]!;
  }
  /** What puts off that guard rails are off, which they are then. */
  async function putOff(): Promise<Json> {
    const off = { protect: [], min_prefix_v4: 0, min_prefix_v6: 0 };
    assert.equal((await call('PATCH', '/workspace', admin, off, { 'if-match': '*' })).status, 200);
    return { key: 'guard_rails', reason: 'ticket 4711', expires_in: 3600 };
  }
  /** A list with a change that waits for its canaries. */
  async function waiting(): Promise<Json> {
    const { id: feed } = (await make('/lists', { name: fresh('list'), canary_keys: 'lab' })).body;
    assert.equal((await call('PATCH', `/lists/${feed}`, admin, { subtract_allow: 'on' }, { 'if-match': '*' })).status, 200);
    return { feed };
  }
  /** What a GET has to be asked with. */
  const QUERIES: Readonly<Record<string, string>> = {
    lookUp: '?target=192.0.2.1',
    findNamedRules: '?text=no',
    feedDifference: '?since=1s',
  };
  /** A body that an operation takes, where its first example names things that are there only in documents. */
  const BODIES: Readonly<Record<string, () => Promise<Json>>> = {
    createList: async () => ({ name: fresh('list') }),
    createFeed: async () => ({ name: fresh('feed'), all_lists: true }),
    freezeFeed: async () => ({ feed: await RESOURCES.list!() }),
    stopCanary: () => waiting(),
    promoteCanary: () => waiting(),
    thawFeed: async () => {
      const feed = await RESOURCES.list!();
      assert.equal((await call('POST', '/freeze', admin, { feed })).status, 200);
      return { feed };
    },
    createSigningKey: async () => {
      await noSigningKeys();
      return {};
    },
    createWebhook: async () => ({ name: fresh('hook'), url: `${lists.url}/hook` }),
    createSource: async () => ({ name: fresh('source'), url: 'https://lists.invalid/a' }),
    acceptSource: async () => ({}),
    discardSource: async () => ({}),
    trySource: async () => ({ url: 'https://lists.invalid/a' }),
    changeKey: async () => ({ name: fresh('key') }),
    changeFeed: async () => ({ format: 'commented' }),
    createEnrolment: async () => ({ name: fresh('host'), feed: 'default' }),
    createKey: async () => ({ permissions: ['feed:read'] }),
    applyWorkspaceFile: async () => ({ lists: [{ name: fresh('list') }] }),
    blockTarget: async () => ({ value: address() }),
    deleteRules: async () => ({ ids: [Number(await RESOURCES.rule!())] }),
    changeRules: async () => ({ ids: [Number(await RESOURCES.rule!())], set: { reason: fresh('reason') } }),
    splitBlocks: async () => {
      const value = address();
      await makeBatch(value);
      return { value };
    },
    undoBatches: async () => ({ batches: [await RESOURCES.batch!()] }),
    snoozeAttention: putOff,
    replayDeadLetters: async () => ({ ids: [Number(await RESOURCES.letter!())] }),
  };
  /** The id of what a request made: a resource, or a batch. */
  const madeBy = ({ body }: Answer): string | undefined => body.id ?? body.batches?.[0];
  const UNKNOWN = '0195a3c0-0000-7000-8000-0000000000ff';
  /** A source with a refresh that is held back. */
  async function heldSource(): Promise<string> {
    const path = `/${fresh('held')}`;
    lists.set(path, list(Array.from({ length: 9 }, (_, n) => `198.51.100.${n}\n`).join('')));
    const { id } = (await make('/sources', { name: fresh('source'), url: lists.url + path })).body;
    await eventually(async () => assert.equal((await get(`/sources/${id}`)).body.entries, 9));
    lists.set(path, list('203.0.113.7\n'));
    assert.equal((await call('POST', `/sources/${id}/refresh`, admin, {})).status, 202);
    await eventually(async () => assert.equal((await get(`/sources/${id}`)).body.state, 'held'));
    return String(id);
  }
  /** What a row needs in the place of what others do. */
  const OWN: Readonly<Record<string, () => Promise<string>>> = { acceptSource: heldSource, discardSource: heldSource };
  const names = ({ path }: Operation) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const target = (path: string, ids: Readonly<Record<string, string>>) => path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name]!);
  const unknownPath = (row: Operation) => target(row.path, Object.fromEntries(names(row).map((name) => [name, UNKNOWN])));
  const bodyOf = async ({ name, body, rawBody, examples = [] }: Operation) =>
    rawBody !== undefined ? `${address()}\n` : body === undefined ? undefined : ((await BODIES[name]?.()) ?? examples[0]);
  const preconditions = ({ edits }: Operation): Headers => (edits ? { 'if-match': '*' } : {});

  test('D15.1 401 without a key and with a wrong one, in the shape of signals', async () => {
    for (const row of OPERATIONS) {
      // So many wrong keys in a second are answered otherwise.
      for (const key of OPERATIONS.indexOf(row) % 12 === 0 ? ['', 'weir_wrong_key'] : ['']) {
        const { status, headers, text } = await call(row.method, unknownPath(row), key, await bodyOf(row));
        assert.deepEqual([row.name, status, headers['www-authenticate'], headers['cache-control']], [row.name, 401, 'Bearer', 'no-store']);
        assert.equal(text, '{"error":"Unauthorized","message":"Invalid or missing API key","code":401}');
      }
    }
  });

  test('D15.2 each operation takes the keys whose permissions include its own, and no others', async () => {
    const keys = new Map<Permission, string>();
    for (const permission of PERMISSIONS) keys.set(permission, await newKey(settings, workspace, '--permission', permission));
    const included = (held: Permission) => PERMISSIONS.filter((permission) => allows([held], permission));
    assert.deepEqual(included('manage'), ['manage', 'rules:read', 'rules:write']);
    assert.deepEqual(included('rules:write'), ['rules:read', 'rules:write']);
    for (const held of ['rules:read', 'keys:write', 'signal:write', 'feed:read', 'config:read'] as const)
      assert.deepEqual(included(held), [held]);
    for (const row of OPERATIONS) {
      for (const [held, key] of keys) {
        // Malformed beyond the permission: nothing is done.
        const { status, text } = await call(row.method, `${unknownPath(row)}?no_such_parameter=1`, key);
        const has = row.permission === null || allows([held], row.permission);
        const may = has && (row.role === undefined || ROLES[row.role].every((each) => allows([held], each)));
        assert.equal(status, may ? 400 : 403, `${row.name} with ${held}: ${text}`);
        if (!has) assert.match(text, new RegExp(`"The API key does not have the permission ${row.permission}"`));
      }
    }
  });

  test('D24.1 each operation takes the keys of the roles whose permissions include its own, and no others', async () => {
    for (const role of ROLE_NAMES) {
      const made = await make('/keys', { role });
      assert.deepEqual([made.body.role, made.body.permissions], [role, [...ROLES[role]]]);
      for (const row of OPERATIONS) {
        const { status } = await call(row.method, `${unknownPath(row)}?no_such_parameter=1`, String(made.body.key));
        assert.equal(status, row.permission === null || allows(ROLES[role], row.permission) ? 400 : 403, `${row.name} as ${role}`);
      }
    }
    assert.equal((await call('POST', '/keys', admin, { role: 'viewer', permissions: ['manage'] })).status, 400);
    const maker = await newKey(settings, workspace, '--permission', 'keys:write', '--permission', 'rules:read');
    assert.equal((await call('POST', '/keys', maker, { role: 'operator' })).status, 403);
  });

  test('D15.3 a key that is bound to a list or a feed manages nothing, and cannot hold what manages', async () => {
    const [list, feed] = [await RESOURCES.list!(), await RESOURCES.feed!()];
    const bound = [
      await newKey(settings, workspace, '--permission', 'rules:read', '--permission', 'feed:read', '--list', list),
      await newKey(settings, workspace, '--feed', feed),
    ];
    for (const row of OPERATIONS.filter((each) => !each.bound)) {
      for (const key of bound) {
        const { status, body } = await call(row.method, unknownPath(row), key, await bodyOf(row), preconditions(row));
        assert.deepEqual(
          [row.name, status, body.message],
          [row.name, 403, 'The API key is bound to one list or feed: it cannot manage the workspace'],
        );
      }
    }
    for (const permission of ['manage', 'rules:write', 'keys:write']) {
      const { status, body } = await call('POST', '/keys', admin, { permissions: [permission], list });
      assert.deepEqual([status, body.message], [400, `request a key bound to a list cannot have ${permission}`]);
    }
  });

  test("D15.1 what is another workspace's is as what is nowhere: 404, and nothing of it is in any answer", async () => {
    const ids: Record<string, string> = {};
    for (const [name, create] of Object.entries(RESOURCES)) ids[name] = await create();
    for (const row of OPERATIONS.filter((each) => names(each).length > 0)) {
      const body = await bodyOf(row);
      const foreign = await call(row.method, target(row.path, ids), stranger, body, preconditions(row));
      const nowhere = await call(row.method, unknownPath(row), stranger, body, preconditions(row));
      const plain = ({ text }: Reply) => Object.values(ids).reduce((all, id) => all.replaceAll(`\\"${id}\\"`, `\\"${UNKNOWN}\\"`), text);
      assert.deepEqual([row.name, foreign.status, plain(foreign)], [row.name, 404, nowhere.text]);
      assert.equal(nowhere.status, 404, row.name);
    }
    const own = [workspace, ...Object.values(ids).filter((id) => id.length === UNKNOWN.length)];
    for (const row of OPERATIONS.filter(({ method, path }) => method === 'GET' && !path.includes('{'))) {
      const { status, text } = await get(`${row.path}${QUERIES[row.name] ?? ''}`, stranger);
      assert.equal(status, 200, row.name);
      for (const id of own) assert.ok(!text.includes(id), `${row.name}: ${text}`);
    }
    for (const body of [{ list: ids.list }, { feed: ids.feed }]) {
      assert.equal((await call('POST', '/keys', stranger, { permissions: ['feed:read'], ...body })).status, 404);
    }
    assert.equal((await call('POST', '/feeds', stranger, { name: 'mine', lists: [ids.list] })).status, 404);
  });

  test('D15.5 D42.1 unknown parameters and fields, bodies that are no JSON object, too large or encoded are refused, and change nothing', async () => {
    const audited = (await get('/audit?limit=1')).body.entries[0]!.id;
    for (const row of OPERATIONS) {
      const path = unknownPath(row);
      const asked = await call(row.method, `${path}?limt=1`, admin, row.examples?.[0], preconditions(row));
      assert.deepEqual([row.name, asked.status, asked.body.details?.[0]?.field], [row.name, 400, 'limt']);
      if (row.method === 'GET') continue;
      const most = row.bodyBytes ?? 65_536;
      const large = await call(row.method, path, admin, 'x'.repeat(most + 1), preconditions(row));
      assert.deepEqual([row.name, large.status, large.body.message], [row.name, 413, `The body must be at most ${most} bytes`]);
      const encoded = await call(row.method, path, admin, '{}', { ...preconditions(row), 'content-encoding': 'gzip' });
      assert.deepEqual([row.name, encoded.status], [row.name, 415]);
      if (row.body === undefined) continue;
      for (const [body, field] of [
        ['{', 'body'],
        ['[]', 'body'],
        ['null', 'body'],
        ['{"no_such_field":1}', 'no_such_field'],
        ['{"__proto__":1}', '__proto__'],
        ['{"a":{"b":"\\"a\\":","a":[{"c":1}]},"\\u0061":2}', 'a'],
      ] as const) {
        const { status, body: fault } = await call(row.method, path, admin, body, preconditions(row));
        assert.deepEqual([row.name, body, status, fault.details[0]!.field], [row.name, body, 400, field]);
      }
      for (const field of Object.keys(row.body.properties)) {
        const wrong = (row.body.properties[field] as { type?: string }).type === 'object' ? 'text' : { wrong: true };
        const { status, body: fault } = await call(row.method, path, admin, { [field]: wrong }, preconditions(row));
        assert.equal(status, 400, `${row.name} ${field}`);
        assert.ok(
          fault.details.some((detail) => detail.field === field),
          `${row.name} ${field}: ${fault.message}`,
        );
      }
    }
    for (const [path, meant] of [
      ['/imports?dry_run=1', 'preview'],
      ['/imports?replace%3Dtrue', 'replace'],
    ]) {
      const { body } = await call('POST', path, admin, '192.0.2.1', {});
      assert.match(body.message, new RegExp(`did you mean ${meant}\\?$`), 'D42.1');
    }
    assert.equal((await get('/audit?limit=1')).body.entries[0]!.id, audited);
    const name = fresh('list');
    const twice = await call('POST', '/lists', admin, `{"name":"x","name":"${name}"}`);
    const unknown = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`name${n}`, n]));
    const many = await call('POST', '/lists', admin, unknown);
    assert.deepEqual([many.status, many.body.details.length], [400, 100], 'D15.5 no more rows than the document says');
    assert.deepEqual([twice.status, twice.body.details[0]], [400, { field: 'name', message: 'must be given once', value: null }]);
    // Null is no value of these.
    assert.equal((await make('/keys', { name: null, list: null, expires_in: null })).body.name, null);
    assert.equal((await make('/feeds', { name, all_lists: true, lists: null, format: null })).body.all_lists, true);
    assert.equal((await call('POST', '/lists', admin, { name: null })).body.details[0]!.message, 'is required');
    assert.equal((await call('POST', '/rules/delete', admin, { label: null, ids: null })).body.details[0]!.field, 'ids');
  });

  test('D15.4 404 and 405 need no key, 405 names the methods', async () => {
    for (const path of new Set(OPERATIONS.map((row) => row.path))) {
      const own = OPERATIONS.filter((row) => row.path === path).flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
      const { status, headers } = await call(
        'PUT',
        target(path, { list: 'x', feed: 'x', source: 'x', key: 'x', kind: 'x', rule: 'x', batch: 'x', letter: 'x', replacement: 'x' }),
        '',
      );
      assert.deepEqual([path, status, headers.allow], [path, 405, own.join(', ')]);
    }
    assert.deepEqual((await call('GET', '/nothing', '')).body, {
      error: 'NotFound',
      message: 'There is nothing at this address',
      code: 404,
    });
    const { status, text, headers } = await call('HEAD', '/lists', admin);
    assert.deepEqual([status, text], [200, '']);
    assert.ok(Number(headers['content-length']) > 100);
  });

  test('D47.12 a body that is nested too deeply is refused in words, by every operation with one', async () => {
    const deep = `{"name":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
    for (const path of ['/lists', '/keys', '/sources', '/expressions/check', '/rules/change', '/workspace/apply']) {
      const { status, body } = await call('POST', path, admin, deep);
      assert.deepEqual([status, body.details], [400, [{ field: 'body', message: 'has more than 64 levels', value: null }]], path);
    }
    const list = `[{"ip":"192.0.2.1","config":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}},{"ip":"192.0.2.2"}]`;
    const imported = await call('POST', '/imports?preview=1', admin, list);
    assert.deepEqual([imported.body.accepted, imported.body.errors], [1, [{ place: 'entry 0', message: 'has more than 64 levels' }]]);
  });

  test('D15.57 what is read is compressed, and 304 for who has it; what is edited has the tag of its state', async () => {
    const plain = await call('GET', '/targets', admin);
    const packed = await ask(server.url, '/v1/manage/targets', { headers: { ...bearer(admin), 'accept-encoding': 'gzip' } });
    assert.deepEqual([plain.headers['content-encoding'], packed.headers['content-encoding']], [undefined, 'gzip']);
    assert.ok(packed.headers.vary!.includes('Accept-Encoding'));
    assert.ok(Number(packed.headers['content-length']) < Number(plain.headers['content-length']));
    const { headers } = await call('GET', '/targets', admin);
    assert.match(headers.etag!, /^W\/"[\w-]{22}"$/);
    const again = await call('GET', '/targets', admin, undefined, { 'if-none-match': `"x", ${headers.etag}` });
    assert.deepEqual([again.status, again.text, again.headers.etag], [304, '', headers.etag]);
    assert.equal((await call('GET', '/targets', admin, undefined, { 'if-none-match': 'W/"x"' })).status, 200);
    const workspace = await call('GET', '/workspace', admin);
    assert.equal((await call('GET', '/workspace', admin, undefined, { 'if-none-match': workspace.headers.etag! })).status, 200);
  });

  test('D15.7, D15.53 every change is in the audit log: event, object, key, person, fields before and after', async () => {
    const { body: who } = await get('/whoami');
    for (const row of OPERATIONS.filter(({ audit }) => audit !== null)) {
      const ids: Record<string, string> = {};
      for (const name of names(row)) ids[name] = await (OWN[row.name] ?? RESOURCES[name])!();
      const body = await bodyOf(row);
      const restored = /^\/(lists|feeds)\/.*(?=\/restore$)/.exec(target(row.path, ids))?.[0];
      if (restored !== undefined) await call('DELETE', restored, admin, undefined, { 'if-match': '*' });
      const answer = await call(row.method, target(row.path, ids), admin, body, { ...preconditions(row), 'x-actor': 'Ren%C3%A9e' });
      assert.ok([200, 201, 202].includes(answer.status), `${row.name}: ${answer.text}`);
      const [entry] = (await get('/audit?limit=1')).body.entries;
      assert.deepEqual([entry!.event, entry!.key_id, entry!.actor], [row.audit, who.key_id, 'Renée'], row.name);
      assert.ok(answer.text.includes(entry!.object), row.name);
    }
    const { id } = (await make('/lists', { name: fresh('list'), max_entries: 5 })).body;
    await change(`/lists/${id}`, { max_entries: 6, format: 'fortinet' });
    const [entry] = (await get('/audit?limit=1')).body.entries;
    assert.deepEqual(
      [entry!.before, entry!.after],
      [
        { format: null, max_entries: 5 },
        { format: 'plain', max_entries: 6 },
      ],
    );
    await change(`/lists/${id}`, { description: 'é'.repeat(2048) });
    await change(`/lists/${id}`, { description: 'ö'.repeat(2048) });
    const [long] = (await get('/audit?limit=1')).body.entries;
    assert.deepEqual([long!.event, long!.before, long!.after], ['list changed', null, null]);
    // Names stand beside ids: of what was changed, of the key, and of the lists that a change names.
    const { name } = (await get(`/lists/${id}`)).body;
    assert.equal(long!.name, name);
    const feed = (await make('/feeds', { name: fresh('feed'), lists: [id] })).body;
    const [made] = (await get('/audit?limit=1')).body.entries;
    const { keys } = (await get('/keys?limit=1000')).body;
    const own = keys!.find((key: Json) => key.id === who.key_id)!;
    assert.deepEqual([made!.name, made!.key_name, made!.names], [feed.name, own.name ?? own.prefix, { [id]: name }]);
    const shown = await command(['audit', 'ls', '--workspace', workspace, '--event', 'feed created', '--limit', '1'], settings);
    assert.ok(shown.stdout.includes(`"${name}"`) && !shown.stdout.includes(id), shown.stdout);
    await command(['list', 'set', id, '--workspace', workspace, '--format', ''], settings);
    const [commanded] = (await get('/audit?limit=1')).body.entries;
    const { username } = userInfo();
    assert.deepEqual([commanded!.object, commanded!.key_id, commanded!.actor, commanded!.after], [id, null, username, { format: null }]);
    await command(['list', 'set', id, '--workspace', workspace, '--format', 'plain', '--actor', 'Renée'], settings);
    const found = await commandJson<Json[]>(
      ['audit', 'ls', '--workspace', workspace, '--by', 'Renée', '--object', id, '--limit', '1'],
      settings,
    );
    assert.deepEqual(
      found.map(({ event, actor, key_id, after }) => [event, actor, key_id, after]),
      [['list changed', 'Renée', null, { format: 'plain' }]],
    );
    for (const [query, events] of Object.entries({
      [`object=${id}&by=Ren%C3%A9e&since=1h`]: ['list changed'],
      [`object=${encodeURIComponent(String(name))}&event=changed&limit=2`]: ['list changed', 'list changed'],
      [`object=${id}&key=${who.key_id}&event=created`]: ['list created'],
      [`object=${id}&by=nobody`]: [],
    }))
      assert.deepEqual(
        (await get(`/audit?${query}`)).body.entries.map(({ event }) => event),
        events,
        query,
      );
    const first = (await get(`/audit?object=${id}&limit=1`)).body;
    assert.equal((await get(`/audit?object=${id}&limit=1&after=${first.next}`)).body.entries[0]!.event, 'list changed');
    assert.equal((await get('/audit?since=noon')).status, 400);
    const { stdout } = await command(['audit', 'ls', '--workspace', workspace, '--event', 'key created', '--since', '1h'], settings);
    assert.match(stdout, /^AT +EVENT +WHAT +BY +KEY +CHANGE\n(.* key created +.*\n)+$/);
    const [whole] = await commandJson<Json[]>(['audit', 'ls', '--event', 'organization created'], settings);
    assert.equal(whole!.event, 'organization created');
    const odd = await command(['list', 'set', id, '--workspace', workspace, '--format', '', '--actor', 'a\nb'], settings);
    assert.deepEqual([odd.code, /--actor must be a name/.test(odd.stderr)], [2, true]);
  });

  test('D28.2, D28.3, D28.5, D28.6, D28.9 a file is applied over HTTP: told first, its faults all at once, what goes only when that is confirmed', async () => {
    const { workspaceId, key } = await newTenant(
      settings,
      { organization: 'acme', workspace: fresh('file') },
      '--role',
      'admin',
      '--name',
      'own',
    );
    const of = (text: Answer) => (text.body.changes as { text: string }[]).map((change) => change.text);
    const apply = (query: string, body: unknown) => call('POST', `/workspace/apply${query}`, key, body);
    const file = {
      workspace: { min_prefix_v4: 8 },
      lists: [{ name: 'edge', description: null }],
      feeds: [{ name: 'fw', lists: ['edge'] }],
      keys: [{ name: 'fw', feed: 'fw' }],
    };
    const lines = ['~ workspace: min_prefix_v4 0 → 8', '+ list edge', '+ feed fw', '+ key fw'];
    const dry = await apply('?dry_run=1', file);
    assert.deepEqual([dry.status, dry.body.changed, dry.body.applied, dry.body.act, of(dry)], [200, true, false, null, lines]);
    assert.equal((await get('/lists', key)).body.lists.length, 1);
    const done = await apply('', file);
    assert.deepEqual([done.status, done.body.changed, done.body.applied, of(done)], [200, true, true, lines]);
    const [made] = done.body.keys as unknown as { key: string }[];
    assert.equal((await getFeed(server.url, made!.key, '/fw')).status, 200);
    const again = await apply('?prune=1', file);
    assert.deepEqual([again.body.changed, again.body.applied, again.body.keys, of(again)], [false, true, [], []]);
    const told = (await get('/workspace/file', key)).body;
    assert.deepEqual(told, {
      version: 1,
      workspace: { min_prefix_v4: 8 },
      lists: [{ name: 'default' }, { name: 'edge' }],
      sources: [],
      feeds: [{ name: 'fw', lists: ['edge'] }],
      keys: [
        { name: 'fw', permissions: ['feed:read'], feed: 'fw' },
        { name: 'own', role: 'admin' },
      ],
      webhooks: [],
    });
    const wrong = await apply('', { ...file, lists: [{ name: 'edge', max_entries: 0 }, { name: 1 }], sources: [{ name: 's', secret: 7 }] });
    assert.deepEqual(
      [wrong.status, wrong.body.details.map(({ field }) => field)],
      [400, ['lists[0].max_entries', 'lists[1].name', 'sources[0].secret']],
    );
    const meant = await apply('', {
      feeds: [{ name: 'fw' }, { name: 'gw', lists: ['none'] }],
      sources: [{ name: 's', secret_file: '/etc/shadow' }],
    });
    assert.deepEqual([meant.status, meant.body.details.map(({ field }) => field)], [400, ['sources[0].secret_file', 'feeds[1].lists']]);
    const refused = await apply('?prune=1', { feeds: [], keys: [] });
    assert.deepEqual(
      [refused.status, refused.body.message],
      [409, 'the file would delete or unset: - key fw and 1 more; see all with dry_run, apply with confirmed'],
    );
    const gone = await apply('?prune=1&confirmed=1', { feeds: [], keys: [] });
    // The key that asks stays.
    assert.deepEqual([gone.status, of(gone)], [200, ['- key fw', '- feed fw']]);
    assert.deepEqual(
      (await get('/lists', key)).body.lists.map(({ name }) => name),
      ['default', 'edge'],
    );
    const unset = await apply('?prune=1', { workspace: {} });
    assert.match(unset.body.message, /^the file would delete or unset: ~ workspace: min_prefix_v4 8 → 0; /);
    const many = await apply('?dry_run=1', { lists: Array.from({ length: 2501 }, (_, n) => ({ name: `l${n}` })) });
    assert.deepEqual([many.status, /^2501 entries exceed the limit of 2500/.test(many.body.message)], [409, true]);
    const ending = await newKey(settings, workspaceId, '--role', 'admin', '--expires-in', '3600');
    const longer = await call('POST', '/workspace/apply', ending, { keys: [{ name: 'longer', role: 'viewer' }] });
    assert.deepEqual([longer.status, longer.body.details[0]!.field], [400, 'keys[0].expires_at']);
    const almost = await newKey(settings, workspaceId, '--permission', 'manage', '--permission', 'keys:write');
    for (const path of ['/workspace/file', '/workspace/apply']) {
      const { status, body } = await call(path.endsWith('file') ? 'GET' : 'POST', path, almost, path.endsWith('file') ? undefined : {});
      assert.deepEqual([status, body.message], [403, 'The API key may not do all that the role admin may']);
    }
  });

  test('D15.6 X-Actor: any script, as it is or percent-encoded, at most 100 characters, no control characters', async () => {
    const actor = async (header: string) => {
      const { status, body } = await call('GET', '/whoami', admin, undefined, { 'x-actor': header });
      return status === 200 ? body.actor : body.message;
    };
    const raw = (text: string) => Buffer.from(text).toString('latin1');
    assert.equal(await actor(raw('Жанна')), 'Жанна');
    assert.equal(await actor(encodeURIComponent('ليلى 田中')), 'ليلى 田中');
    assert.equal(await actor(' '), null);
    assert.equal(await actor(encodeURIComponent('田'.repeat(100))), '田'.repeat(100));
    assert.equal(await actor(encodeURIComponent('田'.repeat(101))), 'X-Actor must be at most 100 characters');
    for (const bad of ['a%0Ab', 'a%00', '%C2%85', 'a%E2%80%AEb'])
      assert.equal(await actor(bad), 'X-Actor must not contain control characters');
    for (const bad of ['%', '%ff', '\xff']) assert.equal(await actor(bad), 'X-Actor must be UTF-8, raw or percent-encoded');
  });

  test('D15.8 pages have every item once, in order, and end; a place that is none is refused', async () => {
    for (let i = 0; i < 3; i += 1) {
      await RESOURCES.list!();
      await RESOURCES.feed!();
      await RESOURCES.key!();
    }
    for (const [path, name] of [
      ['/lists', 'lists'],
      ['/feeds', 'feeds'],
      ['/keys', 'keys'],
      ['/audit', 'entries'],
    ] as const) {
      const whole = (await get(`${path}?limit=1000`)).body;
      assert.equal(whole.next, null);
      const read: unknown[] = [];
      let next: string | null = '';
      for (let pages = 0; next !== null; pages += 1) {
        assert.ok(pages < 1000);
        const { body }: Answer = await get(`${path}?limit=7${next === '' ? '' : `&after=${encodeURIComponent(next)}`}`);
        assert.ok(body[name].length <= 7);
        read.push(...body[name]);
        next = body.next;
      }
      assert.deepEqual(
        read.map((item) => (item as Row).id),
        whole[name].map(({ id }) => id),
        path,
      );
      assert.deepEqual((await get(`${path}?after=x`)).body.details[0]!.field, 'after');
      for (const limit of ['0', '1001', 'a', '1.5', ''])
        assert.equal((await get(`${path}?limit=${limit}`)).status, 400, `${path} ${limit}`);
    }
  });

  test('D15.9 what is edited has an ETag, and a change without If-Match is 428, from another state 412 with the present one', async () => {
    for (const row of OPERATIONS.filter(({ edits }) => edits)) {
      const ids: Record<string, string> = {};
      for (const name of names(row)) ids[name] = await RESOURCES[name]!();
      const path = target(row.path, ids);
      const body = await bodyOf(row);
      const present = await get(path);
      const etag = present.headers.etag!;
      assert.match(etag, /^"[\w-]{22}"$/);
      assert.deepEqual([row.name, (await call(row.method, path, admin, body)).status], [row.name, 428]);
      const almost = `${etag.slice(0, -2)}${etag.at(-2) === '_' ? '-' : '_'}"`;
      for (const other of ['"x"', `W/${etag}`, 'x', `"x", ${almost}`]) {
        const refused = await call(row.method, path, admin, body, { 'if-match': other });
        assert.deepEqual([row.name, other, refused.status, refused.headers.etag], [row.name, other, 412, etag]);
        assert.deepEqual(refused.body.current, present.body);
      }
      assert.equal((await call(row.method, path, admin, body, { 'if-match': `"x", ${etag}` })).status, 200, row.name);
    }
  });

  test('D15.9 of two keys that edit the same list at once from the same state one is refused; its rules do not change the state', async () => {
    const { body, headers } = await make('/lists', { name: fresh('list') });
    const other = await newKey(settings, workspace, '--permission', 'manage');
    const path = `/lists/${body.id}`;
    await postSignals(server.url, admin, [{ type: 'access_rules', action: 'block', ip: '192.0.2.1' }], `/v1/signal?list=${body.id}`);
    await eventually(async () => assert.equal((await getFeed(server.url, admin, `/${body.id}`)).text, '192.0.2.1/32\n'));
    assert.equal((await get(path)).headers.etag, headers.etag);
    const both = await Promise.all([change(path, { max_entries: 1 }, headers.etag), change(path, { max_entries: 2 }, headers.etag, other)]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 412]);
    const [won, lost] = both.toSorted((a, b) => a.status - b.status);
    assert.deepEqual([(lost!.body.current as Json).max_entries, lost!.headers.etag], [won!.body.max_entries, won!.headers.etag]);
    assert.equal((await change(path, { max_entries: 3 }, lost!.headers.etag)).status, 200);
  });

  test('D15.11 with an Idempotency-Key a request is done once and answered the same; another request with it is 422', async () => {
    for (const row of OPERATIONS.filter(({ creates }) => creates)) {
      const body = await bodyOf(row);
      const token = fresh('token');
      const send = (given: unknown, key = admin) => call(row.method, row.path, key, given, { 'idempotency-key': token });
      const answers = await Promise.all([send(body), send(body), send(body)]);
      answers.push(await send(body));
      const statuses = answers.map(({ status }) => status);
      assert.deepEqual([row.name, new Set(statuses).size, new Set(answers.map(madeBy)).size], [row.name, 1, 1], answers[0]!.text);
      const count = (await get('/audit?limit=20')).body.entries.filter(
        ({ event, object }) => event === row.audit && object === madeBy(answers[0]!),
      );
      assert.equal(count.length, 1, row.name);
      assert.equal((await send(typeof body === 'string' ? `${body}\n` : `${JSON.stringify(body)} `)).status, 422, row.name);
      // It is the key's own.
      const elsewhere = await send(body, stranger);
      assert.notEqual(madeBy(elsewhere), madeBy(answers[0]!), row.name);
      for (const bad of ['', 'a b', 'x'.repeat(201), '\xe9']) {
        const { status, body: fault } = await call(row.method, row.path, admin, body, { 'idempotency-key': bad });
        assert.deepEqual([row.name, status, fault.details[0]!.field], [row.name, 400, 'Idempotency-Key']);
      }
    }
    const first = await call('POST', '/keys', admin, {}, { 'idempotency-key': 'key' });
    const again = await call('POST', '/keys', admin, {}, { 'idempotency-key': 'key' });
    assert.match(String(first.body.key), /^weir_[\w-]{43}$/);
    assert.deepEqual(again.body, { ...first.body, key: null });
    // What was refused is not remembered.
    const name = fresh('list');
    const feed = await make('/feeds', { name, all_lists: true });
    assert.equal((await call('POST', '/lists', admin, { name }, { 'idempotency-key': 'refused' })).status, 409);
    await call('DELETE', `/feeds/${feed.body.id}`, admin, undefined, { 'if-match': '*' });
    assert.equal((await call('POST', '/lists', admin, { name }, { 'idempotency-key': 'refused' })).status, 201);
  });

  test('D15.12 a key makes and revokes none that may do more than itself; its text is shown once', async () => {
    const { body: keeper } = await make('/keys', { name: 'keeper', permissions: ['keys:write', 'rules:write', 'feed:read'] });
    const key = String(keeper.key);
    const asKeeper = (body: unknown) => call('POST', '/keys', key, body);
    for (const permissions of [['rules:read'], ['rules:write', 'feed:read'], ['keys:write']]) {
      assert.equal((await asKeeper({ permissions })).status, 201, permissions.join());
    }
    for (const permissions of [['manage'], ['feed:read', 'signal:write'], ['config:read'], undefined]) {
      const { status, body } = await asKeeper({ ...(permissions && { permissions }) });
      assert.equal(status, 403);
      assert.match(body.message, /^the key would have the permission (manage|signal:write|config:read), which your own key lacks$/);
    }
    const { body: brief } = await make('/keys', { permissions: ['keys:write', 'feed:read'], expires_in: 3600 });
    const asBrief = (body: object) => call('POST', '/keys', String(brief.key), { permissions: ['feed:read'], ...body });
    for (const body of [{}, { expires_in: 7200 }]) {
      const { status, body: fault } = await asBrief(body);
      assert.equal(status, 403);
      assert.equal(fault.message, `the key would outlive your own key, which expires at ${brief.expires_at}: give expires_in`);
    }
    assert.equal((await asBrief({ expires_in: 60 })).status, 201);
    const { body: strong } = await make('/keys', { permissions: ['manage'], expires_in: 3600 });
    assert.equal((await call('DELETE', `/keys/${strong.id}`, key)).status, 403);
    assert.equal((await get('/whoami', String(strong.key))).status, 200);
    const { id, revoked } = (await call('DELETE', `/keys/${strong.id}`, admin)).body;
    assert.deepEqual([id, revoked], [strong.id, true]);
    await eventually(async () => assert.equal((await get('/whoami', String(strong.key))).status, 401));
    const { body: listed } = await get(`/keys/${strong.id}`);
    assert.ok(listed.revoked_at !== null && listed.expires_at !== null && !('key' in listed) && !('hash' in listed));
    assert.ok(!(await get('/keys?limit=1000')).text.includes(key));
  });

  test('D47.14 a key that is good from some networks makes, changes, applies and brings back none that is good from others', async () => {
    const own = ['127.0.0.0/8', '10.1.0.0/16'];
    const bound = String((await make('/keys', { role: 'admin', from: own })).body.key);
    const from = (networks?: string[]) => ({ permissions: ['feed:read'], ...(networks && { from: networks }) });
    const outside = [undefined, [], ['0.0.0.0/0'], ['10.0.0.0/8'], ['10.1.2.3', '192.0.2.1'], ['2001:db8::/32']];
    for (const networks of outside) {
      const { status, body } = await call('POST', '/keys', bound, from(networks));
      assert.deepEqual([status, /within 127\.0\.0\.0\/8, 10\.1\.0\.0\/16/.test(body.message)], [403, true], JSON.stringify(networks));
    }
    const inside = await call('POST', '/keys', bound, from(['10.1.0.0/17', '10.1.128.0/17', '127.0.0.1']));
    assert.equal(inside.status, 201);
    const { body: free } = await make('/keys', { name: fresh('key'), ...from() });
    const set = (id: string, body: object) => change(`/keys/${id}`, body, '*', bound);
    assert.equal((await set(inside.body.id, { from: [] })).status, 403);
    assert.equal((await set(inside.body.id, { name: 'renamed' })).status, 200);
    assert.equal((await set(free.id, { name: 'renamed' })).status, 403);
    const apply = (keys: object[], query = '') => call('POST', `/workspace/apply${query}`, bound, { keys });
    for (const keys of [
      [{ name: fresh('key') }],
      [{ name: fresh('key'), from: ['192.0.2.0/24'] }],
      [{ name: free.name, from: ['192.0.2.0/24'] }],
    ]) {
      const { status, body } = await apply(keys);
      assert.deepEqual([status, body.details?.[0]?.field], [400, 'keys[0].from'], JSON.stringify(keys));
    }
    assert.equal((await apply([{ name: fresh('key'), from: ['10.1.2.0/24'] }, { name: free.name }])).status, 200);
    assert.equal((await apply([{ name: free.name, from: ['10.1.2.0/24'] }])).status, 200);
    const { body: list } = await make('/lists', { name: fresh('list') });
    await make('/keys', { ...from(), list: list.id });
    assert.equal((await call('DELETE', `/lists/${list.id}?confirmed=1`, bound, undefined, { 'if-match': '*' })).status, 200);
    assert.equal((await call('POST', `/lists/${list.id}/restore`, bound, {})).status, 403);
    const back = await call('POST', `/lists/${list.id}/restore`, admin, {});
    assert.deepEqual([back.status, back.body.keys], [200, 1]);
    // People come from anywhere: it takes roles from them, and gives none.
    const people = (rows: string[], by: string) => change('/workspace', { people: rows }, '*', by);
    assert.equal((await people(['viewer=a', 'viewer=b'], admin)).status, 200);
    assert.match((await people(['viewer=a', 'viewer=c'], bound)).body.message, /the key is limited to .* and people are not/);
    const file = (rows: string[]) => call('POST', '/workspace/apply', bound, { workspace: { people: rows } });
    assert.equal((await file(['viewer=a', 'operator=a'])).status, 403);
    assert.equal((await file(['viewer=a'])).status, 200);
    assert.equal((await people([], bound)).status, 200);
  });

  test('D47.15 what has keys is deleted and brought back by who may change those keys alone', async () => {
    const keeper = String((await make('/keys', { permissions: ['manage', 'keys:write', 'feed:read'] })).body.key);
    const manager = String((await make('/keys', { permissions: ['manage', 'feed:read', 'signal:write'] })).body.key);
    const bare = { 'if-match': '*' };
    const removed = (path: string, key: string) => call('DELETE', `${path}?confirmed=1`, key, undefined, bare);
    for (const [path, body, word] of [
      ['/lists', {}, 'list'],
      ['/feeds', { all_lists: true }, 'feed'],
      ['/sources', { url: 'https://lists.invalid/a' }, 'list'],
    ] as const) {
      const { body: one } = await make(path, { name: fresh('thing'), ...body });
      const id = String(one.list_id ?? one.id);
      const restore = (key: string) => call('POST', `/${word}s/${id}/restore`, key, {});
      await make('/keys', { permissions: ['feed:read'], [word]: id });
      const refused = await removed(`${path}/${one.id}`, manager);
      assert.deepEqual([refused.status, refused.body.message], [403, '1 key would be revoked: this needs the permission keys:write']);
      assert.equal((await call('DELETE', `${path}/${one.id}?preview=1`, manager, undefined, bare)).status, 200);
      assert.equal((await removed(`${path}/${one.id}`, keeper)).status, 200);
      const kept = await restore(manager);
      assert.deepEqual([kept.status, kept.body.message], [403, '1 key would be valid again: this needs the permission keys:write']);
      assert.equal((await restore(keeper)).status, 200);
    }
    // One that may do more is neither revoked nor valid again with its list.
    const { body: list } = await make('/lists', { name: fresh('list') });
    await make('/keys', { permissions: ['signal:write'], list: list.id });
    assert.match((await removed(`/lists/${list.id}`, keeper)).body.message, /the permission signal:write, which your own key lacks/);
    assert.equal((await removed(`/lists/${list.id}`, admin)).status, 200);
    assert.match(
      (await call('POST', `/lists/${list.id}/restore`, keeper, {})).body.message,
      /the permission signal:write, which your own key lacks/,
    );
    const { body: lonely } = await make('/lists', { name: fresh('list') });
    assert.equal((await removed(`/lists/${lonely.id}`, manager)).status, 200);
    assert.equal((await call('POST', `/lists/${lonely.id}/restore`, manager, {})).status, 200);
  });

  test('D15.13 lists and feeds: what is set, by UUID or unique name, and the entries and cap of their feeds as they were built', async () => {
    const name = fresh('list');
    const { body: list, headers } = await make('/lists', { name, description: 'scanners', format: 'paloalto', max_entries: 2 });
    assert.equal(headers.location, `/v1/manage/lists/${list.id}`);
    assert.deepEqual(
      [list.workspace_id, list.default, list.description, list.format, list.max_entries],
      [workspace, false, 'scanners', 'plain', 2],
    );
    assert.deepEqual(list.feed, { built: [], stale_since: null, events: [] });
    assert.deepEqual((await get(`/lists/${name}`)).body, list);
    const composed = (await make('/feeds', { name: fresh('feed'), lists: [name, list.id], action: 'block' })).body;
    assert.deepEqual([composed.lists, composed.all_lists], [[list.id], false]);
    assert.equal((await call('POST', '/feeds', admin, { name })).status, 400);
    assert.equal((await call('POST', '/feeds', admin, { name: 'x', lists: [], all_lists: true })).status, 400);

    const block = (ip: string) => ({ type: 'access_rules', action: 'block', ip });
    await postSignals(server.url, admin, ['192.0.2.1', '192.0.2.4', '2001:db8::1'].map(block), `/v1/signal?list=${name}`);
    const polled = async (query: string) => (await getFeed(server.url, admin, `/${list.id}${query}`)).status;
    await eventually(async () => assert.equal(await polled(''), 413));
    assert.equal(await polled('?family=v6&format=csv_indicator'), 200);
    const { built, events } = (await get(`/lists/${list.id}`)).body.feed as { built: Json[]; events: Json[] };
    assert.deepEqual(
      built.map(({ built_at: at, ...rest }) => [typeof at, rest]),
      [
        [
          'string',
          {
            ...{ formats: ['plain', 'commented', 'set_elements', 'mikrotik'], family: 'both', action: 'block' },
            ...{ entries: 3, entry_limit: 2, cap_use_percent: 150, over_cap: true, left_out: null },
          },
        ],
        [
          'string',
          {
            ...{ formats: ['csv_indicator'], family: 'v6', action: 'block' },
            ...{ entries: 1, entry_limit: 2, cap_use_percent: 50, over_cap: false, left_out: null },
          },
        ],
      ],
    );
    assert.deepEqual(
      events.map(({ kind }) => kind),
      ['over_cap'],
    );

    const twin = (await make('/lists', { name })).body;
    assert.deepEqual([(await get(`/lists/${name}`)).status, (await change(`/lists/${name}`, {})).status], [409, 409]);
    const { id, deleted } = (await call('DELETE', `/lists/${twin.id}`, admin, undefined, { 'if-match': '*' })).body;
    assert.deepEqual([id, deleted], [twin.id, true]);
    assert.equal((await call('DELETE', '/lists/default', admin, undefined, { 'if-match': '*' })).status, 409);
    const renamed = await change(`/feeds/${composed.name}`, { all_lists: true, description: null });
    assert.deepEqual([renamed.body.all_lists, renamed.body.lists], [true, []]);
    assert.equal((await call('POST', '/lists', admin, { name: composed.name })).status, 409);
    assert.equal((await call('POST', '/lists', admin, { name: 'a\u0007b' })).body.details[0]!.field, 'name');
    // The command shows what the operation does.
    const [shown] = (await commandJson<Row[]>(['list', 'ls', '--workspace', workspace], settings)).filter(({ id }) => id === list.id);
    const { feed: _, ...answered } = (await get(`/lists/${list.id}`)).body;
    assert.deepEqual(shown, { ...answered, rules: 3 });
  });

  test('D29.6 D57.3 D57.5 D57.8 what a feed leaves out is in its answer, in a 304 too, over HTTP and in what a dry run tells before', async () => {
    const lists: string[] = [];
    for (const _ of [1, 2]) lists.push((await make('/lists', { name: fresh('list') })).body.name as string);
    const made = { name: fresh('feed'), lists, fit: 'lists', max_entries: 2 };
    const { name } = (await make('/feeds', made)).body;
    const send = (list: number, more = '') => {
      const entries = ['198.51.100.1', '198.51.100.4'].map((ip) => ({
        type: 'access_rules',
        action: 'block',
        ip: list === 0 ? ip : `${ip}0`,
      }));
      return postSignals(server.url, admin, entries, `/v1/signal?list=${lists[list]}${more}`);
    };
    await send(0);
    await eventually(async () => assert.equal((await getFeed(server.url, admin, `/${name}`)).headers['x-feed-entry-count'], '2'));
    const told = JSON.parse((await send(1, '&dry_run=1')).text).feeds.find((feed: Json) => feed.name === name);
    assert.deepEqual([told.entries_after, told.left_out.lists], [2, [{ name: lists[1], entries: 2 }]]);
    assert.match(told.warning, /^would leave out the list \S+ \(2 entries\), to keep within its cap of 2$/);
    await send(1);
    await eventually(async () => {
      const { status, headers } = await getFeed(server.url, admin, `/${name}`);
      assert.deepEqual([status, headers['x-feed-left-out'], headers['x-feed-entry-count']], [200, `${lists[1]};entries=2`, '2']);
      const conditional = { ...bearer(admin), 'if-none-match': headers.etag! };
      const again = await ask(server.url, `/v1/threat/feeds/${name}`, { headers: conditional });
      assert.deepEqual([again.status, again.headers['x-feed-left-out']], [304, `${lists[1]};entries=2`]);
    });
    const { built, events } = (await get(`/feeds/${name}`)).body.feed as { built: Json[]; events: Json[] };
    assert.deepEqual(built[0]!.left_out, { lists: [{ name: lists[1], entries: 2 }], min_sources: null, entries: null });
    assert.ok(events.some(({ kind }) => kind === 'left_out'));
    assert.match((await getFeed(server.url, admin, `/${name}?format=commented`)).text, /\n# left out: the list /);
    // The best entries instead: here the newest.
    await change(`/feeds/${name}`, { fit: 'best' });
    await eventually(async () => {
      const { headers, text } = await getFeed(server.url, admin, `/${name}`);
      assert.deepEqual([headers['x-feed-left-out'], text], ['lowest_rank;entries=2', '198.51.100.10/32\n198.51.100.40/32\n']);
    });
    const newer = JSON.parse((await send(0, '&dry_run=1')).text).feeds.find((feed: Json) => feed.name === name);
    assert.deepEqual([newer.entries_after, newer.left_out], [2, { lists: [], min_sources: null, entries: 2 }]);
    const { feeds } = (await get(`/lookup?target=198.51.100.1&feed=${name}`)).body as unknown as { feeds: (Json & { rules: Json[] })[] };
    const [{ verdict, rank, rules }] = feeds as [(typeof feeds)[number]];
    assert.deepEqual([verdict, rank, rules[0]!.effect, rules[0]!.idle], ['out', { rank: 4, limit: 2 }, 'none', 'left_out']);
    const served = (await get(`/lookup?target=198.51.100.40&feed=${name}`)).body.feeds as Json[];
    assert.deepEqual([served[0]!.verdict, served[0]!.rank], ['in', null]);
    // An unblock leaves an older rule, of a rank that is left out.
    for (const [list, ip] of [
      [0, '198.51.100.240/28'],
      [1, '198.51.100.70'],
      [1, '198.51.100.80'],
      [1, '198.51.100.241'],
    ] as const)
      assert.equal(
        (await postSignals(server.url, admin, [{ type: 'access_rules', action: 'block', ip }], `/v1/signal?list=${lists[list]}`)).text,
        '{"success":true,"message":"Processed 1 entries, 0 failed"}',
      );
    await eventually(async () =>
      assert.equal((await getFeed(server.url, admin, `/${name}`)).text, '198.51.100.80/32\n198.51.100.240/28\n'),
    );
    const [found] = (await get(`/lookup?target=198.51.100.241&feed=${name}`)).body.feeds as Json[];
    assert.deepEqual([found!.verdict, (found!.unblock as unknown as Json).verdict], ['in', 'out']);
    const unblock = { value: '198.51.100.241', action: 'unblock', list: lists[1], preview: true };
    const remaining = (await call('POST', '/rules', admin, unblock)).body.still_blocked as Json[];
    assert.deepEqual([remaining.some((feed) => feed.name === name), remaining.some((feed) => feed.name === lists[0])], [false, true]);
  });

  test('D15.14 the workspace: its guard rails and what its feed leaves out, beside those of the service', async () => {
    const { body, headers } = await change('/workspace', { protect: [], min_prefix_v4: 0 });
    assert.deepEqual((await get('/workspace')).body, body);
    assert.deepEqual([body.id, body.protect, body.min_prefix_v4, body.subtract_allow], [workspace, [], 0, 'off']);
    assert.deepEqual(body.service, { protect: [], min_prefix_v4: 0, min_prefix_v6: 0 });
    const changed = await change('/workspace', { protect: ['10.1.2.3/8', 'private', '10.0.0.0/8'], min_prefix_v4: 8 }, headers.etag);
    assert.deepEqual([changed.body.protect, changed.body.min_prefix_v4, changed.body.min_prefix_v6], [['10.0.0.0/8', 'private'], 8, 0]);
    assert.equal((await change('/workspace', { min_prefix_v6: 1 }, headers.etag)).status, 412);
    const bad = await change('/workspace', { protect: ['10.0.0.0/8', 'public'], min_prefix_v4: 33 });
    assert.deepEqual(
      bad.body.details.map(({ field, message }) => [field, message]),
      [
        ['protect.1', 'must be a network, or one of: private, special, self, peers'],
        ['min_prefix_v4', 'must be an integer from 0 to 32'],
      ],
    );
    const blocked = async () => (await postSignals(server.url, admin, [{ type: 'access_rules', action: 'block', ip: '10.1.1.1' }])).status;
    await eventually(async () => assert.equal(await blocked(), 206));
    assert.equal((await change('/workspace', { protect: [], min_prefix_v4: 0 })).status, 200);
  });

  test('D18.72, D18.73 what needs attention has a key, is put off with a reason, and is told to programs all the same', async () => {
    type Items = { readonly items: (Json & { readonly key: string; readonly snooze: (Json & { readonly id: string }) | null })[] };
    const item = async () => ((await get('/status')).body as unknown as Items).items.find(({ key }) => key === 'guard_rails')!;
    const put = (body: object, key = admin) => call('POST', '/attention/snoozes', key, body);
    const snooze = await putOff();
    for (const bad of [{ expires_in: 59 }, { expires_in: 2_592_001 }, { reason: '' }, { reason: 'x'.repeat(201) }])
      assert.equal((await put({ ...snooze, ...bad })).status, 400);
    assert.deepEqual([(await put({ ...snooze, key: 'geo/none' })).status, (await put(snooze)).status], [404, 200]);
    const { snooze: made } = await item();
    const { text, urgent, state } = await item();
    assert.deepEqual([made!.reason, urgent, state], ['ticket 4711', true, 'off']);
    assert.ok(((await get('/status')).body.attention as string[]).includes(String(text)));
    assert.equal((await call('DELETE', `/attention/snoozes/${made!.id}`, stranger)).status, 404);
    assert.equal((await call('DELETE', `/attention/snoozes/${made!.id}`, admin)).status, 200);
    assert.equal((await item()).snooze, null);
  });

  test('D47.10 new names have nothing that nobody sees; names that are there stay, and what has one can be changed', async () => {
    const unseen = ['\u202e', '\u2066', '\u200b', '\u200d', '\u200e', '\ufeff', '\u00ad', '\u3164', '\u{e0041}', '\u2028'];
    const made = async (path: string, more: object = {}) => (await make(path, { name: fresh('Größe 東京 🌊'), ...more })).body;
    const [list, feed] = [await made('/lists'), await made('/feeds', { all_lists: true })];
    const [hook, key] = [await made('/webhooks', { url: `${lists.url}/hook` }), await made('/keys')];
    const refused = async (answer: Promise<Answer>) => {
      const { status, body } = await answer;
      return [status, body.details?.map(({ field }) => field)];
    };
    for (const each of unseen) {
      const name = `a${each}b`;
      for (const [path, more] of [
        ['/lists', {}],
        ['/feeds', { all_lists: true }],
        ['/keys', {}],
        ['/webhooks', { url: `${lists.url}/hook` }],
        ['/sources', { url: 'https://lists.invalid/a' }],
      ] as const)
        assert.deepEqual(await refused(call('POST', path, admin, { name, ...more })), [400, ['name']], `${path} ${escape(name)}`);
      assert.deepEqual(await refused(change(`/keys/${key.id}`, { name })), [400, ['name']]);
      assert.deepEqual(await refused(change(`/webhooks/${hook.id}`, { name })), [400, ['name']]);
      assert.deepEqual(await refused(call('POST', '/workspace/apply', admin, { feeds: [{ name, all_lists: true }] })), [
        400,
        ['feeds[0].name'],
      ]);
    }
    // Such as an older version allowed them.
    const old = `old\u200b-${list.id}`;
    const database = new DatabaseSync(join(settings.DATA_DIR, 'weir.db'), PATIENT);
    for (const [table, id] of [
      ['lists', list.id],
      ['keys', key.id],
    ])
      database.prepare(`UPDATE ${table} SET name = ? WHERE id = ?`).run(old, id!);
    database.prepare("UPDATE webhooks SET settings = json_set(settings, '$.name', ?) WHERE id = ?").run(old, hook.id);
    database.close();
    assert.equal((await get(`/lists/${encodeURIComponent(old)}`)).body.name, old);
    assert.equal((await change(`/webhooks/${hook.id}`, { name: old, url: `${lists.url}/other` })).status, 200);
    assert.equal((await change(`/keys/${key.id}`, { name: old, from: ['10.0.0.0/8'] })).status, 200);
    const file = { lists: [{ name: old, description: 'old' }], webhooks: [{ name: old }] };
    assert.equal((await call('POST', '/workspace/apply', admin, file)).status, 200);
    for (const path of [`/webhooks/${hook.id}`, `/lists/${list.id}`, `/feeds/${feed.id}`, `/keys/${key.id}`])
      assert.equal(
        (await call('DELETE', `${path}?confirmed=1`.replace(/(keys|webhooks)(.*)\?.*/, '$1$2'), admin, undefined, { 'if-match': '*' }))
          .status,
        200,
        path,
      );
  });

  test('D47.1 another style or origin of a webhook needs its secret again: no style sends a signing secret as its routing key', async () => {
    const secret = 'signing-secret-of-soc';
    const { body: hook } = await make('/webhooks', { name: fresh('hook'), url: `${lists.url}/hook`, secret });
    const refused = async (body: object) => {
      const { status, body: said } = await change(`/webhooks/${hook.id}`, body);
      return [status, said.details?.map(({ field }: { field: string }) => field)];
    };
    assert.deepEqual(await refused({ style: 'pagerduty' }), [400, ['style']]);
    assert.deepEqual(await refused({ style: 'teams' }), [400, ['style']]);
    assert.deepEqual(await refused({ url: 'https://other.example/hook' }), [400, ['url']]);
    const routed = await change(`/webhooks/${hook.id}`, { style: 'pagerduty', secret: 'k'.repeat(32) });
    assert.deepEqual([routed.status, routed.body.style, routed.body.has_secret], [200, 'pagerduty', true]);
    assert.deepEqual(await refused({ style: 'weir' }), [400, ['style']]);
    assert.equal((await change(`/webhooks/${hook.id}`, { style: 'weir', secret: null, url: `${lists.url}/other` })).status, 200);
    assert.equal((await change(`/webhooks/${hook.id}`, { style: 'teams' })).status, 200);
    const apply = (entry: object) => call('POST', '/workspace/apply?dry_run=1', admin, { webhooks: [{ name: hook.name, ...entry }] });
    await change(`/webhooks/${hook.id}`, { secret });
    const applied = await apply({ style: 'weir' });
    assert.deepEqual([applied.status, applied.body.details![0]!.field], [400, 'webhooks[0].style']);
    assert.equal((await apply({ style: 'weir', secret })).status, 200);
    assert.equal((await apply({ name: hook.name, secret })).body.changed, false);
    assert.equal((await call('DELETE', `/webhooks/${hook.id}`, admin, undefined, { 'if-match': '*' })).status, 200);
  });

  test('D15.15 status and geo data, as far as they concern the workspace', async () => {
    await getFeed(server.url, admin);
    await getFeed(server.url, stranger);
    const { body } = await get('/status');
    assert.deepEqual(Object.keys(body).sort(), [
      ...[
        'attention',
        'dead_letters',
        'ending_keys',
        'engines',
        'failing_webhooks',
        'feeds',
        'frozen_feeds',
        'full_devices',
        'geo',
        'guard_rails_off',
        'items',
        'landing',
        'processes',
        'sources',
        'stopped',
      ],
      ...['unused_keys', 'urgent', 'waiting_approvals'],
    ]);
    assert.ok(body.feeds.length > 0 && body.feeds.every((feed) => feed.workspace_id === workspace));
    assert.deepEqual(
      [body.guard_rails_off, body.engines],
      [['edge'], { store: { kind: 'embedded', ok: true }, stream: { kind: 'embedded', ok: true } }],
    );
    const [own] = body.processes as Json[];
    assert.deepEqual([own!.pid, 'url' in own!], [server.pid, false]);
    const geo = (await get('/geo')).body as unknown as Record<string, Json>;
    assert.deepEqual([geo.country!.source, geo.asn!.source], ['operator', 'operator']);
    assert.ok(!JSON.stringify(geo).includes(folder));
    // A process beside it whose stream is away: what it says of that is for the operator.
    const checks = { store: { ok: true }, stream: { ok: false, reason: 'connect ECONNREFUSED 10.9.8.7:9092' } };
    const other = { pid: 1, url: 'http://10.9.8.7:1', roles: ['signals'], startedAt: 0, checks, feeds: [] };
    writeFileSync(join(settings.DATA_DIR, 'status-1.json'), JSON.stringify(other));
    await eventually(async () => {
      const { text } = await get('/status');
      assert.ok(text.includes('stream of process 1: see the log and /readyz for the reason'), text);
      assert.ok(!text.includes('10.9.8.7'), text);
    });
    rmSync(join(settings.DATA_DIR, 'status-1.json'));
  });

  test('D18.21, D18.22 a feed over its cap is told as it is stored; what is counted of a change starts from what is set', async () => {
    const { id } = (await make('/lists', { name: fresh('list'), format: 'commented', family: 'v4', max_entries: 1 })).body;
    for (const value of ['198.51.100.1', '198.51.100.4'])
      assert.ok((await call('POST', '/rules', admin, { value, list: id })).status < 300);
    await eventually(async () => {
      const { body } = await get(`/content?feed=${id}`);
      assert.deepEqual(
        [body.format, body.family, body.action, body.entries, body.over_cap, body.lines],
        ['commented', 'v4', 'block', 2, true, []],
      );
    });
    assert.equal((await get(`/content?feed=${id}&format=plain`)).body.format, 'plain');

    await change('/workspace', { subtract_allow: 'on' });
    for (const [value, action] of Object.entries({ '45.83.64.0/24': 'block', '45.83.64.7': 'allow' }))
      assert.ok((await call('POST', '/rules', admin, { value, action })).status < 300);
    await eventually(async () => {
      const { body } = await call('POST', '/measure', admin, { max_entries: 200_000 });
      const [was, will] = [body.before, body.after].map((size) => (size as Json).entries);
      // The /24 without one address is eight networks.
      assert.ok(Number(was) >= 8, String(was));
      assert.equal(will, was);
    });
    await change('/workspace', { subtract_allow: 'off' });
    const unknown = await call('POST', '/measure', admin, { lists: [UNKNOWN] });
    assert.deepEqual([unknown.status, unknown.body.message], [404, `there is no list "${UNKNOWN}"`]);
  });

  test('D53.1 D53.2 D53.3 the map of a feed counts the addresses of the bytes that are polled, also when it is empty or over its limit', async () => {
    const { id } = (await make('/lists', { name: fresh('map') })).body;
    const own = { subtract_allow: 'on', protect: ['10.0.0.0/8', '198.51.100.128/25'] };
    await change('/workspace', { protect: own.protect });
    const { id: feed } = (await make('/feeds', { name: fresh('feed'), lists: [id], subtract_allow: 'on', format: 'plain' })).body;
    const map = async (query = '') => (await get(`/address-space?feed=${feed}${query}`)).body as Json & Record<string, number[]>;
    const sum = (counts: readonly number[]) => counts.reduce((all, each) => all + each, 0);
    const empty = await map();
    assert.deepEqual([empty.entries, sum(empty.addresses!), empty.widest, empty.v6], [0, 0, [], []]);
    assert.deepEqual([empty.within, empty.child_prefix, sum(empty.protected!)], ['0.0.0.0/0', 8, 2 ** 24 + 128]);
    const values = [
      '45.83.64.0/22',
      '45.0.0.0/9',
      '198.51.100.0/24',
      '255.255.255.255',
      '0.0.0.0',
      '8.8.8.8',
      'NL',
      '2001:db8::/33',
      '2a00::/16',
    ];
    for (const value of values) {
      const { status, text } = await call('POST', '/rules', admin, {
        value,
        list: id,
        action: 'block',
      });
      assert.ok(status < 300, text);
    }
    assert.ok((await call('POST', '/rules', admin, { value: '45.83.65.77', list: id, action: 'allow' })).status < 300);
    const lines = async () => (await getFeed(server.url, admin, `/${feed}`)).text.trim().split('\n');
    const expected = (networks: readonly Network[], first: number, size: number) =>
      Array.from({ length: 256 }, (_, child) => {
        const [start, end] = [first + child * size, first + (child + 1) * size];
        const of = (each: Network & { family: 4 }) =>
          Math.max(0, Math.min(end, each.address + 2 ** (32 - each.prefix)) - Math.max(start, each.address));
        return sum(networks.map((each) => (each.family === 4 ? of(each) : 0)));
      });
    await eventually(async () => {
      const networks = networksOf(await lines());
      for (const [within, first, size] of [
        ['0.0.0.0/0', 0, 2 ** 24],
        ['45.0.0.0/8', 45 * 2 ** 24, 2 ** 16],
        ['45.83.0.0/16', 45 * 2 ** 24 + 83 * 2 ** 16, 2 ** 8],
        ['255.255.0.0/16', 2 ** 32 - 2 ** 16, 2 ** 8],
      ] as const) {
        const answer = await map(`&within=${within}`);
        assert.equal(answer.entries, networks.length);
        assert.deepEqual(answer.addresses, expected(networks, first, size), within);
        const inside = networks.filter((each) => each.family === 4 && each.address >= first && each.address < first + 256 * size);
        const widths = inside.map(({ prefix }) => 2 ** (32 - prefix)).toSorted((a, b) => b - a);
        const widest = answer.widest as unknown as { network: string; addresses: number; rules: number; widest_rules: Json[] }[];
        assert.deepEqual(
          widest.map(({ addresses }) => addresses),
          widths.slice(0, 10),
        );
        const polled = new Set(networks.map(formatNetwork));
        assert.ok(widest.every(({ network, rules }) => polled.has(network) && rules > 0));
      }
      assert.ok(networks.length > values.length);
    });
    const { widest, v6, never_block: allowed, rules } = await map('&within=45.0.0.0/8');
    const [first] = widest as unknown as { widest_rules: (Json & { id: number })[] }[];
    assert.deepEqual(
      first!.widest_rules.map(({ target }) => target),
      ['45.0.0.0/9'],
      'the rule that a block is of, also after exceptions',
    );
    const found = (await get(`/rules?address=45.0.0.0/9&match=exact`)).body.rules;
    assert.deepEqual(
      first!.widest_rules.map((each) => each.id),
      found.map((each) => each.id),
    );
    assert.equal(sum(allowed!), 1);
    assert.deepEqual([rules![83], sum(rules!)], [1, 1], 'the /9 is in none of the /16s');
    const v6Blocks = (v6 as unknown as { network: string; addresses: number; networks: number }[]).map((each) => [
      each.network,
      each.networks,
    ]);
    assert.deepEqual(v6Blocks.slice(0, 2), [
      ['2a00::/16', 1],
      ['2001:db8::/32', 1],
    ]);

    await change(`/feeds/${feed}`, { max_entries: 2 });
    await eventually(async () => assert.equal((await getFeed(server.url, admin, `/${feed}`)).status, 413));
    const over = await map();
    assert.deepEqual([over.over_cap, over.entry_limit], [true, 2]);
    assert.ok(over.addresses![45]! > 2 ** 22);
    await change(`/feeds/${feed}`, { max_entries: null, action: 'allow' });
    await eventually(async () => {
      const answer = await map();
      assert.deepEqual([answer.action, sum(answer.addresses!), sum(answer.protected!)], ['allow', 1, 0]);
    });
    await change('/workspace', { protect: [] });
    for (const within of ['45.0.0.0/9', '2001:db8::/32', 'x', '45.83.64.0/24']) {
      const { status, body } = await get(`/address-space?feed=${feed}&within=${within}`);
      assert.deepEqual([status, body.details[0]!.field], [400, 'within'], within);
    }
    assert.equal((await get(`/address-space?feed=${UNKNOWN}`)).status, 404);
    assert.equal((await get(`/address-space?feed=${feed}`, stranger)).status, 404);
    const many = await Promise.all(Array.from({ length: 40 }, () => get(`/address-space?feed=${feed}`)));
    const statuses = new Set(many.map(({ status }) => status));
    assert.ok(statuses.has(200) && statuses.isSubsetOf(new Set([200, 429])), [...statuses].join());
  });

  test('D53.4 the rules of each list by day, and what was done to them by the hour, are those that are there', async () => {
    await beforeMidnight();
    const name = fresh('list');
    const { id } = (await make('/lists', { name })).body;
    const ofList = async () => {
      const { body } = await get('/history/rules?days=3');
      return { body, own: (body.lists as Row[]).find((list) => list.id === id) as (Row & { rules: number[] }) | undefined };
    };
    const hour = ({ hours }: Json) => (hours as Json[]).at(-1)! as Record<string, number>;
    const before = hour((await ofList()).body);
    const values = Array.from({ length: 40 }, (_, i) => ({ type: 'access_rules', action: 'block', ip: `203.0.113.${i}` }));
    const { headers } = await postSignals(server.url, admin, values, `/v1/signal?list=${id}`);
    await eventually(async () => assert.deepEqual((await ofList()).own?.rules, [0, 0, 40]));
    const { body: made } = await ofList();
    assert.deepEqual([(made.days as string[]).length, (made.hours as Json[]).length], [3, 24]);
    assert.ok(hour(made).added! - (before.added ?? 0) >= 40);
    await call('POST', '/undo', admin, { batches: [headers['x-signal-batch']] });
    await eventually(async () => assert.deepEqual((await ofList()).own?.rules ?? [0, 0, 0], [0, 0, 0]));
    assert.ok(hour((await ofList()).body).removed! - (before.removed ?? 0) >= 40);
    await postSignals(server.url, admin, values.slice(0, 7), `/v1/signal?list=${id}`);
    await eventually(async () => assert.equal((await get(`/rules/count?list=${id}`)).body.rules, 7));
    assert.equal((await ofList()).own?.rules.at(-1), 7);
    const deleted = await call('DELETE', `/lists/${id}?confirmed=1`, admin, undefined, { 'if-match': '*' });
    assert.equal(deleted.status, 200, deleted.text);
    assert.equal((await ofList()).own, undefined);
    assert.equal((await get('/history/rules?hours=169')).status, 400);
  });

  test('D15.17 devices, bouncers and history of the workspace', async () => {
    await beforeMidnight();
    const { id } = (await make('/lists', { name: fresh('list') })).body;
    await postSignals(server.url, admin, [{ type: 'access_rules', action: 'block', ip: '192.0.2.9' }], `/v1/signal?list=${id}`);
    await eventually(async () => {
      const days = (await get(`/history?feed=${id}&days=2`)).body.days as Json[];
      assert.deepEqual(
        days.map(({ added, expired }) => [added, expired]),
        [[1, 0]],
      );
    });
    assert.ok(((await get('/history')).body.days as Json[]).length > 0);
    const foreign = await get(`/history?feed=${id}`, stranger);
    assert.deepEqual([foreign.status, foreign.body.message], [404, `there is no list or feed "${id}"`]);
    assert.deepEqual((await get('/bouncers?limit=2')).body, { bouncers: [], next: null });
    assert.deepEqual((await get('/devices?limit=2&key=x')).body, { devices: [], next: null });
    for (const path of ['/devices?after=%20', '/bouncers?after=x', '/history?days=0', '/history?days=367'])
      assert.equal((await get(path)).status, 400, path);
  });

  test('D42.10 parameters and fields of management take durations, numbers alone have the unit that they had', async () => {
    const { body } = await get('/activity?minutes=2h&step=1h');
    assert.deepEqual([body.step_minutes, (await get('/activity?minutes=120&step=60')).body.step_minutes], [60, 60]);
    for (const path of [
      '/history?days=1w',
      '/history?days=48h',
      '/rules?expires_before=7d&expires_from=90s',
      '/audit?since=90s',
      '/changes?since=2w',
    ])
      assert.equal((await get(path)).status, 200, path);
    const odd = await get('/history?days=36h');
    assert.deepEqual(
      [odd.status, odd.body.details[0]!.message],
      [400, 'must be an integer from 1 to 366, or a duration such as 90s, 12h, 7d'],
    );
    for (const path of ['/history?days=1y', '/activity?minutes=-1h', '/activity?minutes=31d', '/rules?expires_before=soon'])
      assert.equal((await get(path)).status, 400, path);
    const ends = async (expires_in: unknown) =>
      (await make('/keys', { expires_in })).body as unknown as { created_at: string; expires_at: string };
    for (const given of ['1h', 3600, '3600', '60m']) {
      const { created_at, expires_at } = await ends(given);
      assert.equal(Math.round((Date.parse(expires_at) - Date.parse(created_at)) / 1000), 3600, String(given));
    }
    const soon = await call('POST', '/keys', admin, { expires_in: 'soon' });
    assert.deepEqual([soon.status, soon.body.details[0]!.field], [400, 'expires_in']);
  });

  test('D32.1, D32.3 what has changed: rules, lists, keys and settings in one timeline, of one list too, in pages', async () => {
    const name = fresh('list');
    const { id } = (await make('/lists', { name })).body;
    const entry = { type: 'access_rules', action: 'block', ip: '192.0.2.77', description: 'ssh brute force' };
    await postSignals(server.url, admin, [entry, { ...entry, ip: '192.0.2.78' }], `/v1/signal?list=${id}`);
    await eventually(async () => assert.equal(((await get(`/changes?list=${id}&kind=rules`)).body.changes as Json[]).length, 1));
    const { rules } = (await get(`/rules?list=${id}&limit=1`)).body;
    const removed = await call('POST', '/rules/delete', admin, { ids: [rules[0]!.id] }, { 'x-actor': 'Jana' });
    assert.equal(removed.status, 200, removed.text);
    await call('PATCH', `/lists/${id}`, admin, { max_entries: 500 }, { 'if-match': '*' });
    const told = async (query: string, key = admin) => (await get(`/changes?${query}`, key)).body.changes as Json[];
    const words = (entries: readonly Json[]) =>
      new Set(entries.map(({ kind, event }) => `${kind} ${event}`).filter((each) => each !== 'settings workspace changed'));
    const all = await told(`list=${name}`);
    assert.deepEqual(words(all), new Set(['settings list changed', 'rules removed', 'rules added', 'lists list created']));
    const added = all.find(({ event }) => event === 'added')!;
    assert.deepEqual(
      [added.list_name, added.added, added.renewed, added.reason, added.batch_id === null],
      [name, 2, 0, 'ssh brute force', false],
    );
    const gone = all.find(({ event }) => event === 'removed')!;
    assert.deepEqual([gone.removed, gone.actor, gone.list_name], [1, 'Jana', name]);
    assert.deepEqual(all.find(({ kind }) => kind === 'settings')!.after, { max_entries: 500 });

    // The same, one by one.
    const whole = (await get('/changes?limit=1000')).body;
    const paged: Json[] = [];
    for (let after: string | null = ''; after !== null; ) {
      const { body, status } = await get(`/changes?limit=3${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`);
      assert.equal(status, 200);
      paged.push(...(body.changes as Json[]));
      after = body.next;
    }
    assert.deepEqual(paged, whole.changes);
    assert.ok(paged.every(({ at }, i) => i === 0 || String(at) <= String(paged[i - 1]!.at)));
    assert.equal((await told(`list=${name}&kind=keys`)).length, 0);
    assert.equal((await told('until=1h&since=2h')).length, 0);
    const known = whole.known_since as Json;
    assert.ok(String(known.rules) < String(whole.until));

    const reader = await newKey(settings, workspace, '--permission', 'rules:read');
    assert.deepEqual(words(await told(`list=${name}`, reader)), new Set(['rules removed', 'rules added']));
    assert.equal(((await get('/changes', reader)).body.known_since as Json).settings, null);
    for (const query of ['since=x', 'since=1h&until=2h', 'after=x', `feed=${id}&list=${id}`, 'kind=all'])
      assert.equal((await get(`/changes?${query}`)).status, 400, query);
    assert.equal((await get(`/changes?list=${id}`, stranger)).status, 404);
    const printed = await command(['changes', '--workspace', workspace, '--list', name], settings);
    assert.match(printed.stdout, new RegExp(`removed +${name} +1 removed .* Jana`));
  });

  test('D32.6 D42.7 what a feed had more and less is the difference of the bytes that were polled then', async () => {
    const random = seededRandom(326);
    const [one, two] = [(await make('/lists', { name: fresh('list') })).body, (await make('/lists', { name: fresh('list') })).body];
    const name = fresh('feed');
    const { id: feed } = (await make('/feeds', { name, lists: [one.id, two.id], subtract_allow: 'on', family: 'both' })).body;
    const moments: { readonly at: string; readonly lines: ReadonlySet<string> }[] = [];
    const target = () =>
      random.below(4) === 0
        ? `2001:db8::${random.below(8).toString(16)}`
        : `198.51.100.${random.below(8) * 8}/${random.pick([27, 29, 32])}`;
    for (let round = 0; round < 5; round += 1) {
      const entries = Array.from({ length: 6 }, () => {
        const rule = {
          target: { ip: target().replace(/\.(\d+)\/27$/, (_, last) => `.${Number(last) & 224}/27`) },
          action: random.below(5) === 0 ? 'allow' : 'block',
        };
        return { kind: 'access_rule', op: random.below(3) === 0 ? 'delete' : 'upsert', rule };
      });
      const { headers, status, text } = await postSignals(server.url, admin, entries, `/v2/signal?list=${random.pick([one.id, two.id])}`);
      assert.equal(status, 200, text);
      const batch = headers['x-signal-batch']!;
      await eventually(async () => assert.equal((await get(`/batches/${batch}`)).status, 200));
      if (round === 3) assert.equal((await call('POST', '/undo', admin, { batches: [batch] })).status, 200);
      await sleep(5);
      const at = new Date().toISOString();
      let lines = new Set<string>();
      // The second change of a feed within one second shows in the next.
      await eventually(async () => {
        lines = new Set((await getFeed(server.url, admin, `/${feed}`)).text.split('\n').filter((line) => line !== ''));
        const { body } = await get(`/content?feed=${feed}`);
        const { body: measured } = await call('POST', '/measure', admin, { feed });
        assert.deepEqual([lines.size, body.entries], [(measured.before as Json).entries, lines.size]);
      });
      moments.push({ at, lines });
    }
    const last = moments.length - 1;
    let named = 0;
    for (const [i, { at: since, lines: before }] of moments.entries()) {
      for (const { at: until, lines: after } of i === last ? [] : i === 0 ? [moments[1]!, moments[last]!] : [moments[i + 1]!]) {
        const { status, body } = await get(`/difference?feed=${name}&since=${since}&until=${until}`);
        assert.equal(status, 200, JSON.stringify(body));
        assert.deepEqual(
          [body.before, body.after],
          [before, after].map(({ size }) => ({ entries: size, over_cap: false })),
        );
        const [was, is] = [addressSet(networksOf(before)), addressSet(networksOf(after))];
        for (const [told, set] of [
          [body.added_networks, difference(is, was)],
          [body.removed_networks, difference(was, is)],
        ] as const) {
          const those = addressSet(networksOf(told as string[]));
          assert.ok(isEmpty(difference(those, set)) && isEmpty(difference(set, those)));
          named += (told as string[]).length;
          assert.equal((told as string[]).length, coalesceV4(set.v4).length + coalesceV6(set.v6).length, 'the fewest networks');
        }
      }
    }
    assert.ok(named > 5);
    const [first, final] = [moments[0]!, moments[last]!];
    const printed = await command(['feed', 'diff', name, '--workspace', workspace, '--since', first.at, '--until', final.at], settings);
    const { body } = await get(`/difference?feed=${name}&since=${first.at}&until=${final.at}&limit=0`);
    assert.match(printed.stdout, new RegExp(`^${body.added} networks more, ${body.removed} less$`, 'm'));
    assert.deepEqual([body.added_networks, body.settings_changed], [[], []]);
    await call('PATCH', `/feeds/${feed}`, admin, { subtract_allow: 'off' }, { 'if-match': '*' });
    const set = (await get(`/difference?feed=${name}&since=${first.at}`)).body.settings_changed as Json[];
    assert.deepEqual(
      set.map(({ event, name: of }) => [event, of]),
      [['feed changed', name]],
    );
    // Each moment is made by what was set then: what was set since changes nothing of what is known of it.
    const same = async (what: string) => {
      const { status, body: again } = await get(`/difference?feed=${name}&since=${first.at}&until=${final.at}`);
      assert.equal(status, 200, `${what}: ${JSON.stringify(again)}`);
      assert.deepEqual(
        [again.before, again.after, again.added, again.removed],
        [body.before, body.after, body.added, body.removed],
        `D42.7 ${what}`,
      );
      assert.ok((again.settings_changed as Json[]).length > 0, what);
    };
    await same('subtract_allow');
    await call('PATCH', `/feeds/${feed}`, admin, { lists: [two.id] }, { 'if-match': '*' });
    await same('lists');
    assert.equal((await call('DELETE', `/lists/${two.id}?confirmed=1`, admin, undefined, { 'if-match': '*' })).status, 200);
    const [, middle] = moments;
    const lost = await get(`/difference?feed=${name}&since=${middle!.at}&until=${final.at}`);
    assert.deepEqual(
      [lost.status, /was deleted, and its earlier rules are unknown/.test(lost.body.message)],
      [409, true],
      lost.body.message,
    );
    assert.equal((await call('POST', `/lists/${two.id}/restore`, admin, {})).status, 200);
    await same('a list that was deleted and restored');
    await call('PATCH', `/feeds/${feed}`, admin, { all_lists: true, max_entries: 1 }, { 'if-match': '*' });
    await same('all lists and the cap');
    const { body: guards } = await get('/workspace');
    await call('PATCH', '/workspace', admin, { protect: ['0.0.0.0/0', '::/0'] }, { 'if-match': '*' });
    await same('protected networks');
    assert.equal(((await get(`/difference?feed=${name}&since=${first.at}`)).body.after as Json).entries, 0, 'and by what is set now');
    await call('PATCH', '/workspace', admin, { protect: guards.protect }, { 'if-match': '*' });
    await call('PATCH', `/feeds/${feed}`, admin, { min_sources: 2 }, { 'if-match': '*' });
    const agreed = await get(`/difference?feed=${name}&since=${first.at}`);
    assert.deepEqual(
      [agreed.status, /earlier quorum of the feed cannot be reconstructed/.test(agreed.body.message)],
      [409, true],
      agreed.body.message,
    );
    await call('PATCH', `/feeds/${feed}`, admin, { min_sources: null, lists: [one.id] }, { 'if-match': '*' });
    assert.equal((await call('DELETE', `/lists/${one.id}?confirmed=1`, admin, undefined, { 'if-match': '*' })).status, 200);
    const cut = await get(`/difference?feed=${name}&since=${first.at}`);
    assert.deepEqual([cut.status, /was deleted/.test(cut.body.message)], [409, true], cut.body.message);
    const old = await get(`/difference?feed=${name}&since=8d`);
    assert.equal(old.status, 409);
    assert.match(old.body.message, /the feed's content at that time is no longer known: rule changes are stored since /);
  });

  test('D15.4 an inactive subscription is 402 in every operation', async () => {
    await command(['org', 'create', 'unpaid'], settings);
    const { key } = await newTenant(
      settings,
      { organization: 'unpaid', workspace: 'unpaid' },
      '--permission',
      'manage',
      '--permission',
      'keys:write',
    );
    await command(['org', 'set', 'unpaid', '--subscription', 'inactive'], settings);
    await eventually(async () => assert.equal((await get('/lists', key)).status, 402));
    for (const row of OPERATIONS) assert.equal((await call(row.method, unknownPath(row), key)).status, 402, row.name);
  });
});
