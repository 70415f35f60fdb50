/** Sessions of people as time goes by: a real provider, a real store, a clock that stands still. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { readConfig } from '../../../src/config.ts';
import { authenticator } from '../../../src/http/auth/authenticator.ts';
import { gate } from '../../../src/http/auth/gate.ts';
import { rateLimiter } from '../../../src/http/auth/rate-limit.ts';
import type { Call } from '../../../src/http/call.ts';
import { consoleSessions, type OpenSession } from '../../../src/http/console/sessions.ts';
import { fetchAnswer } from '../../../src/openid/answers.ts';
import { openProvider } from '../../../src/openid/provider.ts';
import type { ProviderSettings } from '../../../src/openid/settings.ts';
import type { SignedIn } from '../../../src/ports/identity-provider.ts';
import { openPeople } from '../../../src/roles/people.ts';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { CLIENT, startProvider, Visitor } from '../../support/openid.ts';

const HERE = 'http://127.0.0.1:9';
const MINUTE = 60_000;

async function world(t: TestContext, more: Partial<ProviderSettings> = {}) {
  const idp = await startProvider(HERE);
  t.after(() => idp.goAway().catch(() => {}));
  idp.accounts.ada = { name: 'Ada Lovelace', groups: ['admins'] };
  idp.person = 'ada';
  const store = await openSqliteStore(temporaryFolder(t));
  t.after(() => store.close());
  await store.migrate();
  const { workspaceId } = await store.bootstrap({ hash: Buffer.alloc(32), prefix: '', onlyWhenEmpty: true });
  const clock = { at: Date.now() };
  const [now, monotonic] = [() => clock.at, () => clock.at];
  const settings = { id: 'main', name: 'Acme', issuer: idp.issuer, client_id: CLIENT.id, client_secret: CLIENT.secret, roles: [], ...more };
  const provider = openProvider(settings, monotonic);
  const told: string[] = [];
  const roles = [
    { group: 'admins', role: 'admin', provider: 'main', workspaces: ['default'] },
    { group: 'soc', role: 'operator', provider: 'main', workspaces: [workspaceId] },
  ] as const;
  const people = { providers: [provider], roles, baseUrl: HERE, keys: false, report: (_: string, line: string) => void told.push(line) };
  const doors = gate('manage', authenticator({ store, now, monotonic }), rateLimiter(0));
  const sessionsOf = (of: typeof people) => consoleSessions({ gate: doors, store, people: of, now, secure: false });
  const sessions = sessionsOf(people);
  const call = (cookie = '') =>
    ({ request: { method: 'GET', headers: { cookie } }, ip: '192.0.2.1', at: { wall: now(), monotonic: monotonic() } }) as unknown as Call;
  /** Who has signed in, or why nobody has. */
  async function signedIn() {
    const proof = { state: 'state', nonce: 'nonce', verifier: 'v'.repeat(43) };
    const backTo = `${HERE}/console/sign-in/main/callback`;
    const address = await new Visitor().follow((await provider.begin(proof, backTo)) as string, backTo);
    return provider.finish(address, proof);
  }
  /** Signs somebody in; the cookie. */
  async function signIn(): Promise<string> {
    const cookie = await sessions.openFor(call(), (await signedIn()) as SignedIn);
    assert.equal(typeof cookie, 'string');
    return String(cookie).split(';')[0]!;
  }
  const who = (cookie: string, of = sessions) => of.identify(call(cookie)) as Promise<OpenSession & { status?: number }>;
  return { idp, store, clock, provider, people, sessions, sessionsOf, signedIn, signIn, who, told, workspaceId };
}

suite('people as time goes by', () => {
  test('D24.6 the provider is asked again when its token ends, once for all who wait: roles follow, and who is gone there is gone here', async (t) => {
    const { idp, store, clock, signIn, who, told, workspaceId } = await world(t);
    const cookie = await signIn();
    const first = await who(cookie);
    assert.deepEqual([first.actor, first.caller.permissions.includes('manage')], ['Ada Lovelace', true]);
    const kept = first.person!.renewal!;
    assert.ok(kept.length > 28 && !/^[\w-]+$/.test(Buffer.from(kept).toString('latin1')), 'sealed');
    assert.equal(idp.asked.token, 1);
    idp.accounts.ada!.groups = ['soc'];
    clock.at += MINUTE - 1000;
    assert.ok((await who(cookie)).caller.permissions.includes('manage'));
    clock.at += 1000;
    await Promise.all(Array.from({ length: 20 }, () => who(cookie)));
    assert.equal(idp.asked.token, 2);
    const second = await who(cookie);
    assert.deepEqual([second.caller.permissions.includes('manage'), second.caller.permissions.includes('rules:write')], [false, true]);
    assert.deepEqual(await store.people(workspaceId), [{ id: 'main:ada', name: 'Ada Lovelace', role: 'operator', lastSeen: clock.at }]);
    idp.disown();
    clock.at += MINUTE;
    assert.equal((await who(cookie)).status, 401);
    assert.equal((await who(cookie)).status, 401);
    assert.equal(told.length, 1);
    assert.match(told[0]!, /^Acme has ended the session of main:ada: .*invalid_grant/);
  });

  test('D47.6 D47.7 an id token for another client, of an empty name or of the future signs nobody in, nor does it renew a session', async (t) => {
    const { idp, clock, signedIn, signIn, who } = await world(t);
    const now = Math.floor(Date.now() / 1000);
    const faults: [object, RegExp][] = [
      [{ azp: 'other' }, /another client/],
      [{ aud: [CLIENT.id, 'other'], azp: 'other' }, /azp/],
      [{ aud: [CLIENT.id, 'other'] }, /audience/],
      [{ sub: '' }, /its sub is empty/],
      [{ iat: now + 3600, exp: now + 7200 }, /in the future/],
      [{ auth_time: now + 3600 }, /in the future/],
    ];
    const giving = (more: object) => {
      idp.tamper = async (answer, claims) => {
        answer.id_token = await idp.sign({ ...claims, ...more });
      };
    };
    for (const [more, why] of faults) {
      giving(more);
      const said = await signedIn();
      assert.ok('failed' in said && said.failed === 'refused', JSON.stringify(more));
      assert.match(said.why, why);
    }
    // A clock that is a little ahead is no fault, and who is named among several audiences is meant.
    giving({ aud: [CLIENT.id, 'other'], azp: CLIENT.id, iat: now + 20 });
    const cookie = await signIn();
    assert.equal((await who(cookie)).actor, 'Ada Lovelace');
    giving({ azp: 'other' });
    clock.at += MINUTE;
    assert.equal((await who(cookie)).status, 401);
  });

  test('D24.7 D24.10 while the provider is away a session goes on, and keys sign in; both are over when it is back', async (t) => {
    const { idp, clock, provider, sessions, signIn, who } = await world(t);
    const cookie = await signIn();
    assert.equal(await sessions.takeKeys(), false);
    await idp.goAway();
    clock.at += MINUTE;
    assert.equal((await who(cookie)).actor, 'Ada Lovelace');
    assert.equal((await who(cookie)).actor, 'Ada Lovelace');
    assert.equal(await sessions.takeKeys(), true);
    const away = await provider.begin({ state: 's', nonce: 'n', verifier: 'v'.repeat(43) }, HERE);
    assert.equal(typeof away === 'object' && away.failed, 'away');
    await idp.comeBack();
    assert.equal(await sessions.takeKeys(), true, 'it is not asked more often than every five seconds');
    clock.at += MINUTE;
    assert.equal(await sessions.takeKeys(), false);
    assert.equal((await who(cookie)).actor, 'Ada Lovelace');
    assert.equal(idp.asked.token, 2);
  });

  test('D24.6 a session ends with max_age, after 12 hours, and with its provider', async (t) => {
    const { clock, signIn, who, people, sessionsOf } = await world(t, { max_age: 3600, parameters: { prompt: 'login' } });
    const cookie = await signIn();
    const { expiresAt } = await who(cookie);
    assert.ok(Math.abs(expiresAt - clock.at - 3600_000) < 10_000, `${expiresAt - clock.at}`);
    assert.equal((await who(cookie, sessionsOf({ ...people, providers: [] }))).status, 401);
    assert.equal((await who(cookie)).actor, 'Ada Lovelace');
    clock.at = expiresAt;
    assert.equal((await who(cookie)).status, 401);
    const { clock: other, signIn: again, who: whoElse } = await world(t);
    const long = await again();
    assert.equal((await whoElse(long)).expiresAt, other.at + 12 * 3600_000);
  });

  test('D24.9 an answer of a provider has a bound, and leads nowhere else', async (t) => {
    const server = createServer((request, response) => {
      if (request.url === '/moved') return void response.writeHead(302, { location: '/endless' }).end();
      const piece = Buffer.alloc(65_536);
      const more = () => void (response.writable && response.write(piece, more));
      more();
    }).listen(0, '127.0.0.1');
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    await new Promise((resolve) => server.once('listening', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await assert.rejects(fetchAnswer(`${url}/endless`), /has answered more than 1048576 bytes/);
    assert.equal((await fetchAnswer(`${url}/moved`)).status, 302);
  });

  test('D24.3, D24.4 OIDC_FILE that is read again counts at once; one with a fault, or that lets nobody in, changes nothing', async (t) => {
    const { idp, signIn, who, sessionsOf, people: before } = await world(t);
    const file = join(temporaryFolder(t), 'oidc.json');
    const row = { group: 'admins', role: 'admin', workspaces: ['default'] };
    const write = (roles: object[], id = 'main') => {
      const provider = { id, name: 'Acme', issuer: idp.issuer, client_id: CLIENT.id, client_secret: CLIENT.secret, roles };
      writeFileSync(file, JSON.stringify({ providers: [provider] }));
    };
    write([row]);
    const logged: string[] = [];
    const read = readConfig({ OIDC_FILE: file, BASE_URL: HERE, CONSOLE_KEYS: 'off' });
    assert('config' in read);
    const people = (await openPeople(read.config, (level, text) => void logged.push(`${level} ${text}`)))!;
    const sessions = sessionsOf(people as unknown as typeof before);
    const cookie = await signIn();
    const role = async () => {
      const { caller, status } = await who(cookie, sessions);
      return status ?? (caller.permissions.includes('manage') ? 'admin' : 'viewer');
    };
    assert.equal(await role(), 'admin');
    const [provider] = people.providers;
    write([
      { ...row, role: 'viewer' },
      { ...row, group: 'others' },
    ]);
    people.reload();
    assert.deepEqual([await role(), people.providers[0] === provider], ['viewer', true]);
    for (const text of ['{', '{"providers":[]}']) {
      writeFileSync(file, text);
      people.reload();
    }
    write([{ ...row, role: 'viewer' }]);
    people.reload();
    assert.equal(await role(), 'viewer');
    write([row], 'other');
    people.reload();
    assert.equal(await role(), 401);
    assert.deepEqual(
      logged.map((line) => line.replace(file, 'FILE').slice(0, 85)),
      [
        'info OIDC_FILE was read again: main',
        'error OIDC_FILE has a fault, so the previous content stays in use: OIDC_FILE FILE: ca',
        'error OIDC_FILE has a fault, so the previous content stays in use: OIDC_FILE FILE: pr',
        'error OIDC_FILE has a fault, so the previous content stays in use: CONSOLE_KEYS must ',
        'info OIDC_FILE was read again: other',
      ],
    );
  });

  test('D24.6 who signs out here may be led to the provider, which knows us and where to come back to', async (t) => {
    const { provider } = await world(t);
    const back = `${HERE}/console/?left`;
    assert.equal(await provider.signOutAt(back), undefined);
    const { provider: leading } = await world(t, { sign_out_there: true });
    const address = new URL((await leading.signOutAt(back))!);
    assert.deepEqual([address.searchParams.get('client_id'), address.searchParams.get('post_logout_redirect_uri')], [CLIENT.id, back]);
    assert.equal((await fetch(address)).status, 200);
    assert.equal((await fetch(new URL(`?client_id=${CLIENT.id}&post_logout_redirect_uri=${HERE}/other`, address))).status, 400);
  });
});
