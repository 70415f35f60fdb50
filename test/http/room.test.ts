/** What one key may leave behind, over HTTP: each limit is told with its setting, and is the workspace's own. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, suite, test } from 'node:test';
import { PERMISSIONS } from '../../src/account/permission.ts';
import { command, newTenant } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { ask, bearer } from '../support/http.ts';
import { PATIENT, startWeir, type Weir } from '../support/weir.ts';

suite('room', () => {
  const folder = temporaryFolder({ after });
  const settings = {
    ...{ DATA_DIR: join(folder, 'data'), FEED_REBUILD_SECONDS: '0', RATE_LIMIT_MANAGE: '0', ...smallGeo(folder) },
    ...{ MAX_KEYS: '4', MAX_FEEDS: '2', MAX_AUDIT_MB: '1', MAX_ANSWERS_MB: '1' },
  };
  const all = PERMISSIONS.flatMap((permission) => ['--permission', permission]);
  let server: Weir;
  let admin: string;
  let neighbour: string;
  before(async () => {
    server = await startWeir(settings);
    await command(['org', 'create', 'acme'], settings);
    [admin, neighbour] = [
      (await newTenant(settings, { organization: 'acme', workspace: 'one' }, ...all)).key,
      (await newTenant(settings, { organization: 'acme', workspace: 'two' }, ...all)).key,
    ];
  });
  after(() => server.kill('SIGKILL'));

  const call = async (method: string, path: string, body?: unknown, { key = admin, ...headers }: Record<string, string> = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const reply = await ask(server.url, `/v1/manage${path}`, {
      method,
      headers: { ...bearer(key), ...headers },
      ...(body !== undefined && { body: text }),
    });
    return { status: reply.status, body: JSON.parse(reply.text || '{}') as { id: string; message: string } };
  };
  /** One that is made in both workspaces, again and again until it is refused in the first. */
  async function fill(
    make: (n: number, key: string) => Promise<{ status: number; body: { message: string } }>,
    most: number,
  ): Promise<string> {
    for (let n = 0; n <= most; n += 1) {
      const { status, body } = await make(n, admin);
      if (status === 409) {
        assert.ok((await make(0, neighbour)).status < 300, 'the other workspace has its own');
        return body.message;
      }
      assert.ok(status < 300, body.message);
    }
    throw new Error('never refused');
  }
  const rows = (text: string) => {
    using db = new DatabaseSync(join(settings.DATA_DIR, 'weir.db'), { readOnly: true, ...PATIENT });
    return db.prepare(text).all() as Record<string, number>[];
  };

  test('D22.3 keys and feeds made of lists: the limit and its setting are told; a key that is revoked makes room', async () => {
    const key = (_: number, of: string) => call('POST', '/keys', { permissions: ['feed:read'] }, { key: of });
    assert.equal(await fill(key, 10), 'the workspace has 4 keys, its limit: revoke one, or raise MAX_KEYS');
    for (let n = 0; n < 20; n += 1) {
      const listed = (await call('GET', '/keys')).body as unknown as {
        keys: { id: string; revoked_at: string | null; permissions: string[] }[];
      };
      assert.ok(listed.keys.length <= 4);
      const { id } = listed.keys.find(({ revoked_at, permissions }) => revoked_at === null && permissions.length === 1)!;
      assert.equal((await call('DELETE', `/keys/${id}`)).status, 200);
      assert.equal((await key(n, admin)).status, 201);
    }
    const feed = (n: number, of: string) => call('POST', '/feeds', { name: `feed ${n}`, all_lists: true }, { key: of });
    assert.equal(await fill(feed, 10), 'the workspace has 2 feeds made of lists, its limit: delete one, or raise MAX_FEEDS');
  });

  test('D22.2 answers that are kept: large ones end, requests without an Idempotency-Key go on, previews leave none', async () => {
    const entry = (n: number) => ({ kind: 'access_rule', op: 'upsert', rule: { target: { ip: `no address ${n}` } } });
    const faulty = JSON.stringify(Array.from({ length: 500 }, (_, n) => entry(n)));
    const send = (n: number, of: string, query = '') =>
      call('POST', `/imports${query}`, faulty, { key: of, 'content-type': 'application/json', 'idempotency-key': `t${n}` });
    for (let n = 0; n < 5; n += 1) assert.ok((await send(n, admin, '?preview=true')).status < 300);
    assert.deepEqual(rows('SELECT count(*) AS n FROM answers')[0]!.n, 0, 'previews are not remembered');
    const message = await fill(send, 300);
    assert.match(message, /^the stored responses to requests with an Idempotency-Key reached the limit of 1 MiB: .* MAX_ANSWERS_MB$/);
    assert.ok(rows("SELECT max(bytes) AS n FROM taken_bytes WHERE what = 'answers'")[0]!.n! < 1.3 * 1024 * 1024);
    assert.ok((await call('POST', '/imports', faulty, { 'content-type': 'text/plain' })).status < 300);
    assert.ok((await call('POST', '/imports', faulty, { 'content-type': 'application/json', 'idempotency-key': 't0' })).status < 500);
  });

  test('D22.2 the audit log: beyond its limit keys change nothing, but delete and revoke; commands go on', async () => {
    const list = (await call('POST', '/lists', { name: 'edge' })).body.id;
    const describe = (n: number, of: string) =>
      of === admin
        ? call('PATCH', `/lists/${list}`, { description: `${n % 2}${'x'.repeat(1900)}` }, { 'if-match': '*' })
        : call('POST', '/lists', { name: `other ${n}` }, { key: of });
    const message = await fill(describe, 400);
    assert.match(message, /^the audit log of the workspace reached the limit of 1 MiB: .* raise MAX_AUDIT_MB$/);
    assert.equal((await call('POST', '/rules', { value: '192.0.2.1' })).status, 409);
    assert.ok((await call('POST', '/rules', { value: '192.0.2.1', preview: true })).status < 300);
    assert.equal((await call('DELETE', `/lists/${list}`, undefined, { 'if-match': '*' })).status, 200);
    assert.equal((await command(['list', 'create', 'by command', '--workspace', 'one'], settings)).code, 0);
  });
});
