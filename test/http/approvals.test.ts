/** Changes that wait for a second person, through every entry point of a real server (SPEC D67). */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { openSqliteStream } from '../../src/stream/sqlite/stream.ts';
import { commandJson } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { freePort } from '../support/http.ts';
import { CLIENT, startProvider, type TestProvider, Visitor } from '../support/openid.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { eventually, KEY, startWeir, type Weir } from '../support/weir.ts';

const PROOF = { 'x-weir-console': '1', 'sec-fetch-site': 'same-origin' };

interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  readonly body: any;
}

for (const engine of ['sqlite', 'postgres'] as const) {
  suite(`approvals on ${engine}`, { skip: engine === 'postgres' && noPostgres() }, () => {
    const folder = temporaryFolder({ after });
    let settings: Record<string, string>;
    let weir: Weir;
    let provider: TestProvider;
    const people: Record<string, Visitor> = {};
    let stop: () => Promise<void> = async () => {};

    before(async () => {
      const port = await freePort();
      const baseUrl = `http://127.0.0.1:${port}`;
      provider = await startProvider(baseUrl);
      for (const name of ['ada', 'olga', 'vera']) provider.accounts[name] = { name, groups: ['admins'] };
      const roles = [{ group: 'admins', role: 'admin', workspaces: ['*'] }];
      const main = { id: 'main', name: 'Acme', issuer: provider.issuer, client_id: CLIENT.id, client_secret: CLIENT.secret, roles };
      writeFileSync(join(folder, 'oidc.json'), JSON.stringify({ providers: [main] }));
      const database = engine === 'postgres' ? await startPostgres() : undefined;
      if (database !== undefined) stop = () => database.stop();
      settings = {
        ...smallGeo(folder),
        DATA_DIR: join(folder, 'data'),
        ...(database && { DATABASE_URL: await database.createDatabase() }),
        ...{ OIDC_FILE: join(folder, 'oidc.json'), BASE_URL: baseUrl, BOOTSTRAP_API_KEY: KEY, RATE_LIMIT_MANAGE: '0' },
        ...{ FEED_REBUILD_SECONDS: '0' },
        // With it, operations that wait are stored encrypted.
        ...(engine === 'sqlite' && { SECRETS_KEY: 'a'.repeat(64) }),
      };
      weir = await startWeir({ ...settings, PORT: String(port) });
      await commandJson(['workspace', 'set', 'default', '--approval', 'all', '--approval-addresses', '1000'], settings);
      for (const name of ['ada', 'olga', 'vera']) {
        provider.person = name;
        const visitor = new Visitor();
        const address = await visitor.follow(`${baseUrl}/console/sign-in/main`, `${baseUrl}/console/sign-in/main/callback`);
        assert.equal((await visitor.open(address, {}, baseUrl)).status, 200);
        people[name] = visitor;
      }
    });
    after(async () => {
      await weir?.kill('SIGTERM');
      await provider?.goAway();
      await stop();
    });

    async function call(method: string, path: string, body?: unknown, type = 'application/json'): Promise<Reply> {
      const answer = await fetch(`${weir.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${KEY}`, 'content-type': type, 'if-match': '*' },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await answer.text();
      return { status: answer.status, body: text === '' ? {} : JSON.parse(text) };
    }
    const manage = (method: string, path: string, body?: unknown) => call(method, `/v1/manage${path}`, body);
    async function as(name: string, method: string, path: string, body?: unknown): Promise<Reply> {
      const headers = { ...PROOF, 'if-match': '*' };
      const asked = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
      const { status, text } = await people[name]!.open(`${weir.url}/v1/manage${path}`, asked, weir.url);
      return { status, body: JSON.parse(text) };
    }
    const signal = (...ips: string[]) =>
      call(
        'POST',
        '/v1/signal',
        ips.map((ip) => ({ type: 'access_rules', action: 'block', ip })),
      );
    const rules = async (ip: string): Promise<number> => (await manage('GET', `/rules?address=${ip}`)).body.rules.length;
    const requestIn = (text: string): string => /\(request ([0-9a-f-]{36})\)/.exec(text)?.[1] ?? assert.fail(text);
    async function approve(id: string, ...names: string[]): Promise<Reply> {
      const { hash } = (await manage('GET', `/approvals/${id}`)).body;
      let last: Reply | undefined;
      for (const name of names) last = await as(name, 'POST', `/approvals/${id}/approve`, { hash });
      return last!;
    }

    test('D67.2 D67.4 D67.5 an entry over the limit is an entry error; the others of the request land', async () => {
      const { status, body } = await signal('192.0.2.1', '8.0.0.0/15', '192.0.2.2');
      assert.equal(status, 206);
      assert.equal(body.errors.length, 1);
      const id = requestIn(body.errors[0]);
      await eventually(async () => assert.equal(await rules('192.0.2.2'), 1));
      assert.equal(await rules('8.0.0.0/15'), 0);
      // A retry is the same request.
      assert.equal(requestIn((await signal('8.0.0.0/15')).body.errors[0]), id);
      // D67.4: keys and one person alone are not enough.
      const { hash } = (await manage('GET', `/approvals/${id}`)).body;
      assert.equal((await manage('POST', `/approvals/${id}/approve`, { hash })).status, 403);
      assert.equal((await approve(id, 'ada')).body.state, 'pending');
      assert.equal((await approve(id, 'ada')).status, 409);
      assert.equal((await as('olga', 'POST', `/approvals/${id}/approve`, { hash: `${hash.slice(0, -1)}x` })).status, 409);
      // Two at once land once.
      const both = await Promise.all(['olga', 'vera'].map((name) => as(name, 'POST', `/approvals/${id}/approve`, { hash })));
      assert.deepEqual(both.map(({ status: each }) => each).sort(), [200, 409]);
      await eventually(async () => assert.equal(await rules('8.0.0.0/15'), 1));
      // D67.5: the way back never waits.
      assert.equal((await manage('POST', '/rules', { value: '8.0.0.0/15', action: 'unblock' })).status, 200);
      await eventually(async () => assert.equal(await rules('8.0.0.0/15'), 0));
    });

    test('D67.1 D67.3 D67.6 D67.7 every entry point waits, and nothing is done', async () => {
      const wide = '9.0.0.0/15';
      const list = (await manage('POST', '/lists', { name: 'edge' })).body.id;
      const many = Array.from({ length: 1100 }, (_, i) => `11.0.${i >> 8}.${i & 255}`).join('\n');
      const before = (await manage('GET', '/rules?limit=1')).body.total;
      const entries: Record<string, () => Promise<Reply>> = {
        block: () => manage('POST', '/rules', { value: wide }),
        country: () => manage('POST', '/rules', { value: 'NL' }),
        import: () => call('POST', '/v1/manage/imports?confirmed=true', many, 'text/plain'),
        replace: () => call('POST', '/v1/manage/imports?replace=true&confirmed=true&list=edge', many, 'text/plain'),
        allow: () => manage('POST', '/allow', { value: wide }),
        policy: () => manage('PATCH', '/workspace', { approval: 'none' }),
        'policy by limit': () => manage('PATCH', '/workspace', { approval_addresses: 100_000 }),
      };
      for (const [name, entry] of Object.entries(entries)) {
        const { status, body } = await entry();
        assert.equal(status, 409, `${name}: ${JSON.stringify(body)}`);
        requestIn(body.message);
      }
      assert.equal((await manage('GET', '/rules?limit=1')).body.total, before);
      assert.ok(list);
      // Rules of two days ago: removing them is no way back.
      const old = new Date(Date.now() - 2 * 86_400_000).toISOString();
      const workspace = (await manage('GET', '/workspace')).body.id;
      const stream = openSqliteStream(settings.DATA_DIR!);
      const value = { type: 'access_rules', action: 'block', ip: '12.0.0.0/15', expiration: 864_000 };
      await stream.publish([
        { key: workspace, headers: { workspace_id: workspace, list_id: list, received_at: old }, value: JSON.stringify(value) },
      ]);
      await stream.close();
      await eventually(async () => assert.equal(await rules('12.0.0.0/15'), 1));
      const feed = await manage('POST', '/feeds', { name: 'perimeter', lists: ['edge'] });
      assert.equal(feed.status, 201);
      const [{ id: rule }] = (await manage('GET', '/rules?address=12.0.0.0/15')).body.rules;
      const removals: Record<string, () => Promise<Reply>> = {
        'delete a rule': () => manage('DELETE', `/rules/access_rule/${rule}`),
        'delete rules': () => manage('POST', '/rules/delete', { ids: [rule] }),
        expire: () => manage('POST', '/rules/change', { ids: [rule], set: { expires: '1h' } }),
        unblock: () => manage('POST', '/rules', { value: '12.0.0.0/15', action: 'unblock', list: 'edge' }),
        'unblock by a signal': () => call('POST', '/v1/signal?list=edge', [{ type: 'access_rules', action: 'unblock', ip: '12.0.0.0/15' }]),
        'delete the list': () => manage('DELETE', '/lists/edge?confirmed=true'),
        'delete the feed': () => manage('DELETE', '/feeds/perimeter?confirmed=true'),
        'feed settings': () => manage('PATCH', '/feeds/perimeter', { family: 'v4' }),
        'list settings': () => manage('PATCH', '/lists/edge', { max_entries: 10 }),
        'guard rails': () => manage('PATCH', '/workspace', { protect: ['12.0.0.0/8'] }),
        apply: () => manage('POST', '/workspace/apply', { lists: [{ name: 'edge', max_entries: 10 }] }),
        'apply policy': () => manage('POST', '/workspace/apply', { workspace: { approval: 'none' } }),
      };
      const waiting: Record<string, string> = {};
      for (const [name, remove] of Object.entries(removals)) {
        const { status, body } = await remove();
        assert.equal(status, 409, `${name}: ${JSON.stringify(body)}`);
        waiting[name] = requestIn(body.message);
      }
      assert.equal(await rules('12.0.0.0/15'), 1);
      // Names and descriptions change no feed.
      assert.equal((await manage('PATCH', '/lists/edge', { description: 'hosts that scan us' })).status, 200);
      // D67.6: it runs with the approval, once.
      assert.equal((await approve(waiting['list settings']!, 'ada', 'olga')).body.state, 'applied');
      assert.equal((await manage('GET', '/lists/edge')).body.max_entries, 10);
      // D67.7: an emergency needs an administrator, not a key.
      const force = { reason: 'ticket 4711' };
      assert.equal((await manage('POST', `/approvals/${waiting.expire}/force`, force)).status, 403);
      assert.equal((await as('ada', 'POST', `/approvals/${waiting.expire}/force`, force)).body.state, 'applied');
      const { entries: audit } = (await manage('GET', '/audit')).body;
      assert.ok(
        audit.some(
          (each: { event: string; after: object }) => each.event === 'change forced' && JSON.stringify(each.after).includes('4711'),
        ),
      );
      assert.equal((await as('ada', 'POST', `/approvals/${waiting.apply}/reject`, {})).body.state, 'rejected');
      assert.equal((await approve(waiting.apply!, 'olga')).status, 409);
      const person = await as('ada', 'POST', '/rules', { value: wide });
      const id = requestIn(person.body.message);
      assert.equal((await approve(id, 'ada')).status, 403);
      assert.equal((await approve(id, 'olga')).body.state, 'applied');
      await eventually(async () => assert.equal(await rules('9.0.0.0/15'), 1));
    });
  });
}
