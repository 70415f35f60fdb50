/** What goes wrong when people sign in with a provider of OpenID Connect: nobody is signed in, and the page says why (SPEC D24.7). */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, suite, test } from 'node:test';
import { SignJWT } from 'jose';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { ask, bearer, freePort, getFeed } from '../support/http.ts';
import { CLIENT, startProvider, type TestProvider, Visitor, writeProvider } from '../support/openid.ts';
import { KEY, weir as run, startWeir, type Weir } from '../support/weir.ts';

const PROOF = { 'x-weir-console': '1', 'sec-fetch-site': 'same-origin' };

suite('D24.7 sign-ins that fail', () => {
  const folder = temporaryFolder({ after });
  const file = join(folder, 'oidc.json');
  let server: Weir;
  let provider: TestProvider;
  let settings: Record<string, string>;
  let begin: string;
  let callback: string;

  before(async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    [begin, callback] = [`${url}/console/sign-in/main`, `${url}/console/sign-in/main/callback`];
    provider = await startProvider(url);
    provider.accounts.ada = { name: 'Ada Lovelace', groups: ['admins'] };
    provider.accounts.nobody = { name: 'Nobody', groups: ['elsewhere'] };
    provider.person = 'ada';
    writeProvider(file, provider);
    settings = { ...smallGeo(folder), DATA_DIR: join(folder, 'data'), OIDC_FILE: file, BASE_URL: url, BOOTSTRAP_API_KEY: KEY };
    server = await startWeir({ ...settings, PORT: String(port), CONSOLE_KEYS: 'off' });
  });
  after(async () => {
    await server.kill('SIGTERM');
    await provider.goAway();
  });

  const toCallback = (visitor: Visitor) => visitor.follow(begin, callback);
  const session = async (visitor: Visitor) => JSON.parse((await visitor.open(`${server.url}/console/session`)).text).session;
  /** Comes back to an address; why that signs nobody in. */
  async function failed(visitor: Visitor, address: string): Promise<string> {
    const { status, headers, text } = await visitor.open(address);
    assert.equal(status, 302, text);
    assert.equal(headers['set-cookie'], undefined);
    assert.deepEqual([headers['cache-control'], headers['referrer-policy']], ['no-store', 'no-referrer']);
    assert.equal(await session(visitor), null);
    const to = new URL(headers.location!, server.url);
    assert.deepEqual([to.origin, to.pathname, to.searchParams.get('provider')], [server.url, '/console/', 'main']);
    return to.searchParams.get('sign_in')!;
  }

  test('D24.7 D47.11 an id token for another audience, of another issuer, expired, unsigned, or signed by somebody else', async () => {
    const { privateKey: foreign } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const past = Math.floor(Date.now() / 1000) - 3600;
    const unsigned = (claims: object) =>
      [{ alg: 'none' }, claims]
        .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
        .join('.')
        .concat('.');
    const faults: Record<string, (claims: Record<string, unknown>) => Promise<string> | string> = {
      'another audience': (claims) => provider.sign({ ...claims, aud: 'other' }),
      'another issuer': (claims) => provider.sign({ ...claims, iss: 'http://127.0.0.1:1' }),
      expired: (claims) => provider.sign({ ...claims, iat: past, exp: past + 60 }),
      'another nonce': (claims) => provider.sign({ ...claims, nonce: 'other' }),
      'nobody in it': (claims) => provider.sign({ ...claims, sub: undefined }),
      unsigned,
      'signed by somebody else': (claims) => new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'test' }).sign(foreign),
      'signed with the secret that both know': (claims) =>
        new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(CLIENT.secret)),
    };
    for (const [what, make] of Object.entries(faults)) {
      const visitor = new Visitor();
      const address = await toCallback(visitor);
      provider.tamper = async (answer, claims) => {
        answer.id_token = await make(claims);
      };
      assert.equal(await failed(visitor, address), 'refused', what);
      provider.tamper = undefined;
    }
    assert.match(server.output().stderr, /a sign-in with Acme failed: /);
    const good = new Visitor();
    const { status, headers } = await good.open(await toCallback(good));
    assert.deepEqual([status, headers['x-frame-options'], headers['cross-origin-opener-policy']], [200, 'DENY', 'same-origin']);
  });

  test('D24.7 a code that was used, an issuer that is mixed up, a state that another browser or nobody has begun, a refusal', async () => {
    const visitor = new Visitor();
    const address = await toCallback(visitor);
    const changed = (name: string, value: string) => {
      const url = new URL(address);
      url.searchParams.set(name, value);
      return url.href;
    };
    assert.equal(await failed(visitor, changed('iss', 'http://127.0.0.1:1')), 'refused');
    assert.equal(await failed(new Visitor(), address), 'stale');
    for (const state of ['', 'x', `${new URL(address).searchParams.get('state')}x`, 'zzzzzzzz-x.y'])
      assert.equal(await failed(visitor, changed('state', state)), 'stale', state);
    const denied = new URL(changed('error', 'access_denied'));
    denied.searchParams.delete('code');
    assert.equal(await failed(visitor, denied.href), 'denied');
    assert.equal((await visitor.open(address)).status, 200);
    await visitor.open(`${server.url}/console/session`, { method: 'DELETE', headers: PROOF });
    assert.equal(await failed(visitor, address), 'refused', 'the code was used');
    assert.equal((await visitor.open(`${server.url}/console/sign-in/other`)).status, 404);
    assert.equal((await visitor.open(`${server.url}/console/sign-in/other/callback`)).status, 404);
  });

  test('D24.7 somebody without a role is told so, and is nowhere kept', async () => {
    provider.person = 'nobody';
    const visitor = new Visitor();
    assert.equal(await failed(visitor, await toCallback(visitor)), 'no_role');
    provider.person = 'ada';
    const { people } = JSON.parse((await ask(server.url, '/v1/manage/people', { headers: bearer(KEY) })).text);
    assert.ok(!JSON.stringify(people).includes('nobody'));
  });

  test('D24.7 a provider that is away: sessions go on, and who comes back then may do so again', async () => {
    const signedIn = new Visitor();
    await signedIn.open(await toCallback(signedIn));
    const visitor = new Visitor();
    const address = await toCallback(visitor);
    await provider.goAway();
    assert.equal(await failed(visitor, address), 'away');
    assert.equal((await session(signedIn)).actor, 'Ada Lovelace');
    assert.equal((await signedIn.open(`${server.url}/v1/manage/lists`, { headers: PROOF })).status, 200);
    await provider.comeBack();
    assert.equal((await visitor.open(address)).status, 200);
    assert.equal((await session(visitor)).actor, 'Ada Lovelace');
  });

  test('D24.7 a store that is away where a sign-in comes back: the page says so, and who begins again later is signed in', async () => {
    const visitor = new Visitor();
    const address = await toCallback(visitor);
    const db = new DatabaseSync(join(settings.DATA_DIR!, 'weir.db'), { timeout: 10_000 });
    db.exec('ALTER TABLE sessions RENAME TO mislaid');
    try {
      assert.equal(await failed(visitor, address), 'store');
    } finally {
      db.exec('ALTER TABLE mislaid RENAME TO sessions');
      db.close();
    }
    assert.match(server.output().stderr, /a sign-in with Acme failed: .*sessions/);
    assert.equal((await visitor.open(await toCallback(visitor))).status, 200);
  });

  test('D24.9 4,000 sign-ins that are begun are kept nowhere, ask the provider nothing, and keep no firewall waiting', async () => {
    const resident = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))![1]) / 1024;
    const [documents, memory] = [provider.asked.document, resident()];
    for (let begun = 0; begun < 4000; begun += 100) {
      const answers = await Promise.all(Array.from({ length: 100 }, () => ask(server.url, '/console/sign-in/main')));
      for (const { status, headers } of answers) {
        assert.equal(status, 302);
        assert.match(headers['set-cookie']!, /^weir_sign_in=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);
      }
    }
    assert.equal((await getFeed(server.url, KEY)).status, 200);
    assert.ok(provider.asked.document <= documents + 1);
    assert.ok(resident() < memory + 128, `${memory} MiB, then ${resident()}`);
    // Guesses at how they end are answered like wrong keys.
    const guesses = await Promise.all(Array.from({ length: 60 }, () => ask(server.url, '/console/sign-in/main/callback?code=x&state=y')));
    assert.ok(guesses.every(({ status }) => status === 302 || status === 429));
  });

  test('D24.10 keys may be kept from signing in, but not where nobody else could', async () => {
    const body = JSON.stringify({ key: KEY, name: 'Jana' });
    const refused = await ask(server.url, '/console/session', { method: 'POST', headers: PROOF, body });
    assert.deepEqual([refused.status, JSON.parse(refused.text).message], [403, 'Keys cannot sign in to this console while people can']);
    assert.deepEqual(JSON.parse((await ask(server.url, '/console/session')).text).sign_in, {
      keys: false,
      providers: [{ id: 'main', name: 'Acme' }],
    });
    assert.equal((await ask(server.url, '/v1/manage/whoami', { headers: bearer(KEY) })).status, 200, 'elsewhere keys are what they were');
    const start = (more: Record<string, string>) => run(['serve'], { ...settings, DATA_DIR: join(folder, 'other'), ...more });
    const without = await start({ CONSOLE_KEYS: 'off', OIDC_FILE: '' });
    assert.deepEqual(
      [without.code, without.stderr],
      [2, 'weir: CONSOLE_KEYS must not be off without an OIDC_FILE: nobody could sign in to the console\n'],
    );
    const other = join(folder, 'other.json');
    const { providers } = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(
      other,
      JSON.stringify({ providers: [{ ...providers[0], roles: [{ group: 'x', role: 'operator', workspaces: ['*'] }] }] }),
    );
    const nobody = await start({ CONSOLE_KEYS: 'off', OIDC_FILE: other });
    assert.equal(nobody.code, 2);
    assert.match(nobody.stderr, /^weir: CONSOLE_KEYS must not be off: OIDC_FILE \S+ has no admin, so nobody could change anything\n$/);
    writeFileSync(
      other,
      JSON.stringify({ providers: [{ ...providers[0], issuer: 'here', client_secret_file: '/x' }, { ...providers[0] }] }),
    );
    const faulty = await start({ OIDC_FILE: other });
    assert.equal(faulty.code, 2);
    assert.match(faulty.stderr, /there are two providers main/);
    assert.match(faulty.stderr, /main: issuer must be an https address without a query/);
    assert.match(faulty.stderr, /main: client_secret and client_secret_file exclude each other/);
    assert.match((await start({ BASE_URL: '' })).stderr, /BASE_URL must be set, because OIDC_FILE is/);
  });
});
