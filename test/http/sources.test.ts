/** Sources over HTTP and at the command line: who may change what, what is wrong, what is told, and what is kept secret (SPEC D23). */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, suite, test } from 'node:test';
import { PERMISSIONS } from '../../src/account/permission.ts';
import { signatureOf } from '../../src/webhook/signature.ts';
import { command, commandJson, commandText, newKey, newTenant } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { hookReceiver } from '../support/hook-receiver.ts';
import { ask, bearer, postSignals } from '../support/http.ts';
import { bare, type ListServer, listServer } from '../support/list-server.ts';
import { eventually, startWeir, type Weir } from '../support/weir.ts';

type Json = Record<string, unknown>;
interface Body extends Json {
  readonly id: string;
  readonly list_id: string;
  readonly message: string;
  readonly details: readonly { readonly field: string; readonly message: string }[];
  readonly rules: readonly (Json & { readonly id: number; readonly target: string })[];
  readonly feeds: readonly (Json & { readonly kind: string; readonly rules: readonly Json[]; readonly unblock: Json })[];
}

const DROP = '192.0.2.0/24\n198.51.100.7\n';
const SECRET = 'reader:pass word-öß';

suite('sources', () => {
  const folder = temporaryFolder({ after });
  const settings: Record<string, string> = {
    ...{ DATA_DIR: join(folder, 'data'), FEED_REBUILD_SECONDS: '0', RATE_LIMIT_MANAGE: '0', MAX_SOURCES: '6', ...smallGeo(folder) },
    ...{ SOURCE_NETWORKS: '127.0.0.1', WEBHOOK_NETWORKS: '127.0.0.1', SECRETS_KEY: randomBytes(32).toString('base64') },
  };
  let server: Weir;
  let origin: ListServer;
  let workspace: string;
  let admin: string;
  /** As one that was killed leaves it: no process has this id. */
  const left = join(tmpdir(), 'weir-try-4194305-abcdef');
  before(async () => {
    mkdirSync(left, { recursive: true });
    [origin, server] = [await listServer(), await startWeir(settings)];
    await command(['org', 'create', 'acme'], settings);
    origin.set('/drop', bare(DROP));
  });
  beforeEach(async ({ name }) => {
    const all = PERMISSIONS.flatMap((permission) => ['--permission', permission]);
    ({ workspaceId: workspace, key: admin } = await newTenant(settings, { organization: 'acme', workspace: name.slice(0, 100) }, ...all));
  });
  after(async () => {
    await server.kill('SIGKILL');
    await origin[Symbol.asyncDispose]();
  });

  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const given = { ...bearer(admin), ...(method === 'PATCH' || method === 'DELETE' ? { 'if-match': '*' } : {}), ...headers };
    const reply = await ask(server.url, `/v1/manage${path}`, { method, headers: given, ...(text !== undefined && { body: text }) });
    return { ...reply, body: JSON.parse(reply.text || '{}') as Body };
  };
  const rules = async (list: string) => (await call('GET', `/rules?list=${list}`)).body.rules;
  /** A source whose content has landed. */
  async function filled(name: string, more: Json = {}): Promise<Body> {
    const made = await call('POST', '/sources', { name, url: `${origin.url}/drop`, ...more });
    assert.equal(made.status, 201, made.text);
    await eventually(async () => assert.equal((await rules(made.body.list_id)).length, 2));
    return made.body;
  }
  const weir = (...args: string[]) => command([...args, '--workspace', workspace], settings);
  const weirJson = <T>(...args: string[]) => commandJson<T>([...args, '--workspace', workspace], settings);

  test('D47.3 a start removes what trials of killed processes have left', () => assert.ok(!existsSync(left)));

  test('D23.2 nothing else changes the rules of a list that a source keeps, by whatever way it comes; a refresh is undone', async () => {
    const { id, list_id: list } = await filled('drop');
    const sentence =
      'the list "drop" is managed by the source "drop" and cannot be changed otherwise. To allow or block an address, use another list; to stop refreshes: weir source pause "drop"';
    const bound = await newKey(settings, workspace, '--permission', 'signal:write', '--list', list);
    const v1 = [{ type: 'access_rules', action: 'block', ip: '203.0.113.1' }];
    const v2 = [{ kind: 'access_rule', op: 'delete', rule: { target: { ip: '198.51.100.7' }, action: 'block' } }];
    const capital = `T${sentence.slice(1)}`;
    for (const [key, target, entries] of [
      [admin, '/v1/signal?list=drop', v1],
      [admin, `/v1/signal?list=${list}&dry_run=1`, v1],
      [admin, '/v2/signal?list=drop', v2],
      [bound, '/v1/signal', v1],
      [bound, '/v2/signal', v2],
      [bound, `/v2/signal?list=${list}`, v2],
    ] as const) {
      const { status, text } = await postSignals(server.url, key, entries, target);
      assert.deepEqual([target, status, JSON.parse(text)], [target, 409, { error: 'Conflict', message: capital, code: 409 }]);
    }
    const [rule] = await rules(list);
    for (const [method, path, body] of [
      ['POST', '/rules', { value: '203.0.113.1', list: 'drop' }],
      ['POST', '/rules', { value: '198.51.100.7', action: 'unblock', list: 'drop', preview: true }],
      ['POST', '/imports?list=drop', '203.0.113.1\n'],
      ['POST', '/imports?list=drop&replace=1&confirmed=1', '203.0.113.1\n'],
      ['POST', '/imports?list=drop&replace=1&preview=1', '203.0.113.1\n'],
      ['POST', '/replacements', { list: 'drop' }],
      ['POST', '/rules/delete', { list: 'drop' }],
      ['POST', '/rules/delete', { ids: [rule!.id] }],
      ['POST', '/rules/delete', { ids: [rule!.id], preview: true }],
      ['DELETE', `/rules/access_rule/${rule!.id}`, undefined],
    ] as const) {
      const { status, body: answer } = await call(method, path, body);
      assert.deepEqual([path, status, answer.message.toLowerCase()], [path, 409, sentence.toLowerCase()]);
    }
    const deleted = await weir('rule', 'delete', '--list', 'drop', '--yes');
    assert.deepEqual([deleted.code, deleted.stderr.includes(sentence)], [2, true]);

    // Of several lists the rules of others go.
    assert.equal((await call('POST', '/rules', { value: '198.51.100.7', reason: 'mine' })).status, 200);
    const preview = await call('POST', '/rules/delete', { address: '198.51.100.7', preview: true });
    assert.deepEqual([preview.body.deleted, preview.body.left_out], [1, 1]);
    const told = await weir('rule', 'delete', '--address', '198.51.100.7', '--yes');
    assert.match(told.stdout, /^1 rule deleted by \S+; 1 more stay, because sources manage them\n$/);
    const none = await weir('rule', 'delete', '--address', '198.51.100.7', '--yes');
    assert.equal(none.stdout, 'no rule meets these conditions; 1 more stay, because sources manage them\n');
    assert.deepEqual((await rules(list)).map(({ target }) => target).sort(), ['192.0.2.0/24', '198.51.100.7']);

    // Undoing what a refresh did is no writing of one's own.
    assert.equal((await call('POST', `/sources/${id}/pause`, {})).status, 200);
    const { batches } = (await call('GET', '/batches')).body as unknown as { batches: { id: string; key_name: string | null }[] };
    const refresh = batches.find((batch) => batch.id === (rule as unknown as { batch_id: string }).batch_id)!;
    assert.equal((await call('POST', '/undo', { batches: [refresh.id] })).status, 200);
    assert.deepEqual(await rules(list), []);
  });

  test('D23.3 a source goes with its list, which tells what goes; it comes back paused; or its list stays', async () => {
    const { id, list_id: list } = await filled('drop');
    const lists = await weir('list', 'ls');
    assert.match(lists.stdout.split('\n').find((line) => line.includes('drop'))!, /drop +2 +no +yes/);
    const kept = 'the list "drop" belongs to the source "drop" and is deleted with it: weir source delete "drop"';
    assert.deepEqual((await call('DELETE', '/lists/drop?preview=1')).body.message, kept);
    assert.ok((await weir('list', 'delete', 'drop', '--yes')).stderr.includes(kept));
    const taken = await call('POST', '/lists', { name: 'drop' });
    assert.deepEqual(
      [taken.status, taken.body.message],
      [409, 'the workspace has a source called "drop"; lists and feeds share their names'],
    );

    const refused = await call('DELETE', '/sources/drop');
    assert.deepEqual(
      [refused.status, refused.body.message],
      [409, 'deleting the list "drop" also deletes 2 rules: see the details with preview=1, delete with confirmed=1'],
    );
    const seen = await call('DELETE', '/sources/drop?preview=1');
    assert.deepEqual([seen.body.id, seen.body.list_id, seen.body.rules, seen.body.deleted], [id, list, 2, false]);
    assert.match((await weir('source', 'delete', 'drop')).stderr, /deleting the source drop removes\nweir: {3}2 rules\n/);
    const gone = await weir('source', 'delete', 'drop', '--yes');
    assert.match(gone.stdout, /^source drop \S+ is deleted; weir list restore "drop" brings it back, paused, until 20/);
    assert.equal((await call('GET', `/sources/${id}`)).status, 404);
    assert.equal((await call('POST', `/lists/${list}/restore`, {})).status, 200);
    const back = (await call('GET', '/sources/drop')).body;
    assert.deepEqual([back.id, back.state, back.next_at, (await rules(list)).length], [id, 'paused', null, 2]);

    const left = await call('DELETE', `/sources/${id}?keep_list=1`);
    assert.deepEqual([left.status, left.body.list_kept, left.body.deleted], [200, true, true]);
    assert.equal((await call('POST', '/rules', { value: '203.0.113.9', list: 'drop' })).status, 200);
    assert.equal((await rules(list)).length, 3);
  });

  test('D23.6 a secret is sent to its origin, kept encrypted, told nowhere; another origin needs it again, and a service without a key refuses it', async () => {
    origin.set('/secret', bare('203.0.113.0/24\n'));
    const made = await call('POST', '/sources', { name: 'members', url: `${origin.url}/secret`, auth: 'basic', secret: SECRET });
    assert.equal(made.status, 201, made.text);
    const sent = `Basic ${Buffer.from(SECRET).toString('base64')}`;
    await eventually(async () => assert.equal(origin.headers.get('/secret')?.authorization, sent));
    await eventually(async () => assert.equal((await rules('members')).length, 1));
    const elsewhere = await call('PATCH', '/sources/members', { url: 'https://lists.invalid/secret' });
    const message = `is not on ${origin.url}, for which the secret was stored: give the secret again, or remove it`;
    assert.deepEqual([elsewhere.status, elsewhere.body.details[0]], [400, { field: 'url', message, value: null }]);
    const file = join(folder, 'secret');
    writeFileSync(file, 'T0ken.value\n');
    const set = await weirJson<Json>('source', 'set', 'members', '--auth', 'header', '--auth-header', 'X-Api-Key', '--secret-file', file);
    assert.deepEqual([set.auth, set.auth_header], ['header', 'X-Api-Key']);
    await eventually(async () => assert.equal(origin.headers.get('/secret')?.['x-api-key'], 'T0ken.value'));
    assert.equal(origin.headers.get('/secret')?.authorization, undefined);

    const answers = ['/sources', '/sources/members', '/audit', '/lists', '/status', '/batches'].map(
      async (path) => (await call('GET', path)).text,
    );
    const shown = [
      ...(await Promise.all(answers)),
      (await weir('source', 'show', 'members')).stdout,
      JSON.stringify(set),
      made.text,
      JSON.stringify(server.output()),
    ];
    const wrong = await call('POST', '/sources', { name: 'x', url: origin.url, auth: 'bearer', secret: `${'T0ken.value'.repeat(400)}` });
    assert.deepEqual([wrong.status, wrong.body.details[0]!.field], [400, 'secret']);
    const known = ['pass word', 'T0ken', Buffer.from(SECRET).toString('base64')];
    for (const text of [...shown, wrong.text]) for (const secret of known) assert.ok(!text.includes(secret), text);
    const data = ['weir.db', 'weir.db-wal'].map((name) => readFileSync(join(settings.DATA_DIR!, name)));
    for (const secret of known) assert.ok(!data.some((bytes) => bytes.includes(secret)), secret);

    const { SECRETS_KEY: _, ...without } = settings;
    const refused = await command(
      ['source', 'set', 'members', '--auth', 'bearer', '--secret-file', file, '--workspace', workspace],
      without,
    );
    assert.deepEqual(
      [refused.code, refused.stderr],
      [2, 'weir: secrets of sources are stored encrypted, but the service has no key for that: its operator has to set SECRETS_KEY\n'],
    );
    const open = await weirJson<Json>('source', 'set', 'members', '--auth', 'none', '--url', `${origin.url}/drop`);
    assert.deepEqual([open.auth, open.auth_header, open.url], [null, null, `${origin.url}/drop`]);
  });

  test('D23.7, D41.17 what is wrong with a source is told at its field, by keys and by commands in the same words', async () => {
    const url = 'https://lists.example/a';
    const wrong: [given: Json, field: string, message: RegExp][] = [
      [{ url: 'ftp://lists.example/a' }, 'url', /^must begin with https:\/\/ or http:\/\/, not ftp:$/],
      [{ url: 'lists.example' }, 'url', /^must be a URL such as https:\/\//],
      [{ url: 'https://me:pw@lists.example/' }, 'url', /^must not contain a user or password/],
      [{ url: 'http://10.1.2.3/a' }, 'url', /^leads to 10\.1\.2\.3, which is in a private, special or own network .*SOURCE_NETWORKS$/],
      [{ url: 'http://2130706434/' }, 'url', /^leads to 127\.0\.0\.2, /],
      [{ url: 'http://[::ffff:10.0.0.1]/' }, 'url', /^leads to ::ffff:a00:1, /],
      [{ url: 'http://localhost:9/' }, 'url', /^leads to localhost, which is this machine/],
      [{ url, every: 60 }, 'every', /300/],
      [{ catalogue: 'spamhaus-drop', every: 600 }, 'every', /^must be at least 1h, the minimum interval of www\.spamhaus\.org$/],
      [{ url, every: 86_400 * 5, stale_after: 86_400 * 7 }, 'stale_after', /^must be at least 10d, twice the fetch interval/],
      [{ url, paths: ['a..b'] }, 'paths', /^"a\.\.b" is no path/],
      [{ url, paths: ['a'], format: 'csv' }, 'paths', /^is for JSON, but the format is csv$/],
      [{ url, where: 'a=b' }, 'where', /^requires paths$/],
      [{ url, paths: ['a[]'], where: 'ab' }, 'where', /^"ab" is no condition/],
      [{ url, collection: 'c' }, 'collection', /^is for the format taxii$/],
      [{ url, format: 'xml' }, 'format', /^must be one of: text, csv, json, ndjson, stix, misp, taxii/],
      [{ url, column: 'ip', format: 'text' }, 'column', /^is for CSV and JSON without paths$/],
      [{ url, skip: 10_001 }, 'skip', /^must be an integer from 0 to 10000$/],
      [{ url, skip: 1, format: 'taxii' }, 'skip', /is for files$/],
      [{ url, purpose: 'deny' }, 'purpose', /^must be one of: block, allow$/],
      [{ url, change_percent: 0 }, 'change_percent', /^must be an integer from 1 to 1000000/],
      [{ url, min_prefix_v4: 33 }, 'min_prefix_v4', /^must be an integer from 0 to 32/],
      [{ url, auth: 'basic' }, 'secret', /^is missing/],
      [{ url, secret: 'x' }, 'auth', /^is missing/],
      [{ url, auth: 'basic', secret: 'no colon' }, 'secret', /^must be user:password/],
      [{ url, auth: 'bearer', secret: 'a\nb' }, 'secret', /visible ASCII/],
      [{ url, auth: 'header', secret: 'a' }, 'auth_header', /^must be the name of a header$/],
      [{ url, auth: 'header', auth_header: 'Host', secret: 'a' }, 'auth_header', /^must be another header/],
      [{ catalogue: 'no-such' }, 'catalogue', /^has no "no-such"/],
      [{}, 'url', /^is required$/],
    ];
    for (const [given, field, message] of wrong) {
      const { status, body } = await call('POST', '/sources', { ...('catalogue' in given ? {} : { name: 'x' }), ...given });
      assert.deepEqual([JSON.stringify(given), status, body.details?.[0]?.field], [JSON.stringify(given), 400, field]);
      assert.match(body.details[0]!.message, message, JSON.stringify(given));
    }
    const told = async (...args: string[]) => (await weir('source', 'add', ...args)).stderr;
    assert.equal(await told('x', 'ftp://lists.example/a'), 'weir: url must begin with https:// or http://, not ftp:\n');
    assert.match(await told('x', 'http://192.168.0.1/'), /^weir: url leads to 192\.168\.0\.1, which is in a private/);
    assert.match(await told('x', url, '--path', 'a..b'), /^weir: --path "a\.\.b" is no path/);
    assert.match(
      await told('x', url, '--every', '1m'),
      /^weir: --every must be a whole number from 300 to 2592000, not "1m": seconds, or with a unit such as 12h, 7d\n$/,
    );
    assert.match(
      await told('spamhaus-drop', '--every', '10m'),
      /^weir: --every must be at least 1h, the minimum interval of www\.spamhaus\.org\n$/,
    );
    assert.match(await told('no-such'), /^weir: catalogue has no "no-such"; see weir source catalogue\n$/);
    assert.match(await told('x', url, '--every', 'soon'), /--every must be a whole number from 300 to 2592000, not "soon": seconds/);
    assert.match((await weir('source', 'show', 'default')).stderr, /^weir: the list "default" has no source\n$/);
    assert.match((await weir('source', 'set', 'nowhere', '--every', '1h')).stderr, /^weir: there is no source "nowhere"\n$/);
    assert.deepEqual((await call('GET', '/sources')).body.sources, [], 'nothing was made');
  });

  test('D23.7 a source is made by address or from the catalogue, set, paused and resumed; MAX_SOURCES is told', async () => {
    // In a store that nobody serves: nothing asks the real addresses.
    const alone = { ...settings, DATA_DIR: join(folder, 'alone') };
    await command(['org', 'create', 'acme'], alone);
    await command(['workspace', 'create', 'w', '--org', 'acme'], alone);
    const add = async (...args: string[]) => await commandText(['source', 'add', ...args, '--workspace', 'w'], alone);
    const made = JSON.parse(await add('feodo', '--name', 'botnets', '--max-entries', '9', '--copies', 'default', '--json')) as Json;
    assert.deepEqual(
      [made.name, made.catalogue, made.every, made.may_be_empty, made.max_entries, made.copies, made.purpose],
      ['botnets', 'feodo', 3600, true, 9, ['default'], 'block'],
    );
    assert.match(
      await add('firehol-level1', '--every', '1d'),
      /^source firehol-level1 \S+: https:\S+, every 1d\nterms: .+\nto know: .*PROTECTED_NETWORKS/,
    );
    const botnets = { catalogue: 'feodo', name: 'botnets', url: 'https://lists.invalid/a' };
    assert.equal((await call('POST', '/sources', botnets)).body.catalogue, 'feodo');
    await weir('source', 'pause', 'botnets');
    const slow = await call('POST', '/sources', { name: 'slow', url: `${origin.url}/drop`, every: 86_400 * 7 });
    assert.equal(slow.body.stale_after, 86_400 * 14, 'two refreshes may fail');
    const again = { 'idempotency-key': 'once' };
    const body = { name: 'once', url: `${origin.url}/drop`, auth: 'bearer', secret: 'tok' };
    const [first, second] = [await call('POST', '/sources', body, again), await call('POST', '/sources', body, again)];
    assert.deepEqual([first.status, second.status, second.body.id], [201, 201, first.body.id]);
    const stale = await call('PATCH', '/sources/slow', { every: 3600 }, { 'if-match': '"x"' });
    assert.deepEqual([stale.status, (stale.body as unknown as { current: Json }).current.every], [412, 86_400 * 7]);
    const changed = await call(
      'PATCH',
      '/sources/slow',
      { every: 3600, min_prefix_v4: null, may_be_empty: true },
      { 'if-match': stale.headers.etag! },
    );
    assert.deepEqual([changed.status, changed.body.every, changed.body.min_prefix_v4, changed.body.may_be_empty], [200, 3600, 8, true]);
    for (const [word, state] of [
      ['pause', 'paused'],
      ['resume', undefined],
    ] as const) {
      const { status, body: answer } = await call('POST', `/sources/slow/${word}`, {});
      assert.deepEqual([status, answer.paused], [200, state === 'paused']);
    }
    for (const name of ['a', 'b', 'c']) assert.equal((await call('POST', '/sources', { name, url: `${origin.url}/drop` })).status, 201);
    const full = await call('POST', '/sources', { name: 'd', url: `${origin.url}/drop` });
    assert.deepEqual([full.status, full.body.message], [409, 'the workspace has 6 sources, its limit: delete one, or raise MAX_SOURCES']);
    const { stdout } = await weir('source', 'ls');
    assert.match(stdout, /^NAME +STATE +ENTRIES +FOR +EVERY +CONFIRMED +NEXT +WAITS FOR +URL\nbotnets +paused +0 +block +1h +/);
    assert.match(await commandText(['source', 'show', 'slow', '--workspace', workspace], settings), /^min prefix v4 +8$/m);
  });

  test('D23.8 a look-up tells of a rule its source, refresh and since when; it offers no unblock there', async () => {
    const { list_id: list } = await filled('drop');
    const { feeds } = (await call('GET', '/lookup?target=198.51.100.7')).body;
    const [rule] = feeds.find(({ name }) => name === 'drop')!.rules as [
      Json & { source: { name: string; refresh: string; since: string } },
    ];
    assert.deepEqual([rule.source.name, rule.source.since, rule.key_name], ['drop', rule.created_at, 'source drop']);
    assert.ok(Date.parse(rule.source.refresh) >= Date.parse(rule.source.since));
    assert.deepEqual(feeds[0]!.unblock, { removes: [], verdict: 'in' });
    const { stdout } = await weir('lookup', '198.51.100.7', '--list', 'drop');
    assert.match(stdout, /in: 198\.51\.100\.7, from source drop, refresh of 20\S+Z, batch \S+, there since 20\S+Z\n/);
    assert.match(
      stdout,
      /an unblock of 198\.51\.100\.7 removes nothing: 198\.51\.100\.7 from list drop, which its source keeps: allow it in another list/,
    );
    const allowed = await call('POST', '/rules', { value: '198.51.100.7', action: 'allow' });
    const ways = (allowed.body as unknown as { still_blocked: { way_out: Json | null }[] }).still_blocked.map(({ way_out }) => way_out?.do);
    assert.ok(ways.length > 0 && !ways.includes('unblock'), JSON.stringify(ways));
    assert.equal((await call('GET', `/lists/${list}`)).body.source_id, (await call('GET', '/sources/drop')).body.id);
  });

  test('D27.1, D27.10 a webhook is made, tested, told and deleted; its address and secret are in no log, and lead nowhere else', async (t) => {
    const receiver = await hookReceiver();
    t.after(() => receiver[Symbol.asyncDispose]());
    const [url, secret] = [`${receiver.url}/services/T0/B0/xyz`, 'sixteen-characters-and-more'];
    for (const [body, field, message] of [
      [{ url: 'http://10.1.2.3/' }, 'url', /private, special or own network .*WEBHOOK_NETWORKS$/],
      [{ url: 'http://user:pw@chat.example/' }, 'url', /user or password/],
      [{ url, secret: 'short' }, 'secret', /16 to 200/],
      [{ url, style: 'pagerduty' }, 'secret', /routing key/],
    ] as const) {
      const refused = await call('POST', '/webhooks', { name: 'soc', ...body });
      assert.deepEqual([refused.status, refused.body.details[0]?.field], [400, field], refused.text);
      assert.match(refused.body.details[0]!.message, message);
    }
    const { status, body: made } = await call('POST', '/webhooks', { name: 'soc', url, secret });
    assert.deepEqual([status, made.url, made.style, made.has_secret], [201, url, 'weir', true]);
    const elsewhere = await call('PATCH', '/webhooks/soc', { url: 'https://chat.example/' });
    assert.deepEqual([elsewhere.status, elsewhere.body.details[0]!.field], [400, 'url']);
    const { body: tested } = await call('POST', '/webhooks/soc/test', {});
    assert.deepEqual([tested.delivered, tested.status], [true, 204]);
    const { headers, body, json } = receiver.received.find((each) => each.json.changes[0]?.state === 'test')!;
    const [, time] = /^t=(\d+),/.exec(String(headers['x-weir-signature']))!;
    assert.equal(headers['x-weir-signature'], signatureOf(secret, body, Number(time) * 1000));
    assert.equal(headers['x-weir-id'], json.id);
    assert.match(String(json.text), /^weir, [^\n]*: a test\n• This is a test of the webhook "soc"$/);
    // The service tells by itself.
    await eventually(() =>
      assert.ok(
        receiver.received.some((each) => each.json.changes.some(({ text }) => /^the webhook "soc" was created by the key /.test(text))),
      ),
    );
    await eventually(async () => assert.equal(((await call('GET', '/webhooks/soc')).body.deliveries as Json[])[0]?.outcome, 'delivered'));
    for (let n = 1; n < 10; n += 1) await call('POST', '/webhooks/soc/test', {});
    assert.equal((await call('POST', '/webhooks/soc/test', {})).status, 429);

    const added = await weirJson<Body>('webhook', 'add', 'second', `${receiver.url}/second`, '--style', 'teams');
    assert.equal((await weirJson<Body>('webhook', 'set', 'second', '--style', 'weir', '--name', 'other')).name, 'other');
    assert.equal((await weir('webhook', 'test', 'other')).code, 0);
    receiver.answer = (response) => void response.writeHead(404).end('no such hook');
    const failed = await weir('webhook', 'test', 'other');
    assert.deepEqual([failed.code, failed.stdout.trim()], [1, 'not delivered: 404 no such hook']);
    assert.match((await weir('webhook', 'show', 'soc')).stdout, /delivered +204/);
    assert.equal((await weirJson<Body>('webhook', 'rm', 'other')).id, added.id);
    assert.equal((await weirJson<Body[]>('webhook', 'ls')).length, 1);
    const audit = (await call('GET', '/audit')).text;
    for (const text of [secret, 'xyz']) assert.ok(!audit.includes(text));
    assert.match(audit, /webhook deleted/);
    assert.equal((await call('DELETE', '/webhooks/soc')).status, 200);
    assert.equal((await call('GET', '/webhooks/soc')).status, 404);
  });
});
