/** Codes with which hosts get a key (SPEC D52), on both stores. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, suite, test } from 'node:test';
import { MOST_CODES } from '../../src/account/enrolment.ts';
import { command, commandJson, commandText, newKey, newTenant } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { ask, bearer, getFeed } from '../support/http.ts';
import { administer, noPostgres, type Postgres, startPostgres } from '../support/postgres.ts';
import { eventually, KEY, startWeir, type Weir } from '../support/weir.ts';

interface Made {
  readonly id: string;
  readonly code: string | null;
  readonly command: string | null;
  readonly created_at: string;
  readonly expires_at: string;
}
type Audited = {
  readonly event: string;
  readonly object: string;
  readonly after: Record<string, unknown> | null;
  readonly key_name: string | null;
};
const FOREIGN = { 'x-forwarded-for': '198.51.100.7', 'x-forwarded-proto': 'https', host: 'weir.example.com' };

interface Opened {
  readonly settings: Record<string, string>;
  readonly weir: Weir;
  readonly sql: (text: string) => unknown;
}

function enrolments(engine: string, open: () => Promise<Opened>): void {
  let settings: Record<string, string>;
  let weir: Weir;
  let sql: Opened['sql'];
  before(async () => {
    ({ settings, weir, sql } = await open());
    for (const name of ['edge', 'doomed']) await commandText(['feed', 'create', name, '--all-lists', '--workspace', 'default'], settings);
    await commandText(['list', 'create', 'one', '--workspace', 'default'], settings);
  });
  after(() => weir.kill('SIGKILL'));
  const manage = async (method: string, path: string, body?: object, key = KEY, headers = {}) => {
    const reply = await ask(weir.url, `/v1/manage${path}`, {
      method,
      headers: { ...bearer(key), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: reply.status, body: JSON.parse(reply.text) };
  };
  const make = async (more: object = {}, key = KEY): Promise<Made & { code: string }> => {
    const { status, body } = await manage('POST', '/enrolments', { name: 'gw-1', feed: 'edge', ...more }, key);
    assert.equal(status, 201, JSON.stringify(body));
    return body;
  };
  const use = (code: string, headers = {}) => ask(weir.url, `/enroll/${code}`, { method: 'POST', headers });
  const keyIn = (text: string) => /^WEIR_API_KEY=(weir_[\w-]{43})$/m.exec(text)?.[1] ?? assert.fail(text);
  const audited = async () => (await manage('GET', '/audit?limit=20')).body.entries as Audited[];

  test(`D52.1 ${engine}: a code is stored as a hash, ends after ten minutes, and is returned once`, async () => {
    const made = await make({ driver: 'ipset' });
    assert.match(made.code, /^[\w-]{32}$/);
    assert.equal(made.command, `curl -fsS '${weir.url}/enroll/${made.code}' | sh -s -- --driver ipset`);
    assert.equal(Date.parse(made.expires_at) - Date.parse(made.created_at), 600_000);
    const listed = await manage('GET', '/enrolments');
    assert.equal(listed.body.enrolments[0].id, made.id);
    assert.doesNotMatch(JSON.stringify(listed.body), new RegExp(made.code));
    const [entry] = await audited();
    assert.deepEqual([entry!.event, entry!.object, entry!.after!.name], ['enrolment created', made.id, 'gw-1']);
    const headers = { 'idempotency-key': `once-${engine}` };
    const body = { name: 'twice', feed: 'edge' };
    const [first, again] = [
      await manage('POST', '/enrolments', body, KEY, headers),
      await manage('POST', '/enrolments', body, KEY, headers),
    ];
    assert.deepEqual([again.body.id, again.body.code, again.body.command], [first.body.id, null, null]);
    const line = (await commandText(['device', 'enroll', 'gw-2', '--feed', 'one', '--workspace', 'default'], settings)).split('\n')[2]!;
    assert.match(line, /^ {2}curl -fsS 'http:\/\/[^']+\/enroll\/[\w-]{32}' \| sh$/);
  });

  test(`D52.1 ${engine}: a key enrols no host that it could not give a key; bad input is named`, async () => {
    const everything = ['manage', 'keys:write', 'feed:read'].flatMap((each) => ['--permission', each]);
    const limited = await newKey(settings, 'default', ...everything, '--from', '127.0.0.0/8', '--expires-in', '1d');
    const weak = await newKey(settings, 'default', '--permission', 'keys:write');
    const reader = await newKey(settings, 'default', '--permission', 'feed:read');
    const body = { name: 'gw', feed: 'edge' };
    const statusOf = async (key: string, more = {}) => (await manage('POST', '/enrolments', { ...body, ...more }, key)).status;
    assert.deepEqual([await statusOf(reader), await statusOf(weak), await statusOf(limited)], [403, 403, 403]);
    assert.equal(await statusOf(limited, { from: ['192.0.2.1'], expires_in: 60 }), 403);
    assert.equal(await statusOf(limited, { from: ['127.0.0.1'], expires_in: 60 }), 201);
    assert.equal(await statusOf(KEY, { feed: 'nowhere' }), 404);
    for (const bad of [{ name: 'a\u202eb' }, { name: '' }, { from: ['x'] }, { driver: 'haproxy' }, { expires_in: 0 }, { feeds: 'edge' }])
      assert.equal(await statusOf(KEY, bad), 400, JSON.stringify(bad));
    const plain = await manage('POST', '/enrolments', body, KEY, { host: 'weir.example.com' });
    assert.deepEqual([plain.status, /over plain HTTP.*BASE_URL/.test(plain.body.message)], [409, true]);
  });

  test(`D52.2 ${engine}: the script is the same for every code of the right form, and does not use it`, async () => {
    const { code } = await make();
    const get = (path: string, method = 'GET', headers = {}) => ask(weir.url, path, { method, headers });
    const other = 'a'.repeat(32);
    const [real, made] = [await get(`/enroll/${code}`), await get(`/enroll/${other}`)];
    assert.deepEqual([real.status, real.text.replaceAll(code, other)], [200, made.text]);
    assert.deepEqual([real.headers['cache-control'], real.headers['content-type']], ['no-store', 'text/plain; charset=utf-8']);
    assert.match(real.text, new RegExp(`^url='${weir.url}'\ncode='${code}'$`, 'm'));
    assert.deepEqual([(await get(`/enroll/${code}`, 'HEAD')).status, (await get(`/enroll/${code}`, 'PUT')).status], [200, 405]);
    assert.match((await get(`/enroll/${code}`, 'GET', FOREIGN)).text, /^url='https:\/\/weir\.example\.com'$/m);
    for (const wrong of ['x', `${code}a`, `${code.slice(1)}'`, `${code.slice(3)}%27;`])
      assert.equal((await get(`/enroll/${wrong}`)).status, 404, wrong);
    assert.equal((await use(code)).status, 200);
  });

  test(`D52.3 ${engine}: of twenty requests with one code, one gets a key, and it reads this feed only`, async () => {
    const { code, id } = await make({ name: "o'brien $(id)" });
    const replies = await Promise.all(Array.from({ length: 20 }, () => use(code, { ...FOREIGN, 'x-forwarded-for': '203.0.113.20' })));
    const [won, ...more] = replies.filter(({ status }) => status === 200);
    assert.deepEqual([more.length, new Set(replies.map(({ status }) => status)).has(500)], [0, false]);
    assert.match(won!.text, /^WEIR_URL=https:\/\/weir.example.com\nWEIR_API_KEY=weir_[\w-]{43}\n$/);
    const key = keyIn(won!.text);
    assert.deepEqual([(await getFeed(weir.url, key, '/edge')).status, (await getFeed(weir.url, key, '/one')).status], [200, 403]);
    assert.equal((await manage('GET', '/keys', undefined, key)).status, 403);
    const entries = await audited();
    const used = entries.find(({ event, object }) => event === 'enrolment used' && object === id)!;
    assert.deepEqual([used.after!.name, used.after!.address], ["o'brien $(id)", '203.0.113.20']);
    assert.ok(entries.some(({ event, object }) => event === 'key created' && object === used.after!.key_id));
  });

  test(`D52.3 ${engine}: a code that is unknown, used, expired, revoked, of another host or of a deleted feed is refused alike`, async () => {
    const far = await make({ name: 'far', from: ['198.51.100.7'] });
    const [revoked, expired] = [await make(), await make()];
    await sql(`UPDATE enrolments SET expires_at = 1 WHERE id = '${expired.id}'`);
    const lost = await make({ feed: 'doomed' });
    assert.equal((await manage('DELETE', `/enrolments/${revoked.id}`)).status, 200);
    assert.equal((await manage('DELETE', `/enrolments/${revoked.id}`)).status, 404);
    await commandText(['feed', 'delete', 'doomed', '--workspace', 'default', '--yes'], settings);
    const permissions = ['manage', 'keys:write', 'feed:read'];
    const creator = (await manage('POST', '/keys', { name: 'creator', permissions })).body as { id: string; key: string };
    const orphan = await make({}, creator.key);
    assert.equal((await manage('DELETE', `/keys/${creator.id}`)).status, 200);
    const open = (await manage('GET', '/enrolments')).body.enrolments as { id: string }[];
    assert.deepEqual([open.some(({ id }) => id === orphan.id), open.some(({ id }) => id === far.id)], [false, true]);
    const replies = [];
    for (const code of ['b'.repeat(32), far.code, revoked.code, lost.code, expired.code, orphan.code])
      replies.push(await use(code, { ...FOREIGN, 'x-forwarded-for': '203.0.113.8' }));
    assert.deepEqual(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size, 1);
    assert.deepEqual([replies[0]!.status, /unknown, used or expired/.test(replies[0]!.text)], [404, true]);
    const key = keyIn((await use(far.code, FOREIGN)).text);
    assert.deepEqual([(await getFeed(weir.url, key, '/edge')).status, (await use(far.code, FOREIGN)).status], [401, 404]);
    const there = await ask(weir.url, '/v1/threat/feeds/edge', { headers: { ...bearer(key), 'x-forwarded-for': '198.51.100.7' } });
    assert.equal(there.status, 200);
  });

  test(`D52.4 ${engine}: a request over plain HTTP from elsewhere is refused, and does not use the code`, async () => {
    const { code } = await make();
    for (const proto of ['http', undefined]) {
      const headers = { ...FOREIGN, 'x-forwarded-proto': proto };
      for (const method of ['GET', 'POST']) {
        const { status, text } = await ask(weir.url, `/enroll/${code}`, { method, headers });
        assert.deepEqual([status, /^A host enrols only over https/.test(text)], [403, true]);
      }
    }
    assert.equal((await use(code, { host: "a'b" })).status, 403);
    assert.match((await use(code, FOREIGN)).text, /^WEIR_URL=https:\/\/weir\.example\.com$/m);
  });

  test(`D52.5 ${engine}: wrong codes are limited by address, and use no turn of another`, async () => {
    const { code } = await make();
    const guess = (address: string) => use('c'.repeat(32), { ...FOREIGN, 'x-forwarded-for': address });
    const statuses = (await Promise.all(Array.from({ length: 60 }, () => guess('203.0.113.9')))).map(({ status }) => status);
    assert.deepEqual([...new Set(statuses)].toSorted(), [404, 429]);
    assert.ok(statuses.filter((status) => status === 404).length <= 40);
    assert.equal((await use(code, { ...FOREIGN, 'x-forwarded-for': '203.0.113.10' })).status, 200);
  });

  test(`D52.8 ${engine}: a key for a feed is expected until its first request`, async () => {
    const { code } = await make({ name: 'expected-1' });
    const key = keyIn((await use(code)).text);
    const expected = async () =>
      ((await manage('GET', '/devices/expected')).body.devices as { key_name: string }[]).map((each) => each.key_name);
    assert.equal((await expected())[0], 'expected-1');
    assert.match(await commandText(['bouncer', 'ls', '--workspace', 'default'], settings), /^expected +- +expected-1 +edge +never seen/m);
    const agent = { 'x-api-key': key, 'user-agent': 'weir-follow/1 (gw; nftables)' };
    assert.equal((await ask(weir.url, '/v1/decisions/stream?startup=true', { headers: agent })).status, 200);
    await eventually(async () => assert.ok(!(await expected()).includes('expected-1')));
    assert.match(await commandText(['bouncer', 'ls', '--workspace', 'default'], settings), /^weir-follow\/1 .*expected-1/m);
  });

  test(`D52.1 ${engine}: a workspace has ${MOST_CODES} open codes at most, another one is not concerned`, async () => {
    const tenant = await newTenant(
      settings,
      { organization: 'default', workspace: 'other' },
      '--permission',
      'manage',
      '--permission',
      'keys:write',
      '--permission',
      'feed:read',
    );
    await manage('POST', '/feeds', { name: 'edge', all_lists: true }, tenant.key);
    const own = async () =>
      (await manage('POST', '/enrolments', { name: 'gw', feed: 'edge' }, tenant.key)).body as Made & { message?: string };
    for (let n = 0; n < MOST_CODES; n += 1) assert.ok((await own()).id);
    assert.match((await own()).message!, /100 open enrolment codes, its limit/);
    const codes = await commandJson<{ id: string }[]>(['device', 'codes', '--workspace', 'other'], settings);
    assert.equal(codes.length, MOST_CODES);
    await commandText(['device', 'revoke-code', codes[0]!.id, '--workspace', 'other'], settings);
    assert.ok((await own()).id);
    assert.ok((await make()).id);
    assert.equal((await command(['device', 'revoke-code', codes[1]!.id, '--workspace', 'default'], settings)).code, 2);
  });
}

const SETTINGS = { BOOTSTRAP_API_KEY: KEY, RATE_LIMIT_MANAGE: '0', TRUST_PROXY: '127.0.0.1', FEED_REBUILD_SECONDS: '0' };

suite('embedded', () => {
  const folder = temporaryFolder({ after });
  enrolments('embedded', async () => {
    const settings = { ...smallGeo(folder), ...SETTINGS, DATA_DIR: join(folder, 'data') };
    const weir = await startWeir(settings);
    const sql = (text: string) => {
      using db = new DatabaseSync(join(settings.DATA_DIR, 'weir.db'), { timeout: 5000 });
      db.exec(text);
    };
    return { settings, weir, sql };
  });
});

suite('PostgreSQL', { skip: noPostgres() }, () => {
  const folder = temporaryFolder({ after });
  let postgres: Postgres;
  after(() => postgres?.stop());
  enrolments('PostgreSQL', async () => {
    postgres = await startPostgres();
    const settings = { ...smallGeo(folder), ...SETTINGS, DATABASE_URL: await postgres.createDatabase(), DATA_DIR: join(folder, 'data') };
    return { settings, weir: await startWeir(settings), sql: (text) => administer(settings.DATABASE_URL, text) };
  });
});
