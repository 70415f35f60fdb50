/** Signed feeds, verified by OpenSSH. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { allowedSigner, sshSignature } from '../../src/account/secrets/signature.ts';
import { temporaryFolder } from '../support/folder.ts';
import { attacked, CLIENTS, hostileProxy, type VerifyingClient, WEIR_FETCH, WEIR_FOLLOW, writeSigners } from '../support/hostile-proxy.ts';
import { bearer } from '../support/http.ts';
import { needs } from '../support/programs.ts';
import { eventually } from '../support/weir.ts';
import { type Client, startWorld, type World } from '../support/world.ts';

const TOOLS = needs('curl', 'ssh-keygen', 'sha256sum');
/** Of nobody here. */
const OTHER_SIGNER = `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIP${'/'.repeat(42)}`;
const BEGIN = '-----BEGIN SSH SIGNATURE-----';
const NAMED = `Zürich & 1+1 ${BEGIN}`;

interface Got {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

suite('signed feeds', { timeout: 300_000 }, () => {
  const cleanup: (() => void)[] = [];
  const folder = temporaryFolder({ after: (work) => cleanup.push(work) });
  const path = (name: string) => join(folder, name);
  let world: World;
  let client: Client;

  before(async () => {
    world = await startWorld({ DATA_DIR: path('data'), SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'), SOURCE_NETWORKS: '127.0.0.1' });
    client = await world.client();
    await world.text(['list', 'create', 'edge', '--workspace', client.workspace]);
    await block('192.0.2.1', 'edge');
  });
  after(async () => {
    await world?.stop();
    for (const work of cleanup) work();
  });

  const of = (...words: string[]) => world.json([...words, '--workspace', client.workspace]);
  async function block(ip: string, list: string): Promise<void> {
    const entry = { type: 'access_rules', action: 'block', ip };
    assert.equal((await client.post(`/v1/signal?list=${list}`, [entry])).status, 200);
    // Of two contents in one second the later one waits (D5.15).
    await eventually(async () => assert.ok((await get(`/${list}?format=plain&family=both`)).text.includes(ip)));
  }
  async function get(query: string, headers: Record<string, string> = {}): Promise<Got> {
    const answer = await fetch(`${world.weir().url}/v1/threat/feeds${query}`, {
      headers: { authorization: `Bearer ${client.key}`, 'accept-encoding': 'identity', ...headers },
    });
    return { status: answer.status, text: await answer.text(), headers: answer.headers };
  }
  function verify(signed: string, kind = 'feed'): { statement: Record<string, string>; isValid: boolean } {
    const at = signed.lastIndexOf(BEGIN);
    const statement = signed.slice(0, at);
    writeFileSync(path('signature'), signed.slice(at));
    const args = ['-Y', 'verify', '-f', path('allowed'), '-I', 'weir', '-n', 'weir-feed', '-s', path('signature')];
    const isValid = spawnSync('ssh-keygen', args, { input: statement }).status === 0;
    const lines = statement.trimEnd().split('\n');
    assert.equal(lines.shift(), `weir ${kind} 1`);
    return {
      isValid,
      statement: Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)])),
    };
  }
  /** Runs weir-fetch without blocking the server of a proxy. */
  const fetched = (url: string, file: string, feed = 'edge'): Promise<{ code: number; stderr: string }> =>
    new Promise((done) => {
      const env = { ...process.env, WEIR_URL: url, WEIR_API_KEY: client.key, ALLOWED_SIGNERS: path('allowed') };
      execFile(WEIR_FETCH, [feed, 'plain', 'both', path(file)], { env }, (error, _, stderr) =>
        done({ code: error === null ? 0 : Number(error.code), stderr }),
      );
    });
  const content = (file: string) => readFileSync(path(file), 'utf8');

  test('D63.1, D63.3 without a key there is no signature; two at most, and both with a checksum are refused', async () => {
    const none = await get('/edge?signature=ssh');
    assert.deepEqual([none.status, JSON.parse(none.text).error], [404, 'The workspace has no signing key']);
    const both = await get('?signature=ssh&checksum=md5');
    assert.deepEqual([both.status, JSON.parse(both.text).error], [400, 'checksum and signature exclude each other']);
    assert.equal((await get('?signature=gpg')).status, 400);
    assert.equal((await get('/nothing?signature=ssh')).status, 404);
    const stream = await fetch(`${world.weir().url}/v1/decisions/stream?startup=true&signature=ssh`, {
      headers: { 'x-api-key': client.key },
    });
    assert.deepEqual([stream.status, await stream.json()], [404, { message: 'The workspace has no signing key' }]);
    await of('signing-key', 'add');
    await of('signing-key', 'add');
    await assert.rejects(of('signing-key', 'add'), /has 2 signing keys, its limit/);
    const keys = await of('signing-key', 'ls');
    assert.deepEqual(
      keys.map(({ signs }) => signs),
      [true, false],
    );
    const [newest] = await of('audit', 'ls', '--limit', '1');
    assert.equal(newest?.event, 'signing key created');
  });

  test('D63.1, D63.2, D63.4 OpenSSH verifies the statement, which names the bytes of every variant', { skip: TOOLS }, async () => {
    const keys = await of('signing-key', 'ls');
    writeSigners(
      path('allowed'),
      keys.map((key) => key.allowed_signer),
    );
    await world.text(['list', 'create', NAMED, '--workspace', client.workspace]);
    const named = `/${encodeURIComponent(NAMED)}?format=plain`;
    for (const query of ['?format=plain', '/edge?format=commented&family=v4', '/edge?action=allow', '?format=csv_indicator', named]) {
      const [feed, signed] = [await get(query), await get(`${query}&signature=ssh`)];
      assert.equal(signed.status, 200, signed.text);
      const { isValid, statement } = verify(signed.text);
      assert.ok(isValid, query);
      const wanted = {
        workspace: client.workspace,
        name: query.startsWith('/edge') ? 'edge' : query === named ? NAMED : statement.name,
        entries: feed.headers.get('x-feed-entry-count'),
        sha256: createHash('sha256').update(feed.text).digest('hex'),
        etag: feed.headers.get('etag'),
        'last-modified': String(Date.parse(feed.headers.get('last-modified')!) / 1000),
      };
      assert.deepEqual({ ...statement, ...wanted }, statement, query);
      const left = Number(statement['not-after']) - Date.now() / 1000;
      assert.ok(Number(statement['not-after']) % 3600 === 0 && left > 3590 && left <= 7200, String(left));
      assert.equal(signed.headers.get('last-modified'), null);
      const [again, dated] = [{ 'if-none-match': signed.headers.get('etag')! }, { 'if-modified-since': new Date().toUTCString() }];
      assert.equal((await get(`${query}&signature=ssh`, again)).status, 304);
      assert.equal((await get(`${query}&signature=ssh`, dated)).status, 200);
    }
    assert.ok(!verify((await get('/edge?format=plain&signature=ssh')).text.replace('entries: 1', 'entries: 2')).isValid);
  });

  test('D63.6 a signed answer to a bouncer names its version, its bytes and the networks of the feed', { skip: TOOLS }, async () => {
    const key = (await of('key', 'create', '--permission', 'feed:read', '--list', 'edge'))[0]!.key as string;
    const ask = async (query: string) => {
      const answer = await fetch(`${world.weir().url}/v1/decisions/stream?${query}`, { headers: { 'x-api-key': key } });
      return { status: answer.status, text: await answer.text(), header: (name: string) => answer.headers.get(`x-feed-${name}`) };
    };
    const stated = async (query: string) => {
      const { status, text, header } = await ask(query);
      assert.equal(status, 200, text);
      const { isValid, statement } = verify(Buffer.from(header('signature')!, 'base64').toString(), 'stream');
      assert.ok(isValid, query);
      const wanted = {
        ...{ workspace: client.workspace, name: 'edge', version: header('version'), since: header('since') ?? 'none' },
        ...{ count: header('count'), digest: header('digest') },
        sha256: createHash('sha256').update(text).digest('hex'),
      };
      assert.deepEqual({ ...statement, ...wanted }, statement);
      assert.ok(Number(statement['not-after']) % 3600 === 0);
      return statement;
    };
    const all = await stated('startup=true&signature=ssh');
    const waiting = stated(`wait=60&since=${all.version}&signature=ssh`);
    await block('192.0.2.99', 'edge');
    assert.deepEqual([(await waiting).since, (await waiting).count], [all.version, '2']);
    await client.post('/v1/signal?list=edge', [{ type: 'access_rules', action: 'unblock', ip: '192.0.2.99' }]);
    await eventually(async () => assert.ok(!(await get('/edge?format=plain')).text.includes('192.0.2.99')));
    assert.equal((await ask('startup=true')).header('signature'), null);
    assert.match((await ask('startup=true&signature=ssh&scopes=ip')).text, /signature and filters exclude each other/);
    assert.equal((await ask('signature=gpg')).status, 400);
  });

  test('D63.5 weir-fetch loads what is signed and nothing that a proxy changed, cut, exchanged or replayed', { skip: TOOLS }, async () => {
    const direct = world.weir().url;
    assert.deepEqual(await fetched(direct, 'feed'), { code: 0, stderr: '' });
    assert.equal(content('feed'), '192.0.2.1/32\n');
    await block('192.0.2.7', 'edge');
    assert.equal((await fetched(direct, 'feed')).code, 0);
    const good = '192.0.2.1/32\n192.0.2.7/32\n';
    assert.equal(content('feed'), good);
    type Change = (text: string, isSigned: boolean) => string | Promise<string>;
    const other = async (query: string, isSigned: boolean) => (await get(`${query}${isSigned ? '&signature=ssh' : ''}`)).text;
    const HOSTILE: Readonly<Record<string, Change>> = {
      'an empty feed': (text, isSigned) => (isSigned ? text : ''),
      'a changed statement': (text, isSigned) => (isSigned ? text.replace('entries: 2', 'entries: 3') : text),
      'no signature': (text, isSigned) => (isSigned ? text.slice(0, text.indexOf(BEGIN)) : text),
      'the feed of all lists': (_, isSigned) => other('?format=plain&family=both', isSigned),
      'another family': (_, isSigned) => other('/edge?format=plain&family=v6', isSigned),
      'another format': (_, isSigned) => other('/edge?format=commented&family=both', isSigned),
      'the never-block list': (_, isSigned) => other('/edge?action=allow&format=plain&family=both', isSigned),
    };
    let change: Change = (text) => text;
    const proxy: Server = createServer(async (request, response) => {
      const answer = await get(request.url!.slice('/v1/threat/feeds'.length));
      response.end(await change(answer.text, request.url!.includes('signature')));
    });
    await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
    const through = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    assert.equal((await fetched(through, 'feed')).code, 0);
    for (const [what, hostile] of Object.entries(HOSTILE)) {
      change = hostile;
      const { code, stderr } = await fetched(through, 'feed');
      assert.equal(code, 1, `${what}: ${stderr}`);
      assert.match(stderr, /^weir-fetch: .+; .+ stays as it is\n$/, what);
      assert.equal(content('feed'), good, what);
    }
    proxy.close();
  });

  test('D63.7 weir-follow loads what is signed for its feed, else keeps its networks', {
    skip: needs('ssh-keygen', 'python3'),
  }, async () => {
    const key = (await of('key', 'create', '--permission', 'feed:read', '--list', 'edge'))[0]!.key as string;
    const all = (await of('key', 'create', '--permission', 'feed:read'))[0]!.key as string;
    const loaded = path('loaded');
    const follow = (env: Record<string, string> = {}, ...mode: string[]): Promise<{ code: number; stderr: string }> =>
      new Promise((done) => {
        const own = { WEIR_URL: world.weir().url, WEIR_API_KEY: key, WEIR_FOLLOW_STATE: path('follow'), WEIR_FOLLOW_DRIVER: 'command' };
        const set = { WEIR_FOLLOW_COMMAND: `cat > ${loaded}`, WEIR_FOLLOW_SIGNERS: path('allowed'), WEIR_FOLLOW_FEED: 'edge' };
        execFile(WEIR_FOLLOW, mode, { env: { PATH: process.env.PATH, ...own, ...set, ...env } }, (error, _, stderr) =>
          done({ code: error === null ? 0 : Number(error.code), stderr }),
        );
      });
    assert.match((await follow({ WEIR_FOLLOW_FEED: '' }, '--once')).stderr, /--feed is missing/);
    assert.match((await follow({ WEIR_FOLLOW_SIGNERS: '' }, '--once')).stderr, /--signers is missing/);
    assert.deepEqual((await follow({}, '--once')).code, 0);
    assert.equal(readFileSync(loaded, 'utf8'), '192.0.2.1/32\n192.0.2.7/32\n');
    const other = await follow({ WEIR_API_KEY: all }, '--once');
    assert.deepEqual([other.code, other.stderr.includes('the statement is about another feed')], [1, true], other.stderr);
    assert.match((await follow({ WEIR_FOLLOW_SIGNERS: path('none') }, '--once')).stderr, /is not signed as it must be/);
    assert.equal(readFileSync(loaded, 'utf8'), '192.0.2.1/32\n192.0.2.7/32\n');
    // A command of its own without signers still loads everything.
    assert.equal((await follow({ WEIR_FOLLOW_SIGNERS: '', WEIR_FOLLOW_FEED: '', WEIR_FOLLOW_STATE: path('unsigned') }, '--once')).code, 0);
  });

  test('D63.5, D63.7, D63.8, D63.9, D63.10 no client loads what a proxy flips, cuts, replays, swaps or strips', {
    skip: needs('python3') || TOOLS,
  }, async () => {
    await world.text(['list', 'create', 'other', '--workspace', client.workspace]);
    await block('198.51.100.1', 'other');
    const listKey = async (list: string) => (await of('key', 'create', '--permission', 'feed:read', '--list', list))[0]!.key as string;
    const [key, other] = [await listKey('edge'), await listKey('other')];
    await using open = new AsyncDisposableStack();
    const proxy = open.use(await hostileProxy(world.weir().url, other, 1));
    const given = { url: proxy.url, key, feed: 'edge', signers: path('allowed') };
    const clients: [string, VerifyingClient][] = [];
    for (const [name, start] of Object.entries(CLIENTS)) {
      const each = open.use(await start({ ...given, folder: mkdtempSync(path(`${name}-`)) }));
      assert.ok(await each.fetch(), name);
      clients.push([name, each]);
    }
    await block('192.0.2.8', 'edge');
    const good = content('feed').concat('192.0.2.8/32\n');
    for (const [name, each] of clients) {
      // weir-follow has content and signature in one answer.
      proxy.attack = name === 'weir-follow' ? undefined : 'rebuild';
      assert.ok(await each.fetch(), name);
      assert.equal(each.loaded(), good, name);
      const { refused, wrong } = await attacked(each, proxy, good, 20);
      assert.deepEqual([wrong, refused >= 15], [0, true], `${name}: ${refused}`);
      assert.ok(await each.fetch(), name);
    }
  });

  test('D63.5, D63.7, D63.8 each client verifies a feed whose name has any characters', { skip: needs('python3') || TOOLS }, async () => {
    await block('198.51.100.9', encodeURIComponent(NAMED));
    const key = (await of('key', 'create', '--permission', 'feed:read', '--list', NAMED))[0]!.key as string;
    await using open = new AsyncDisposableStack();
    for (const [name, start] of Object.entries(CLIENTS)) {
      const given = { url: world.weir().url, key, feed: NAMED, signers: path('allowed'), folder: mkdtempSync(path(`${name}-`)) };
      const each = open.use(await start(given));
      assert.ok(await each.fetch(), name);
      assert.equal(each.loaded(), '198.51.100.9/32\n', name);
    }
  });

  test('D63.7 weir-follow goes back by no more than five minutes, also by answers of several processes in turns', {
    skip: needs('ssh-keygen', 'python3'),
  }, async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const blob = Buffer.from(`0000000b${Buffer.from('ssh-ed25519').toString('hex')}00000020`, 'hex');
    const own = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url');
    writeSigners(path('recorded'), [allowedSigner({ publicKey: Buffer.concat([blob, own]).toString('base64') })]);
    const now = Math.floor(Date.now() / 1000);
    let [version, time] = ['', 0];
    const body = JSON.stringify({ new: [{ value: '192.0.2.1', duration: '1h' }], deleted: [] });
    const recorded = createServer((_, response) => {
      const sha256 = createHash('sha256').update(body).digest('hex');
      const about = { workspace: 'w', feed: 'f', name: 'edge', version, since: 'none', count: 1, digest: '', sha256 };
      const fields = Object.entries({ ...about, time, 'not-after': now + 3600 });
      const statement = `weir stream 1\n${fields.map(([field, value]) => `${field}: ${value}\n`).join('')}`;
      response.setHeader('X-Feed-Signature', Buffer.from(statement + sshSignature(privateKey, statement)).toString('base64'));
      response.end(body);
    });
    await new Promise<void>((listening) => recorded.listen(0, '127.0.0.1', listening));
    const url = `http://127.0.0.1:${(recorded.address() as AddressInfo).port}`;
    const folder = mkdtempSync(path('recorded-'));
    await using client = await CLIENTS['weir-follow']!({ url, key: 'k', feed: 'edge', signers: path('recorded'), folder });
    const accepted: boolean[] = [];
    for (const [process, minutes] of [
      ['a.10', 0],
      ['b.10', 4],
      ['a.9', 8],
      ['a.11', 4],
    ] as const) {
      [version, time] = [process, now - 60 * minutes];
      accepted.push(await client.fetch());
    }
    recorded.close().closeAllConnections();
    assert.deepEqual(accepted, [true, true, false, true]);
  });

  test('D63.8 a source of another weir accepts a signed feed only, and keeps its rules otherwise', { skip: TOOLS }, async () => {
    await using proxy = await hostileProxy(world.weir().url, client.key, 2);
    const { workspace, key } = await world.client('--permission', 'manage', '--permission', 'rules:read');
    // biome-ignore lint/suspicious/noExplicitAny: answers of several operations.
    const call = async (method: string, name: string, body?: object): Promise<any> => {
      const headers = { ...bearer(key), 'content-type': 'application/json', 'if-match': '*' };
      const answer = await fetch(`${world.weir().url}/v1/manage/${name}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
      return await answer.json();
    };
    const signer = String((await of('signing-key', 'ls'))[0]!.allowed_signer);
    const own = { name: 'upstream', auth: 'bearer', secret: client.key, signers: [signer] };
    const url = `${proxy.url}/v1/threat/feeds/edge?format=plain&family=both`;
    for (const [wrong, message] of [
      [{ signers: ['ssh-rsa AAAA'] }, /must be a key such as ssh-ed25519 AAAA/],
      [{ url: `${proxy.url}/list.txt` }, /must be a feed of weir/],
      [{ url: `${proxy.url}/v1/threat/feeds/edge` }, /must name format and family/],
      [{ format: 'taxii' }, /is for feeds of weir/],
    ] as const)
      assert.match((await call('POST', 'sources', { ...own, url, ...wrong })).details[0].message, message);
    const made = await call('POST', 'sources', { ...own, url });
    assert.deepEqual(made.signers, [signer.slice(signer.indexOf('ssh-ed25519'))]);
    const rules = async () => (await call('GET', `rules?list=${made.list_id}`)).rules.map((rule: { target: string }) => rule.target).sort();
    const loaded = (await get('/edge?format=plain&family=both')).text
      .trim()
      .split('\n')
      .map((network) => network.replace('/32', ''));
    await eventually(async () => assert.deepEqual(await rules(), loaded));
    for (const [attack, fault] of [
      ['strip', /none of its signers has signed it/],
      ['swap', /its signature is about another feed/],
    ] as const) {
      proxy.attack = attack;
      await call('POST', 'sources/upstream/refresh', {});
      await eventually(async () => assert.match(String((await call('GET', 'sources/upstream')).fault), fault));
    }
    assert.deepEqual(await rules(), loaded);
    proxy.attack = undefined;
    const tried = await call('POST', 'sources/try', { ...own, name: undefined, url, signers: [OTHER_SIGNER] });
    assert.match(String(tried.fault), /none of its signers has signed it/);
    const file = await world.text(['workspace', 'export', workspace, '--settings']);
    assert.ok(file.includes(String(made.signers[0])), file);
  });

  test('D63.5 docs: the loop of the nftables page notes a signed change, and keeps the elements without a good signature', {
    skip: TOOLS,
  }, async () => {
    const page = readFileSync(new URL('../../docs/appliances/nftables.md', import.meta.url), 'utf8');
    const [loop] = /for family in v4 v6; do\n {2}before[\s\S]*?done\n/.exec(page)!;
    const home = mkdtempSync(path('nftables-'));
    const run = (allowed: string): Promise<number> =>
      new Promise((done) => {
        const own = { WEIR_URL: world.weir().url, WEIR_API_KEY: client.key, ALLOWED_SIGNERS: allowed };
        const env = { ...process.env, PATH: `${join(WEIR_FETCH, '..')}:${process.env.PATH}`, ...own };
        const script = `failed=0; loaded=loaded\n${loop}exit $failed`;
        execFile('sh', ['-uc', script], { cwd: home, env }, (error) => done(error === null ? 0 : Number(error.code)));
      });
    const loaded = join(home, 'loaded');
    for (const name of ['v4.elements', 'v6.elements', 'loaded']) writeFileSync(join(home, name), '');
    assert.equal(await run(path('none')), 1);
    assert.ok(existsSync(loaded));
    assert.equal(await run(path('allowed')), 0);
    assert.match(readFileSync(join(home, 'v4.elements'), 'utf8'), /192\.0\.2\.1/);
    assert.ok(!existsSync(loaded));
    writeFileSync(loaded, '');
    assert.equal(await run(path('allowed')), 0);
    assert.ok(existsSync(loaded));
  });

  test('D63.3, D63.5 the second key signs once the first is deleted, and a verifier with its line goes on', { skip: TOOLS }, async () => {
    const [first, second] = await of('signing-key', 'ls');
    writeSigners(path('allowed'), [second?.allowed_signer]);
    assert.match((await fetched(world.weir().url, 'feed')).stderr, /the signature is not valid/);
    await of('signing-key', 'rm', String(first?.id));
    rmSync(path('feed'));
    assert.equal((await fetched(world.weir().url, 'feed')).code, 0);
    assert.equal(content('feed'), '192.0.2.1/32\n192.0.2.7/32\n192.0.2.8/32\n');
  });
});
