/** People who sign in to the console with a real provider of OpenID Connect, over HTTP, at two processes on each engine (SPEC D24). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { allows } from '../../src/account/permission.ts';
import { ROLE_NAMES, ROLES } from '../../src/account/role.ts';
import { OPERATIONS } from '../../src/manage/table.ts';
import { commandJson } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { ask, freePort, type Headers, type Reply } from '../support/http.ts';
import { CLIENT, startProvider, type TestProvider, Visitor, writeProvider } from '../support/openid.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { eventually, KEY, startWeir, type Weir } from '../support/weir.ts';

const PROOF = { 'x-weir-console': '1', 'sec-fetch-site': 'same-origin' };
/** What is done in one process counts in another within this time, ms. */
const EFFECTIVE = 2000;

interface Session {
  readonly actor: string;
  readonly person: string | null;
  readonly key_id: string | null;
  readonly permissions: string[];
  readonly workspace_id: string;
  readonly workspaces: { readonly id: string; readonly name: string; readonly role: string }[];
  readonly expires_at: string;
}

for (const engine of ['sqlite', 'postgres'] as const) {
  suite(`people on ${engine}`, { skip: engine === 'postgres' && noPostgres() }, () => {
    const folder = temporaryFolder({ after });
    const file = join(folder, 'oidc.json');
    let settings: Record<string, string>;
    /** Two processes of one service; browsers come back to the first. */
    let first: Weir;
    let second: Weir;
    let provider: TestProvider;
    const workspaces: Record<string, string> = {};
    let stop: () => Promise<void> = async () => {};

    before(async () => {
      const port = await freePort();
      const baseUrl = `http://127.0.0.1:${port}`;
      provider = await startProvider(baseUrl);
      Object.assign(provider.accounts, {
        ada: { name: 'Ada Lovelace', groups: ['staff', 'admins'] },
        olga: { name: 'Olga Operator', groups: ['soc'] },
        vera: { name: 'Vera Viewer', groups: ['readers'] },
        nobody: { name: 'Nobody', groups: ['elsewhere'] },
      });
      const roles = [
        { group: 'admins', role: 'admin', workspaces: ['*'] },
        { group: 'readers', role: 'viewer', workspaces: ['default'] },
      ];
      writeProvider(file, provider, { roles, sign_out_there: true });
      const database = engine === 'postgres' ? await startPostgres() : undefined;
      if (database !== undefined) stop = () => database.stop();
      settings = {
        ...smallGeo(folder),
        DATA_DIR: join(folder, 'data'),
        ...(database && { DATABASE_URL: await database.createDatabase() }),
        ...{ OIDC_FILE: file, BASE_URL: baseUrl, BOOTSTRAP_API_KEY: KEY, RATE_LIMIT_MANAGE: '0', FEED_REBUILD_SECONDS: '0' },
      };
      [first, second] = [await startWeir({ ...settings, PORT: String(port) }), await startWeir(settings)];
      const [{ id }] = await commandJson<{ id: string }[]>(['workspace', 'ls'], settings);
      workspaces.default = id;
      for (const name of ['edge', 'core']) {
        workspaces[name] = (await commandJson<{ id: string }>(['workspace', 'create', name, '--org', 'default'], settings)).id;
      }
      await commandJson(['workspace', 'set', 'edge', '--people', 'operator@main=soc', '--people', 'viewer=nowhere'], settings);
    });
    after(async () => {
      await Promise.all([first?.kill('SIGTERM'), second?.kill('SIGTERM')]);
      await provider?.goAway();
      await stop();
    });

    /** Goes to the provider and comes back to `at`; the answer there, and the address. */
    async function comeBack(
      person: string,
      visitor = new Visitor(),
      at: Weir = first,
    ): Promise<{ visitor: Visitor; address: string; answer: () => Promise<Reply> }> {
      const address = await visitor.signIn(provider, person, first.url);
      return { visitor, address, answer: () => visitor.open(address.replace(first.url, at.url), {}, first.url) };
    }
    async function signedIn(person: string, at: Weir = first): Promise<Visitor> {
      const { visitor, answer } = await comeBack(person, new Visitor(), at);
      const { status, text, headers } = await answer();
      assert.equal(status, 200, `${text} ${headers.location}`);
      return visitor;
    }
    const sessionAt = async (visitor: Visitor, at: Weir = first, headers: Headers = {}): Promise<Session | null> =>
      JSON.parse((await visitor.open(`${at.url}/console/session`, { headers }, first.url)).text).session;
    const asks = (
      visitor: Visitor,
      path: string,
      { method = 'GET', body, headers = {}, at = first }: { method?: string; body?: unknown; headers?: Headers; at?: Weir } = {},
    ) =>
      visitor.open(
        `${at.url}/v1/manage${path}`,
        { method, headers: { ...PROOF, ...headers }, ...(body !== undefined && { body: JSON.stringify(body) }) },
        first.url,
      );

    test('D24.3 D24.5 who comes back from the provider is signed in, here and in every process, until he signs out anywhere', async () => {
      const visitor = await signedIn('ada', second);
      const session = (await sessionAt(visitor))!;
      assert.deepEqual(
        [session.actor, session.person, session.key_id, session.permissions],
        ['Ada Lovelace', 'main:ada', null, [...ROLES.admin]],
      );
      assert.deepEqual(
        session.workspaces.map(({ name, role }) => [name, role]),
        [
          ['core', 'admin'],
          ['default', 'admin'],
          ['edge', 'admin'],
        ],
      );
      assert.deepEqual(await sessionAt(visitor, second), session);
      const out = await visitor.open(`${second.url}/console/session`, { method: 'DELETE', headers: PROOF }, first.url);
      assert.equal(out.status, 200);
      assert.equal(new URL(JSON.parse(out.text).leave).origin, provider.issuer);
      for (const at of [first, second]) {
        await eventually(async () => assert.equal(await sessionAt(visitor, at), null), EFFECTIVE);
      }
    });

    test('D24.4 D24.5 a person has the role of his groups in each workspace, and changes in his own name; a key cannot be of two', async () => {
      const olga = await signedIn('olga');
      const session = (await sessionAt(olga))!;
      assert.deepEqual(
        [session.workspaces, session.workspace_id],
        [[{ id: workspaces.edge, name: 'edge', role: 'operator' }], workspaces.edge],
      );
      const blocked = await asks(olga, '/rules', { method: 'POST', body: { value: '192.0.2.77' }, at: second });
      assert.ok([200, 202].includes(blocked.status), blocked.text);
      assert.equal((await asks(olga, '/lists', { method: 'POST', body: { name: 'mine' } })).status, 403);
      for (const foreign of [workspaces.core!, 'ffffffff-0000-4000-8000-000000000000', 'x', '']) {
        const { status, text } = await asks(olga, '/lists', { headers: { 'x-weir-workspace': foreign } });
        assert.deepEqual([status, JSON.parse(text).message], [403, 'You have no role in this workspace']);
      }
      // Where the console finds that its workspace is none of his any more, it is told of one that is.
      assert.equal((await sessionAt(olga, first, { 'x-weir-workspace': workspaces.core! }))!.workspace_id, workspaces.edge);

      const ada = await signedIn('ada');
      const inEdge = { 'x-weir-workspace': workspaces.edge! };
      const made = await asks(ada, '/lists', { method: 'POST', body: { name: `made on ${engine}` }, headers: inEdge });
      assert.equal(made.status, 201, made.text);
      const { entries } = JSON.parse((await asks(ada, '/audit', { headers: inEdge })).text);
      assert.deepEqual(
        entries.slice(0, 2).map(({ event, actor, person, key_id }: Record<string, unknown>) => [event, actor, person, key_id]),
        [
          ['list created', 'Ada Lovelace', 'main:ada', null],
          ['rule changed', 'Olga Operator', 'main:olga', null],
        ],
      );
      await eventually(async () => {
        const { batches } = JSON.parse((await asks(ada, '/batches', { headers: inEdge })).text);
        assert.deepEqual([batches[0].actor, batches[0].person, batches[0].key_id], ['Olga Operator', 'main:olga', null]);
      });
      const why = await asks(ada, '/lookup?target=192.0.2.77', { headers: inEdge });
      assert.match(why.text, /"person":"main:olga"/);
      const { people } = JSON.parse((await asks(ada, '/people', { headers: inEdge })).text);
      assert.deepEqual(people.map(({ id, name, role }: Record<string, unknown>) => [id, name, role]).sort(), [
        ['main:ada', 'Ada Lovelace', 'admin'],
        ['main:olga', 'Olga Operator', 'operator'],
      ]);

      // What the table says counts at the next request.
      const table = (rows: string[]) =>
        asks(ada, '/workspace', { method: 'PATCH', body: { people: rows }, headers: { ...inEdge, 'if-match': '*' } });
      assert.equal((await table(['viewer=soc'])).status, 200);
      assert.equal((await asks(olga, '/rules', { method: 'POST', body: { value: '192.0.2.78' }, at: second })).status, 403);
      assert.equal((await asks(olga, '/lists', { at: second })).status, 200);
      assert.equal((await table([])).status, 200);
      assert.equal((await asks(olga, '/lists')).status, 403);
      assert.equal(await sessionAt(olga), null);
      assert.equal((await table(['operator@other=soc'])).status, 200);
      assert.equal(await sessionAt(olga), null, "another provider's group");
      const wrong = await table(['operator=soc', 'owner=soc']);
      assert.deepEqual([wrong.status, JSON.parse(wrong.text).details[0].field], [400, 'people.1']);
      assert.equal((await table(['operator@main=soc'])).status, 200);
      assert.equal((await sessionAt(olga))!.actor, 'Olga Operator');

      // A key without the rights of a role gives it to nobody.
      const key = await commandJson<{ key: string }>(['key', 'create', '--workspace', 'edge', '--permission', 'manage'], settings);
      const given = await ask(first.url, '/v1/manage/workspace', {
        method: 'PATCH',
        headers: { authorization: `Bearer ${key.key}`, 'if-match': '*' },
        body: JSON.stringify({ people: ['operator@main=soc', 'admin=everybody'] }),
      });
      assert.deepEqual([given.status, JSON.parse(given.text).message.slice(0, 36)], [403, 'the role would have the permission s']);
    });

    test('D24.5 every operation is for the roles that may do it, in the workspaces where a person has one, and with the proof of the console', async () => {
      for (const [person, role] of [
        ['ada', 'admin'],
        ['olga', 'operator'],
        ['vera', 'viewer'],
      ] as const) {
        const visitor = await signedIn(person);
        const own = (await sessionAt(visitor))!.workspace_id;
        const others = Object.values(workspaces).filter((id) => role !== 'admin' && id !== own);
        for (const row of OPERATIONS) {
          const path = `${row.path.replace(/\{\w+\}/g, '0195a3c0-0000-7000-8000-0000000000ff')}?no_such_parameter=1`;
          const { status } = await asks(visitor, path, { method: row.method, headers: { 'x-weir-workspace': own } });
          const may = row.permission === null || allows(ROLES[role], row.permission);
          assert.equal(status, may ? 400 : 403, `${row.name} as ${role}`);
          for (const foreign of others.slice(0, 1)) {
            const { status: there, text } = await asks(visitor, path, { method: row.method, headers: { 'x-weir-workspace': foreign } });
            assert.deepEqual([row.name, there, JSON.parse(text).message], [row.name, 403, 'You have no role in this workspace']);
          }
          if (row.method === 'GET') continue;
          const forged = await asks(visitor, path, { method: row.method, headers: { 'sec-fetch-site': 'cross-site' } });
          assert.deepEqual([row.name, forged.status], [row.name, 403]);
        }
      }
      assert.deepEqual(ROLE_NAMES.length, 3);
    });

    test('D24.6 D47.6 D47.7 D47.8 D47.9 who is signed out at the provider is so here, in every process: by his session there, or by who he is', async () => {
      const now = () => Math.floor(Date.now() / 1000);
      const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
      const good = (more: object = {}) => ({
        iss: provider.issuer,
        aud: CLIENT.id,
        iat: now(),
        exp: now() + 60,
        jti: randomUUID(),
        events,
        sub: 'vera',
        ...more,
      });
      const send = (token: string, at = second) =>
        ask(at.url, '/console/sign-in/main/logout', { method: 'POST', body: new URLSearchParams({ logout_token: token }).toString() });
      const [one, other] = [await signedIn('vera'), await signedIn('vera', second)];
      const bad: [string, string][] = [
        ['another audience', await provider.sign(good({ aud: 'other' }))],
        ['another issuer', await provider.sign(good({ iss: 'http://127.0.0.1:1' }))],
        ['long ago', await provider.sign(good({ iat: now() - 3600 }))],
        ['an id token', await provider.sign({ ...good(), events: undefined, nonce: 'n' })],
        ['with a nonce', await provider.sign(good({ nonce: 'n' }))],
        ['of nobody', await provider.sign(good({ sub: undefined }))],
        ['of an empty name', await provider.sign(good({ sub: '' }))],
        ['of an empty session', await provider.sign(good({ sid: '' }))],
        ['without a name of its own', await provider.sign(good({ jti: '' }))],
        ['of the future', await provider.sign(good({ iat: now() + 3600, exp: now() + 7200 }))],
        ['for another client', await provider.sign(good({ azp: 'other' }))],
        ['for several', await provider.sign(good({ aud: [CLIENT.id, 'other'] }))],
        [
          'unsigned',
          `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify(good())).toString('base64url')}.`,
        ],
        ['no token', 'x'],
      ];
      for (const [what, token] of bad) assert.equal((await send(token)).status, 400, what);
      assert.equal((await ask(first.url, '/console/sign-in/nowhere/logout', { method: 'POST', body: '' })).status, 400);
      assert.ok((await sessionAt(one)) !== null && (await sessionAt(other)) !== null);
      const logout = await provider.sign(good());
      const out = await send(logout);
      assert.deepEqual([out.status, out.headers['cache-control']], [200, 'no-store']);
      for (const at of [first, second]) assert.equal((await send(logout, at)).status, 400, 'replayed');
      for (const visitor of [one, other]) {
        for (const at of [first, second]) await eventually(async () => assert.equal(await sessionAt(visitor, at), null), EFFECTIVE);
      }
      // By the provider's own session: that one alone.
      const sids: string[] = [];
      provider.tamper = (_, claims) => void sids.push(String(claims.sid));
      const [third, fourth] = [await signedIn('vera'), await signedIn('vera')];
      provider.tamper = undefined;
      assert.match(sids[0]!, /^[\w-]{10,}$/);
      assert.equal((await send(await provider.sign(good({ sid: sids[0], sub: 'ada' })))).status, 400, 'of two people');
      assert.notEqual(await sessionAt(third), null);
      assert.equal((await send(await provider.sign(good({ sid: sids[0] })))).status, 200);
      await eventually(async () => assert.equal(await sessionAt(third), null), EFFECTIVE);
      assert.notEqual(await sessionAt(fourth), null);
      assert.notEqual(await sessionAt(await signedIn('ada')), null);
    });
  });
}
