/** Keys, organizations, workspaces and lists over real HTTP (decisions, section 2; spec, section 5). */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { command, commandJson } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { ask, type Reply, readyz } from '../support/http.ts';
import { eventually, inSeconds, PATIENT, startWeir, type Weir, weir } from '../support/weir.ts';

type Json = Record<string, unknown>;
interface Key {
  readonly id: string;
  readonly key: string;
  readonly prefix: string;
  readonly permissions: string[];
  readonly expires_at: string;
}

const SIGNAL = '/v1/signal';
const DRY_RUN = '/v1/signal?dry_run=1';
const FEED = '/v1/threat/feeds';
const FEED_401 = '{"success":false,"error":"Unauthorized - invalid or missing API key","details":{}}';
const SIGNAL_401 = '{"error":"Unauthorized","message":"Invalid or missing API key","code":401}';
/** A change of a key or subscription is effective everywhere within this time, ms. */
const EFFECTIVE = 2000;

const bearer = (key: string) => `Bearer ${key}`;
const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;
const block = (ip: string) => [{ type: 'access_rules', action: 'block', ip }];

let sources = 0;
/** An address that no other request came from, for the limit on failed authentications. */
function source(): string {
  sources += 1;
  return `10.99.${sources >> 8}.${sources & 255}`;
}

interface Question {
  readonly key?: string;
  readonly authorization?: string;
  readonly method?: string;
  readonly body?: unknown;
  readonly from?: string;
}

/** GET of a feed, POST of a signal, unless told otherwise; comes from an address of its own. */
function askAs({ url }: Weir, path: string, { key, authorization, from = source(), ...given }: Question = {}): Promise<Reply> {
  const { method = path.startsWith(FEED) ? 'GET' : 'POST', body = method === 'POST' ? block('192.0.2.1') : undefined } = given;
  const headers = { 'x-forwarded-for': from, authorization: authorization ?? (key && bearer(key)) };
  return ask(url, path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
}
const statusOf = async (...question: Parameters<typeof askAs>) => (await askAs(...question)).status;

/** Resolves with the time it took until `status` was the answer on every path. */
async function turnsTo(status: number, server: Weir, key: string, paths: readonly string[] = [DRY_RUN, FEED]): Promise<number> {
  const began = performance.now();
  await eventually(async () => {
    for (const path of paths) assert.equal(await statusOf(server, path, { key }), status, path);
  }, EFFECTIVE + 500);
  return performance.now() - began;
}

suite('keys', () => {
  const folder = temporaryFolder({ after });
  const settings = { DATA_DIR: join(folder, 'data'), FEED_REBUILD_SECONDS: '0', TRUST_PROXY: '127.0.0.1', ...smallGeo(folder) };
  /** Two processes that were started at once on an empty data folder. */
  let main: Weir;
  let twin: Weir;
  let first: string;

  before(async () => {
    [main, twin] = await Promise.all([startWeir(settings), startWeir(settings)]);
  });
  after(() => Promise.all([main.kill('SIGKILL'), twin.kill('SIGKILL')]));

  const json = <T = Record<string, string>>(...args: string[]) => commandJson<T>(args, settings);
  const createKey = (workspace: string, ...options: string[]) => json<Key>('key', 'create', '--workspace', workspace, ...options);
  const createList = async (name: string, workspace = 'default') => (await json('list', 'create', name, '--workspace', workspace)).id;
  /** Content that changes twice in a second appears a second later (decisions, section 5: Last-Modified). */
  const feedIs = (expected: string, key: string, path = '') =>
    eventually(async () => assert.equal((await askAs(main, FEED + path, { key })).text, expected));

  test('D2.3 first start: one organization, workspace and list called default, one key, however many processes start at once', async () => {
    const shown = [main, twin].flatMap(({ output }) => /weir_[\w-]{43}/.exec(output().stdout)?.[0] ?? []);
    assert.equal(shown.length, 1);
    first = shown[0];
    const [organizations, workspaces] = [await json<Json[]>('org', 'ls'), await json<Json[]>('workspace', 'ls')];
    assert.deepEqual(
      organizations.map(({ name, subscription }) => [name, subscription]),
      [['default', 'active']],
    );
    assert.deepEqual(
      workspaces.map(({ name, organization_id }) => [name, organization_id]),
      [['default', organizations[0].id]],
    );
    const lists = await json<Json[]>('list', 'ls', '--workspace', 'default');
    assert.deepEqual(
      lists.map((list) => [list.name, list.default]),
      [['default', true]],
    );
    const keys = await json<Key[]>('key', 'ls', '--workspace', 'default');
    assert.deepEqual(
      keys.map(({ permissions }) => permissions),
      [['signal:write', 'feed:read', 'manage', 'rules:read', 'config:read', 'rules:write', 'keys:write']],
    );
    assert.ok(first.startsWith(keys[0].prefix));
    for (const server of [main, twin]) assert.equal(await statusOf(server, FEED, { key: first }), 200);
  });

  test('D2.2 key text: weir_ and 43 URL-safe characters, shown once; only its SHA-256 is stored', async () => {
    const made = await createKey('default', '--name', 'firewall');
    assert.match(made.key, /^weir_[A-Za-z0-9_-]{43}$/);
    assert.equal((await command(['key', 'ls', '--workspace', 'default', '--json'], settings)).stdout.includes(made.key), false);
    const stored = Buffer.concat(
      readdirSync(settings.DATA_DIR)
        .filter((name) => name.startsWith('weir.db'))
        .map((name) => readFileSync(join(settings.DATA_DIR, name))),
    );
    assert.ok(stored.includes(createHash('sha256').update(made.key).digest()));
    assert.ok(!stored.includes(made.key));
    assert.ok(!stored.includes(Buffer.from(made.key.slice('weir_'.length), 'base64url')));
  });

  test('D2.4, 5.2 permissions: signal:write, feed:read, manage; none given at creation means the first two', async () => {
    const usual = await createKey('default');
    assert.deepEqual(usual.permissions, ['signal:write', 'feed:read']);
    const [write, read, manage] = await Promise.all(
      ['signal:write', 'feed:read', 'manage'].map((permission) => createKey('default', '--permission', permission)),
    );
    for (const [{ key }, signal, feeds] of [
      [usual, 200, 200],
      [write, 200, 403],
      [read, 403, 200],
      [manage, 403, 403],
    ] as const) {
      assert.deepEqual(
        [await statusOf(main, SIGNAL, { key }), await statusOf(main, '/v2/signal?dry_run=1', { key, body: [] })],
        [signal, signal === 200 ? 400 : 403],
      );
      assert.deepEqual([await statusOf(main, FEED, { key }), await statusOf(main, `${FEED}/default`, { key })], [feeds, feeds]);
    }
    assert.equal(
      (await askAs(main, SIGNAL, { key: read.key })).text,
      '{"error":"Forbidden","message":"The API key does not have the permission signal:write","code":403}',
    );
    assert.equal(
      (await askAs(main, FEED, { key: write.key })).text,
      '{"success":false,"error":"The API key does not have the permission feed:read","details":{}}',
    );
  });

  test('5.4, D2.1 a key belongs to one workspace: its signals, its feed, its lists', async () => {
    await json('org', 'create', 'acme');
    await json('workspace', 'create', 'edge', '--org', 'acme');
    await json('workspace', 'create', 'core', '--org', 'acme');
    const [edge, core] = [(await createKey('edge')).key, (await createKey('core')).key];
    const coreList = await createList('core only', 'core');
    await askAs(main, SIGNAL, { key: edge, body: block('192.0.2.10') });
    await askAs(main, SIGNAL, { key: core, body: block('192.0.2.20') });
    await feedIs('192.0.2.10/32\n', edge);
    await feedIs('192.0.2.20/32\n', core);
    for (const list of [coreList, 'core%20only']) {
      assert.equal(await statusOf(main, `${FEED}/${list}`, { key: core }), 200);
      assert.equal(await statusOf(main, `${FEED}/${list}`, { key: edge }), 404);
      assert.equal(await statusOf(main, `${SIGNAL}?list=${list}`, { key: edge }), 404);
    }
  });

  test('D2.1, 4.4.4 the mark, not the name, makes the default list; it cannot be deleted; list names may repeat: 409', async () => {
    await json('workspace', 'create', 'names', '--org', 'default');
    const { key } = await createKey('names');
    const [{ id: marked }] = await json<{ id: string }[]>('list', 'ls', '--workspace', 'names');
    const namesake = await createList('default', 'names');
    await askAs(main, SIGNAL, { key, body: block('192.0.2.30') });
    await feedIs('192.0.2.30/32\n', key, `/${marked}`);
    await feedIs('', key, `/${namesake}`);
    const ambiguous = await askAs(main, `${FEED}/default`, { key });
    assert.equal(ambiguous.status, 409);
    assert.deepEqual((JSON.parse(ambiguous.text) as { details: { lists: string[] } }).details.lists.sort(), [marked, namesake].sort());
    assert.equal(await statusOf(main, `${SIGNAL}?list=default`, { key }), 409);
    assert.equal(await statusOf(main, `${SIGNAL}?list=${namesake}`, { key }), 200);
    const refused = await command(['list', 'delete', marked, '--workspace', 'names'], settings);
    assert.deepEqual([refused.code, refused.stdout], [2, '']);
    assert.match(refused.stderr, /^weir: .*default list.*\n$/);
    assert.equal(
      (await command(['list', 'delete', 'default', '--workspace', 'names'], settings)).code,
      2,
      'an ambiguous name deletes nothing',
    );
    await json('list', 'delete', namesake, '--yes', '--workspace', 'names');
    await feedIs('192.0.2.30/32\n', key, '/default');
  });

  test('D2.1, D47.10 names have 1 to 200 characters, none of them a control character or invisible', async () => {
    const longest = '\u{1F30A}'.repeat(200);
    const id = await createList(longest);
    assert.equal(await statusOf(main, `${FEED}/${encodeURIComponent(longest)}`, { key: first }), 200);
    await json('list', 'delete', id, '--yes', '--workspace', 'default');
    for (const name of ['', `${longest}x`, 'line\nbreak', 'tab\t', 'del\u007f', 'c1\u0085', 'bidi\u202e', 'zero\u200bwidth']) {
      for (const args of [
        ['list', 'create', name, '--workspace', 'default'],
        ['org', 'create', name],
        ['workspace', 'create', name, '--org', 'default'],
      ]) {
        const { code, stderr } = await command(args, settings);
        assert.equal(code, 2);
        assert.match(stderr, /^weir: (a name has|name must have) 1 to 200 characters, none of them a control character or invisible\n$/);
      }
    }
  });

  suite('a key bound to a list', () => {
    let workspaceKey: string;
    let bound: string;
    let own: string;
    let other: string;
    before(async () => {
      await json('workspace', 'create', 'bound', '--org', 'default');
      workspaceKey = (await createKey('bound')).key;
      [own, other] = [await createList('own', 'bound'), await createList('other', 'bound')];
      bound = (await createKey('bound', '--list', 'own')).key;
    });

    test('D2.4 a bound key: its access-rule signals land there; ?list= another is 403; other kinds are entry faults', async () => {
      assert.equal(await statusOf(main, SIGNAL, { key: bound, body: block('192.0.2.40') }), 200);
      await feedIs('192.0.2.40/32\n', workspaceKey, `/${own}`);
      await feedIs('', workspaceKey, '/default');
      for (const [list, status] of [
        [own, 200],
        ['own', 200],
        [other, 403],
        ['default', 403],
        ['nowhere', 403],
      ] as const) {
        assert.equal(await statusOf(main, `${SIGNAL}?list=${list}`, { key: bound, body: block('192.0.2.40') }), status, list);
      }
      const rule = { type: 'custom', expression: 'ip.src eq 192.0.2.1', action: 'block' };
      const mixed = await askAs(main, '/v2/signal', {
        key: bound,
        body: [
          ...['waf_rule', 'smart_firewall_rule'].map((kind) => ({ kind, op: 'upsert', rule_ref: 'r', rule })),
          { kind: 'waf_rule', op: 'delete', rule_ref: 'r' },
          { kind: 'access_rule', op: 'upsert', rule: { target: { ip: '192.0.2.41' } } },
        ],
      });
      assert.equal(mixed.status, 206);
      const { message, errors } = JSON.parse(mixed.text) as { message: string; errors: string[] };
      assert.equal(message, 'Processed 1 entries, 3 failed');
      for (const [i, error] of errors.entries()) assert.match(error, new RegExp(`^Entry ${i}: Schema validation failed: kind: `));
      await feedIs('192.0.2.40/31\n', workspaceKey, `/${own}`);
    });

    test('D2.4 a bound key reads that feed only: another list and the workspace feed are 403', async () => {
      for (const [path, status] of [
        [`/${own}`, 200],
        ['/own', 200],
        ['/other', 403],
        [`/${other}`, 403],
        ['/default', 403],
        ['/nowhere', 403],
        ['', 403],
      ] as const) {
        assert.equal(await statusOf(main, FEED + path, { key: bound }), status, path);
      }
    });

    test('D2.4 a bound key cannot hold manage', async () => {
      const args = ['key', 'create', '--workspace', 'bound', '--list', 'own', '--permission', 'feed:read', '--permission', 'manage'];
      const { code, stdout, stderr } = await command(args, settings);
      assert.deepEqual([code, stdout, stderr], [2, '', 'weir: a key bound to a list cannot have manage\n']);
    });

    test('D2.1, D2.8 deleting a list deletes its rules and revokes the keys bound to it, effective within 2 s', async () => {
      await askAs(main, SIGNAL, { key: workspaceKey, body: block('198.51.100.1') });
      await feedIs('192.0.2.40/31\n198.51.100.1/32\n', workspaceKey);
      const { code } = await weir(['list', 'delete', 'own', '--yes', '--workspace', 'bound'], settings);
      assert.equal(code, 0);
      await turnsTo(401, main, bound, [DRY_RUN, FEED, `${FEED}/own`, `${FEED}/${own}`]);
      await feedIs('198.51.100.1/32\n', workspaceKey);
      assert.equal(await statusOf(main, `${FEED}/own`, { key: workspaceKey }), 404);
      assert.equal(await statusOf(main, `${SIGNAL}?list=${own}`, { key: workspaceKey }), 404);
    });
  });

  test('5, D2.6 Bearer on both groups; Basic on feeds only: scheme in any case, split at the first colon, user exactly api', async () => {
    const cases: [string | undefined, signal: number, feed: number][] = [
      [bearer(first), 200, 200],
      [`bEaReR ${first}`, 200, 200],
      [basic(`api:${first}`), 401, 200],
      [basic(`api:${first}`).replace('Basic', 'bASIC'), 401, 200],
      [basic(`API:${first}`), 401, 401],
      [basic(`:${first}`), 401, 401],
      [basic(`${first}:api`), 401, 401],
      [basic(`api:x:${first}`), 401, 401],
      [basic(first), 401, 401],
      [bearer(`${first}x`), 401, 401],
      [bearer(first.slice(0, -1)), 401, 401],
      [bearer(first.toUpperCase()), 401, 401],
      [bearer(''), 401, 401],
      [`Digest ${first}`, 401, 401],
      [first, 401, 401],
      [undefined, 401, 401],
    ];
    for (const [authorization, signal, feeds] of cases) {
      assert.equal(await statusOf(main, SIGNAL, { authorization }), signal, authorization);
      assert.equal(await statusOf(main, FEED, { authorization }), feeds, authorization);
    }
  });

  test('5.1, D2.6, 7.2.2, 7.3 a 401 has the body of its group and the challenges in their form, and may not be cached', async () => {
    const answers = async (path: string, method: string) => {
      const response = await new Promise<IncomingMessage>((resolve) =>
        request(main.url + path, { method, headers: { 'x-forwarded-for': source() } }, resolve).end(),
      );
      const challenges = response.rawHeaders.filter((_, i, all) => i % 2 === 1 && all[i - 1].toLowerCase() === 'www-authenticate');
      return {
        status: response.statusCode,
        challenges,
        cache: response.headers['cache-control'],
        text: (await response.toArray()).join(''),
      };
    };
    for (const path of [SIGNAL, '/v2/signal']) {
      assert.deepEqual(await answers(path, 'POST'), { status: 401, challenges: ['Bearer'], cache: 'no-store', text: SIGNAL_401 });
    }
    const feedChallenges = ['Basic realm="threat-feed", charset="UTF-8"', 'Bearer'];
    for (const path of [FEED, `${FEED}/default`]) {
      assert.deepEqual(await answers(path, 'GET'), { status: 401, challenges: feedChallenges, cache: 'no-store', text: FEED_401 });
      assert.deepEqual(await answers(path, 'HEAD'), { status: 401, challenges: feedChallenges, cache: 'no-store', text: '' });
    }
  });

  test('4.1, D2.5 404 for an unknown path and 405 with Allow need no key', async () => {
    for (const [method, path, status, allow] of [
      ['GET', SIGNAL, 405, 'POST'],
      ['PUT', '/v2/signal', 405, 'POST'],
      ['HEAD', SIGNAL, 405, 'POST'],
      ['OPTIONS', SIGNAL, 405, 'POST'],
      ['POST', FEED, 405, 'GET, HEAD'],
      ['DELETE', `${FEED}/default`, 405, 'GET, HEAD'],
      ['POST', '/healthz', 405, 'GET, HEAD'],
      ['POST', '/v3/signal', 404, undefined],
      ['POST', '/v1/signal/', 404, undefined],
      ['GET', '/v1/threat', 404, undefined],
      ['GET', `${FEED}/a/b`, 404, undefined],
      ['GET', '/nowhere', 404, undefined],
    ] as const) {
      for (const key of [undefined, first]) {
        const answer = await askAs(main, path, { key, method, body: undefined });
        assert.deepEqual([answer.status, answer.headers.allow], [status, allow], `${method} ${path}`);
        assert.equal(answer.headers['cache-control'], 'no-store');
      }
    }
    const name = (answer: { text: string }) => (JSON.parse(answer.text) as { error: string }).error;
    assert.equal(name(await askAs(main, SIGNAL, { method: 'GET' })), 'MethodNotAllowed');
    assert.equal(name(await askAs(main, '/v3/signal')), 'NotFound');
    assert.equal((JSON.parse((await askAs(main, FEED, { method: 'PUT' })).text) as Json).success, false);
  });

  test('D2.5 authentication runs before the body is read', async () => {
    const { port } = new URL(main.url);
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.setEncoding('utf8').once('data', (text: string) => {
        resolve(text);
        socket.destroy();
      });
      socket.write(
        `POST ${SIGNAL} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${source()}\r\nAuthorization: Bearer wrong-key\r\nContent-Length: 1000000\r\n\r\n[`,
      );
    });
    assert.match(answer, /^HTTP\/1\.1 401 /);
  });

  suite('failed authentications', () => {
    /** How often each status was the answer to wrong keys that were sent at once. */
    async function attack(froms: readonly string[]): Promise<Record<number, number>> {
      const statuses = await Promise.all(froms.map((from) => statusOf(main, FEED, { key: 'wrong-key-wrong-key', from })));
      return Object.fromEntries([...new Set(statuses)].map((status) => [status, statuses.filter((each) => each === status).length]));
    }

    test('D2.7 failed authentications: 20 a second and address, then 429 with Retry-After; never against a valid key', async () => {
      const from = source();
      const valid: Promise<number>[] = [];
      for (let i = 0; i < 50; i += 1) valid.push(statusOf(main, FEED, { key: first, from }));
      const began = performance.now();
      const wrong = await attack(Array(200).fill(from));
      const seconds = (performance.now() - began) / 1000 + 2;
      valid.push(statusOf(main, FEED, { key: first, from }), statusOf(main, SIGNAL, { key: first, from }));
      assert.deepEqual([...new Set(await Promise.all(valid))], [200]);
      assert.deepEqual(Object.keys(wrong), ['401', '429']);
      assert.ok(wrong[401] >= 20 && wrong[401] <= 20 * seconds, `${wrong[401]} of 200`);
      assert.ok(wrong[429] > 0);
      const refused = await eventually(async () => {
        await attack(Array(30).fill(from));
        const answer = await askAs(main, FEED, { key: 'wrong-key-wrong-key', from });
        assert.equal(answer.status, 429);
        return answer;
      });
      assert.equal(refused.headers['retry-after'], '1');
      assert.deepEqual(JSON.parse(refused.text), { success: false, error: 'Too many failed authentications', details: {} });
    });

    test('D2.7 an IPv6 address counts with its /64', async () => {
      const network = Array.from({ length: 100 }, (_, i) => `2001:db8:7:7::${(i + 1).toString(16)}`);
      const networks = Array.from({ length: 100 }, (_, i) => `2001:db8:8:${(i + 1).toString(16)}::1`);
      await eventually(async () => assert.ok((await attack(network))[429] > 0));
      assert.deepEqual(await attack(networks), { 401: 100 });
    });

    test('D2.7 forwarded headers count only from the proxies of TRUST_PROXY', async () => {
      // The sources of this suite are taken from X-Forwarded-For; behind an address that is no proxy they would be one.
      assert.deepEqual(await attack(Array.from({ length: 100 }, source)), { 401: 100 });
      const lastHop = () => attack(Array.from({ length: 100 }, () => `${source()}, 203.0.113.9`));
      await eventually(async () => assert.ok((await lastHop())[429] > 0, 'the last hop that is no proxy'));
    });
  });

  suite('effective within 2 s in every process', { concurrency: 3 }, () => {
    test('D24.2 a key from elsewhere is a wrong key, byte for byte, and counts as one; what is changed counts within 2 s', async () => {
      const { id, key } = await createKey('default', '--from', '203.0.113.0/24', '--from', '2001:db8:9::/48');
      for (const path of [FEED, DRY_RUN]) {
        for (const from of ['203.0.113.7', '2001:db8:9::1']) assert.equal(await statusOf(main, path, { key, from }), 200, from);
        for (const from of ['203.0.114.7', '2001:db8:a::1', source()]) {
          const [known, unknown] = [await askAs(main, path, { key, from }), await askAs(main, path, { key: `${key.slice(0, -1)}!`, from })];
          const told = ({ status, headers, text }: Reply) => [status, { ...headers, date: undefined }, text];
          assert.deepEqual(told(known), told(unknown));
          assert.equal(known.status, 401);
        }
      }
      // 20 a second and address, then 429: where the key is good it is let in all the same.
      const from = source();
      const begun = performance.now();
      const answers = await Promise.all(Array.from({ length: 60 }, () => statusOf(main, FEED, { key, from })));
      if (performance.now() - begun < 900) assert.ok(answers.includes(429));
      assert.ok(answers.every((status) => status === 401 || status === 429));
      const used = await json<{ id: string; from: string[] }>('key', 'set', id, '--from', `${from}/32`);
      assert.deepEqual(used.from, [from]);
      for (const server of [main, twin]) {
        await eventually(async () => assert.equal(await statusOf(server, FEED, { key, from }), 200), EFFECTIVE + 500);
        assert.equal(await statusOf(server, FEED, { key, from: '203.0.113.7' }), 401);
      }
      await json('key', 'set', id, '--from', 'any');
      for (const server of [main, twin]) await turnsTo(200, server, key);
    });

    test('D2.8 a key revoked by the command line beside the servers: 401', async () => {
      const { id, key } = await createKey('default');
      for (const server of [main, twin])
        assert.deepEqual([await statusOf(server, SIGNAL, { key }), await statusOf(server, FEED, { key })], [200, 200]);
      const { code, stderr } = await weir(['key', 'revoke', id, '--yes'], settings);
      assert.deepEqual([code, stderr], [0, '']);
      for (const server of [main, twin]) await turnsTo(401, server, key);
      assert.ok(
        (await json<(Key & { revoked_at: string })[]>('key', 'ls', '--workspace', 'default')).find((each) => each.id === id)!.revoked_at,
      );
    });

    test('5.3, D2.8 a subscription that is not active: 402 in the body of the group; active again', async () => {
      await json('org', 'create', 'late payer');
      await json('workspace', 'create', 'late', '--org', 'late payer');
      const { key } = await createKey('late');
      for (const server of [main, twin]) assert.equal(await statusOf(server, FEED, { key }), 200);
      await json('org', 'set', 'late payer', '--subscription', 'inactive');
      for (const server of [main, twin]) await turnsTo(402, server, key);
      assert.deepEqual(JSON.parse((await askAs(main, SIGNAL, { key })).text), {
        error: 'PaymentRequired',
        message: 'The subscription of the organization is not active',
        code: 402,
      });
      assert.deepEqual(JSON.parse((await askAs(main, FEED, { key })).text), {
        success: false,
        error: 'The subscription of the organization is not active',
        details: {},
      });
      await json('org', 'set', 'late payer', '--subscription', 'active');
      for (const server of [main, twin]) await turnsTo(200, server, key);
    });

    test('5.1 an expired key: 401', async () => {
      const { key, expires_at } = await inSeconds(async (seconds) => {
        const made = await createKey('default', '--expires-in', String(seconds));
        const status = await statusOf(main, FEED, { key: made.key });
        if (Date.now() >= Date.parse(made.expires_at)) return undefined;
        assert.equal(status, 200);
        return made;
      });
      await sleep(Math.max(0, Date.parse(expires_at) - Date.now()));
      assert.deepEqual([await statusOf(main, SIGNAL, { key }), await statusOf(main, FEED, { key })], [401, 401]);
    });
  });

  test('D2.9, D1.3 while the store cannot be read /readyz says so, remembered keys are honoured, unknown ones get 500: never 401, 402, 403', async () => {
    const remembered = await createKey('default');
    const unseen = await createKey('default');
    assert.equal(await statusOf(main, FEED, { key: remembered.key }), 200);
    const rename = (from: string, to: string) => {
      const db = new DatabaseSync(join(settings.DATA_DIR, 'weir.db'), PATIENT);
      for (const table of ['counters', 'keys']) db.exec(`ALTER TABLE ${from}${table} RENAME TO ${to}${table}`);
      db.close();
    };
    rename('', 'lost_');
    await sleep(1100);
    assert.deepEqual(
      [await statusOf(main, SIGNAL, { key: remembered.key }), await statusOf(main, FEED, { key: remembered.key })],
      [200, 200],
    );
    await eventually(async () => {
      const { status, checks } = await readyz(main.url);
      assert.deepEqual([status, checks.store.ok, checks.stream.ok], [503, false, true]);
      assert.match(checks.store.reason!, /counters/);
    });
    for (const key of [unseen.key, 'wrong-key-wrong-key']) {
      const signal = await askAs(main, SIGNAL, { key });
      assert.deepEqual([signal.status, signal.text], [500, '{"error":"InternalServerError","message":"Internal server error","code":500}']);
      const feeds = await askAs(main, FEED, { key });
      assert.deepEqual([feeds.status, feeds.text], [500, '{"success":false,"error":"Internal server error","details":{}}']);
    }
    assert.equal(await statusOf(main, FEED), 401, 'no key at all is no question to the store');
    rename('lost_', '');
    await eventually(async () =>
      assert.deepEqual(
        [await statusOf(main, FEED, { key: unseen.key }), await statusOf(main, FEED, { key: 'wrong-key-wrong-key' })],
        [200, 401],
      ),
    );
  });
});

suite('limits and the bootstrap key', () => {
  const BOOTSTRAP = 'colons:in:it:';
  const folder = temporaryFolder({ after });
  const settings = {
    ...smallGeo(folder),
    DATA_DIR: join(folder, 'data'),
    BOOTSTRAP_API_KEY: BOOTSTRAP,
    RATE_LIMIT_SIGNALS: '3',
    RATE_LIMIT_FEEDS: '0',
  };
  let server: Weir;
  before(async () => {
    server = await startWeir(settings);
  });
  after(() => server.kill('SIGKILL'));
  const json = <T = Record<string, string>>(...args: string[]) => commandJson<T>(args, settings);

  test('D2.3 BOOTSTRAP_API_KEY exists with all permissions in workspace default; under 24 characters there is a warning', async () => {
    const [key, ...others] = await json<Key[]>('key', 'ls', '--workspace', 'default');
    assert.deepEqual(
      [key.permissions, others],
      [['signal:write', 'feed:read', 'manage', 'rules:read', 'config:read', 'rules:write', 'keys:write'], []],
    );
    assert.equal(server.output().stdout, `weir ready on ${server.url}\n`);
    await eventually(() => assert.match(server.output().stderr, /"level":"warn".*BOOTSTRAP_API_KEY is shorter than 24 characters/));
    assert.equal(await statusOf(server, SIGNAL, { key: BOOTSTRAP }), 200);
    assert.equal(
      await statusOf(server, FEED, { authorization: basic(`api:${BOOTSTRAP}`) }),
      200,
      'the password begins after the first colon',
    );
  });

  test('D2.13 no part of a key under 24 characters is stored or shown', async () => {
    const [{ prefix }] = await json<Key[]>('key', 'ls', '--workspace', 'default');
    assert.equal(prefix, '');
    const stored = readdirSync(settings.DATA_DIR).map((name) => readFileSync(join(settings.DATA_DIR, name)));
    assert.ok(!Buffer.concat(stored).includes(BOOTSTRAP.slice(0, 4)));
  });

  test('D2.14 a changed BOOTSTRAP_API_KEY: the start says which older one still works, by its id', async (t) => {
    const next = await startWeir({ ...settings, BOOTSTRAP_API_KEY: 'another-bootstrap-key-0123456789' });
    t.after(() => next.kill('SIGKILL'));
    const [{ id }] = await json<Key[]>('key', 'ls', '--workspace', 'default');
    const warning = new RegExp(
      `"level":"warn".*an older first key still works in addition to BOOTSTRAP_API_KEY: ${id}, made 20.*weir key revoke ${id}`,
    );
    await eventually(() => assert.match(next.output().stderr, warning));
    const said = next.output().stderr;
    assert.ok(!said.includes(BOOTSTRAP) && !said.includes('another-bootstrap'));
    assert.doesNotMatch(server.output().stderr, /older first key/, 'no other key was there at the first start');
  });

  test('D2.5, 8 requests per key and minute, then 429 with Retry-After; 0 is no limit; faults count as well', async () => {
    const { key } = await json<Key>('key', 'create', '--workspace', 'default');
    const statuses = [];
    for (const body of [block('192.0.2.1'), [], block('192.0.2.1'), block('192.0.2.1'), []])
      statuses.push(await statusOf(server, SIGNAL, { key, body }));
    assert.deepEqual(statuses, [200, 400, 200, 429, 429]);
    const refused = await askAs(server, '/v2/signal', { key });
    assert.deepEqual(JSON.parse(refused.text), { error: 'TooManyRequests', message: 'Too many requests', code: 429 });
    const wait = Number(refused.headers['retry-after']);
    assert.ok(Number.isInteger(wait) && wait >= 1 && wait <= 20, `three a minute: one within 20 s, not ${wait}`);
    for (let i = 0; i < 20; i += 1) assert.equal(await statusOf(server, FEED, { key }), 200, 'feeds have a limit of their own, here none');
    const other = await json<Key>('key', 'create', '--workspace', 'default');
    assert.equal(await statusOf(server, SIGNAL, { key: other.key }), 200, 'another key has a bucket of its own');
  });

  test('D2.5, 5 order of checks: 401, 429, 402, 403, then everything else', async () => {
    await json('org', 'create', 'unpaid', '--subscription', 'inactive');
    await json('workspace', 'create', 'unpaid', '--org', 'unpaid');
    const make = (workspace: string, ...options: string[]) => json<Key>('key', 'create', '--workspace', workspace, ...options);
    const question = (key: string) => askAs(server, `${SIGNAL}?list=nowhere`, { key, body: 'no batch' });
    const statuses = async (key: string, times: number) => {
      const all = [];
      for (let i = 0; i < times; i += 1) all.push((await question(key)).status);
      return all;
    };
    const unpaid = await make('unpaid', '--permission', 'feed:read');
    assert.deepEqual(await statuses(unpaid.key, 4), [402, 402, 402, 429], '402 before 403, 429 before 402');
    const reader = await make('default', '--permission', 'feed:read');
    assert.deepEqual(await statuses(reader.key, 4), [403, 403, 403, 429], '403 before 404 and 400');
    await json('key', 'revoke', unpaid.id);
    await eventually(async () => assert.equal((await question(unpaid.key)).status, 401, '401 before 429'), EFFECTIVE + 500);
    const writer = await make('default');
    assert.deepEqual(await statuses(writer.key, 3), [404, 404, 404]);
    const feeds = (key: string) => statusOf(server, `${FEED}/nowhere?format=none`, { key });
    assert.deepEqual(
      [
        await feeds((await make('unpaid', '--permission', 'manage')).key),
        await feeds((await make('default', '--permission', 'manage')).key),
      ],
      [402, 403],
    );
  });

  test('D2.3 a bootstrap key once revoked stays revoked; the last use of a key is kept', async () => {
    const [{ id }] = await json<Key[]>('key', 'ls', '--workspace', 'default');
    assert.equal(await statusOf(server, FEED, { key: BOOTSTRAP }), 200);
    await json('key', 'revoke', id, '--yes');
    await turnsTo(401, server, BOOTSTRAP, [FEED]);
    assert.equal(await server.kill('SIGTERM'), 0);
    const keys = await json<(Key & { last_used_at: string })[]>('key', 'ls', '--workspace', 'default');
    assert.ok(Date.now() - Date.parse(keys.find((each) => each.id === id)!.last_used_at) < 60_000);
    server = await startWeir({ ...settings, RATE_LIMIT_SIGNALS: '' });
    assert.equal(await statusOf(server, FEED, { key: BOOTSTRAP }), 401);
    assert.equal((await json<Key[]>('key', 'ls', '--workspace', 'default')).length, keys.length, 'and is not made anew');
  });

  test('D2.7 without TRUST_PROXY forwarded headers do not count', async () => {
    await eventually(async () => {
      const statuses = await Promise.all(Array.from({ length: 100 }, () => statusOf(server, FEED, { key: 'wrong-key-wrong-key' })));
      assert.deepEqual([...new Set(statuses)].sort(), [401, 429]);
    });
  });
});
