/** People who sign in to the console with a real provider of OpenID Connect, over HTTP, at two processes on each engine (SPEC D24). */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { allows } from '../../src/account/permission.ts';
import { ROLE_NAMES, ROLES } from '../../src/account/role.ts';
import { OPERATIONS } from '../../src/manage/table.ts';
import { commandJson } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { ask, freePort, type Headers, type Reply } from '../support/http.ts';
import { CLIENT, claimsOf, startProvider, type TestProvider, Visitor } from '../support/openid.ts';
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
      const main = { id: 'main', name: 'Acme', issuer: provider.issuer, client_id: CLIENT.id, client_secret: CLIENT.secret, roles };
      writeFileSync(file, JSON.stringify({ providers: [main] }));
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
      provider.person = person;
      const address = await visitor.follow(`${first.url}/console/sign-in/main`, `${first.url}/console/sign-in/main/callback`);
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
      for (const at of [first, second]) {
        await eventually(async () => assert.equal(await sessionAt(visitor, at), null), EFFECTIVE);
      }
    });
  });
}
