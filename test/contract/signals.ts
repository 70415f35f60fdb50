/** What clients of the signal endpoints may rely on, over real HTTP; every engine runs it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { temporaryFolder } from '../support/folder.ts';
import { ask, bearer, postSignals } from '../support/http.ts';
import { type Random, seededRandom } from '../support/random.ts';
import { eventually, weirFor } from '../support/weir.ts';
import { type Json, startWorld, type World } from '../support/world.ts';
import { contractSuite, type Engine, type Once } from './engine.ts';
import { expressionTests } from './expressions.ts';
import { guardRailTests } from './guard-rails.ts';
import { sampleTests } from './samples.ts';

const DAY = 86_400;
const METRICS_TOKEN = 'metrics-token-123';
const EXPRESSION = 'http.request.method eq "GET"';

const event = (more: Json) => ({ type: 'access_rules', action: 'block', ...more });
const access = (more: Json = {}, rule: Json = {}) => ({
  kind: 'access_rule',
  op: 'upsert',
  rule: { target: { ip: '192.0.2.1' }, ...rule },
  ...more,
});
const waf = (more: Json = {}, rule: Json = {}) => ({
  kind: 'waf_rule',
  op: 'upsert',
  rule_ref: 'waf-1',
  rule: { type: 'custom', expression: EXPRESSION, action: 'block', ...rule },
  ...more,
});
const smart = (more: Json = {}, rule: Json = {}) => ({
  kind: 'smart_firewall_rule',
  op: 'upsert',
  rule_ref: 'fw-1',
  rule: { type: 'generated', expression: 'ip.src eq 192.0.2.9', action: 'block', ...rule },
  ...more,
});
const seconds = (rule: Json) => (Date.parse(rule.expires_at as string) - Date.parse(rule.updated_at as string)) / 1000;
const targets = (rules: Json[]) => rules.map(({ target }) => target).sort();

/** What becomes of entries, WAF and smart firewall rules among them: all on one server. */
export function signalContract(engine: Engine): void {
  const start = (settings: Readonly<Record<string, string>>, folder: string) =>
    startWorld({ DATA_DIR: folder, METRICS_TOKEN, ...settings });
  contractSuite('signals', engine, start, (world, once) => {
    signalTests(world, once);
    expressionTests(world, once);
  });
}

function signalTests(world: () => World, once: Once): void {
  const client = (...keyOptions: string[]) => world().client(...keyOptions);
  /** Runs a command; the one value that it prints. */
  const manage = async (...args: string[]): Promise<Json> => (await world().json(args))[0]!;

  test('2.1, 4.1 a v1 block by ip, asn or country becomes a rule; one day without expiration, 60 s at least', async () => {
    const { post, rules } = await client();
    const batch = [
      event({ ip: '198.51.100.77/24', name: 'scanner', description: 'port scan', expiration: 3600 }),
      event({ asn: 'as15169', expiration: 5 }),
      event({ country: 'nl' }),
      event({ ip: '::ffff:192.0.2.1', expiration: 0 }),
    ];
    const { status, body } = await post('/v1/signal', batch);
    assert.deepEqual([status, body], [200, { success: true, message: 'Processed 4 entries, 0 failed' }]);
    const landed = await rules();
    assert.deepEqual(targets(landed), ['192.0.2.1', '198.51.100.0/24', 'AS15169', 'NL']);
    const lifetimes = Object.fromEntries(landed.map((rule) => [rule.target, Math.floor(seconds(rule))]));
    assert.deepEqual(lifetimes, { '192.0.2.1': DAY, '198.51.100.0/24': 3600, AS15169: 60, NL: DAY });
    const scanner = landed.find(({ target }) => target === '198.51.100.0/24')!;
    assert.deepEqual([scanner.name, scanner.reason, scanner.rule_ref, scanner.action], ['scanner', 'port scan', null, 'block']);
  });

  test('D4.18 messages land in a thread that answers no request', async () => {
    const { post, rules } = await client();
    const writerSeconds = () =>
      eventually(async () => {
        const { text } = await ask(world().weir().url, '/metrics', { headers: bearer(METRICS_TOKEN) });
        return Number(/^weir_thread_cpu_seconds_total\{thread="writer"\} (\S+)$/m.exec(text)![1]);
      });
    const before = await writerSeconds();
    await post(
      '/v1/signal',
      Array.from({ length: 1000 }, (_, n) => event({ ip: `10.1.${n >> 8}.${n & 255}` })),
    );
    assert.equal((await rules()).length, 1000);
    assert.ok((await writerSeconds()) > before);
  });

  once('2.1, D3 an expiry is kept as a whole second, rounded up', async () => {
    const { post, rules } = await client();
    await post('/v1/signal', [event({ ip: '192.0.2.1', expiration: 100 })]);
    const [rule] = await rules();
    const ms = Date.parse(rule!.expires_at as string) - Date.parse(rule!.updated_at as string);
    assert.equal(Date.parse(rule!.expires_at as string) % 1000, 0);
    assert(ms >= 100_000 && ms < 101_000, String(ms));
  });

  once('2.1 an event with none or several of ip, asn, country is an entry error', async () => {
    const { post, rules } = await client();
    const { status, body } = await post('/v1/signal', [
      event({}),
      event({ ip: '192.0.2.1', asn: 'AS15169' }),
      event({ ip: '', country: 'NL' }),
    ]);
    assert.deepEqual([status, body.success, body.message], [206, false, 'Processed 1 entries, 2 failed']);
    assert.deepEqual(
      body.errors.map((error) => error.split(':')[0]),
      ['Entry 0', 'Entry 1'],
    );
    assert.deepEqual(targets(await rules()), ['NL']);
  });

  test('3, D3 unblock removes every rule that blocks the value, with or without rule_ref, of that list only', async () => {
    const { post, rules, workspace } = await client();
    await manage('list', 'create', 'edge', '--workspace', workspace);
    await post('/v1/signal?list=edge', [event({ ip: '192.0.2.1' })]);
    await post('/v2/signal', [
      access(),
      access({ rule_ref: 'a' }),
      access({ rule_ref: 'b' }, { action: 'allow' }),
      access({}, { action: 'allow' }),
    ]);
    assert.equal((await rules()).length, 5);
    const { status } = await post('/v1/signal', [event({ action: 'unblock', ip: '192.0.2.1/32' })]);
    assert.equal(status, 200);
    const left = await rules();
    assert.deepEqual(left.map(({ action, rule_ref }) => `${action} ${rule_ref}`).sort(), ['allow b', 'allow null', 'block null']);
    assert.equal((await rules('access_rule', 'edge')).length, 1);
    assert.equal((await post('/v1/signal', [event({ action: 'unblock', ip: '192.0.2.99' })])).status, 200);
  });

  test('2.2, 3 rule_ref is the upsert and delete key: a known one updates, a new one creates', async () => {
    const { post, rules } = await client();
    await post('/v2/signal', [access({ rule_ref: 'soc-1', reason: 'first', labels: { a: 1 }, expires_in: 600 })]);
    const [first] = await rules();
    await post('/v2/signal', [access({ rule_ref: 'soc-1' }, { target: { ip: '192.0.2.2' } }), access({ rule_ref: 'soc-2' })]);
    const both = await rules();
    assert.equal(both.length, 2);
    const updated = both.find(({ rule_ref }) => rule_ref === 'soc-1')!;
    assert.deepEqual([updated.id, updated.created_at, updated.target], [first!.id, first!.created_at, '192.0.2.2']);
    // What an upsert leaves out is unset, expiry included.
    assert.deepEqual([updated.reason, updated.labels, Math.floor(seconds(updated))], [null, null, DAY]);
    for (let i = 0; i < 2; i += 1)
      assert.equal((await post('/v2/signal', [{ kind: 'access_rule', op: 'delete', rule_ref: 'soc-1' }])).status, 200);
    assert.deepEqual(
      (await rules()).map(({ rule_ref }) => rule_ref),
      ['soc-2'],
    );
  });

  test('2.2, D3 without rule_ref an access rule is matched by value', async () => {
    const { post, rules } = await client();
    await post('/v2/signal', [
      access({ reason: 'a' }),
      access({ rule_ref: 'r', reason: 'b' }),
      access({ reason: 'c' }, { target: { ip: '192.0.2.1/32' } }),
    ]);
    assert.deepEqual((await rules()).map(({ rule_ref, reason }) => [rule_ref, reason]).sort(), [
      [null, 'c'],
      ['r', 'b'],
    ]);
    await post('/v2/signal', [access({ op: 'delete' }, { action: 'allow' })]);
    assert.equal((await rules()).length, 2);
    await post('/v2/signal', [access({ op: 'delete' })]);
    assert.deepEqual(await rules(), []);
  });

  test('2.3 action, confidence and severity of an access rule; allow rules do not expire by default', async () => {
    const { post, rules, feed } = await client();
    const config = { confidence: 'HIGH', severity: 'critical', note: { a: [1] } };
    await post('/v2/signal', [access({}, { action: 'allow', config }), access({}, { target: { ip: '2001:DB8::1' } })]);
    const [allow] = (await rules()).filter(({ action }) => action === 'allow');
    assert.deepEqual([allow!.confidence, allow!.severity, allow!.expires_at], ['high', 'critical', null]);
    assert.deepEqual(allow!.config, { note: { a: [1] }, confidence: 'high', severity: 'critical' });
    assert.equal(await feed('?action=allow&format=csv_indicator'), '192.0.2.1,IP,high,critical\n');
    assert.equal(await feed(), '2001:db8::1/128\n');
  });

  test('6.2 all kinds in one batch land in their own stores', async () => {
    const { post, rules } = await client();
    const { status, body } = await post('/v2/signal', [
      waf(
        { reason: 'r', labels: { team: 'x' }, expires_in: 701 },
        { name: 'n', order: 5, short_description: 's', phase: 'Request', config: { sensitivity: 'low' } },
      ),
      access(),
      smart({}, { type: 'Generated', action: 'ALLOW' }),
    ]);
    assert.deepEqual([status, body], [200, { success: true, message: 'Processed 3 entries, 0 failed', errors: [] }]);
    const [firewall] = await rules('smart_firewall_rule');
    assert.deepEqual([firewall!.type, firewall!.action, firewall!.config, firewall!.expires_at], ['generated', 'allow', null, null]);
    const [rule] = await rules('waf_rule');
    const { id: _, created_at: __, updated_at: ___, expires_at: ____, batch_id: _____, key_id: ______, ...stored } = rule!;
    assert.deepEqual(stored, {
      kind: 'waf_rule',
      rule_ref: 'waf-1',
      name: 'n',
      type: 'custom',
      expression: EXPRESSION,
      action: 'block',
      order: 5,
      short_description: 's',
      reason: 'r',
      labels: { team: 'x' },
      config: { sensitivity: 'low', phase: 'request' },
    });
    assert.equal(Math.floor(seconds(rule!)), 701);
    assert.equal((await rules()).length, 1);
    await post('/v2/signal', [waf({ op: 'delete' }), { kind: 'smart_firewall_rule', op: 'delete', rule_ref: 'waf-1' }]);
    assert.equal((await rules('waf_rule')).length, 0);
    assert.equal((await rules('smart_firewall_rule')).length, 1);
  });

  once('4.2 entry failures are 206: expression, http.* in a smart firewall rule, rule_ref, target', async () => {
    const { post, rules } = await client();
    const { status, body } = await post('/v2/signal', [
      waf({}, { expression: 'http.request.method eq' }),
      smart({}, { expression: EXPRESSION }),
      smart({ rule_ref: null }),
      access({}, { target: { country: 'XX' } }),
      access({}, { target: { asn: 'AS4294967295' } }),
      access(),
    ]);
    assert.deepEqual([status, body.success, body.message], [206, false, 'Processed 1 entries, 5 failed']);
    assert.match(body.errors[0]!, /^Entry 0: Expression validation failed: rule\.expression: \(1:\d+\) ./);
    assert.match(body.errors[1]!, /^Entry 1: Expression validation failed: rule\.expression: \(1:1\) .*http/i);
    assert.equal(body.errors[2], 'Entry 2: Schema validation failed: rule_ref: is required');
    assert.equal(body.errors[3], 'Entry 3: Schema validation failed: rule.target.country: must be a valid ISO-3166 Alpha-2 code');
    assert.match(body.errors[4]!, /^Entry 4: Schema validation failed: rule\.target\.asn: AS4294967295 does not exist/);
    assert.equal((await rules()).length, 1);
  });

  once('4.2, 7.2 a batch that is refused with 400 changes nothing', async () => {
    const { post, rules } = await client();
    const type = await post('/v2/signal', [access(), waf({}, { type: '' })]);
    assert.deepEqual([type.status, type.body.error, type.body.code], [400, 'ValidationError', 400]);
    assert.match(type.body.message, /rule\.type is required and must be one of custom, generated/);
    assert.deepEqual(type.body.details, [
      { index: 1, field: 'rule.type', message: 'rule.type is required and must be one of custom, generated', value: '' },
    ]);
    const action = await post('/v1/signal', [event({ ip: '192.0.2.1' }), event({ ip: '192.0.2.2', action: 'deny' })]);
    assert.equal(action.status, 400);
    assert.match(action.body.message, /must be one of: block, unblock/);
    assert.equal(action.headers['cache-control'], 'no-store');
    for (const body of ['', '{', '{}', '[]', '[1]', JSON.stringify(Array(1001).fill(event({ ip: '192.0.2.1' })))]) {
      for (const path of ['/v1/signal', '/v2/signal']) assert.equal((await post(path, body)).status, 400, body.slice(0, 9));
    }
    assert.deepEqual(await rules(), []);
  });

  test('8 a batch of 1000 entries of each kind is taken whole', async () => {
    const { post, rules } = await client();
    const numbers = Array.from({ length: 1000 }, (_, i) => i);
    const ip = (i: number) => `10.0.${i >> 8}.${i & 255}`;
    assert.equal(
      (
        await post(
          '/v1/signal',
          numbers.map((i) => event({ ip: ip(i) })),
        )
      ).status,
      200,
    );
    assert.equal(
      (
        await post(
          '/v2/signal',
          numbers.map((i) => waf({ rule_ref: `w${i}` })),
        )
      ).status,
      200,
    );
    assert.equal((await rules()).length, 1000);
    assert.equal((await rules('waf_rule')).length, 1000);
  });

  test('D3 one rule several times in a batch: entries take effect in array order', async () => {
    const { post, rules } = await client();
    await post('/v2/signal', [
      access({ rule_ref: 'a', reason: '1' }),
      access({ rule_ref: 'a', reason: '2' }),
      waf({ reason: '1' }),
      waf({ op: 'delete' }),
    ]);
    await post('/v1/signal', [
      event({ country: 'NL' }),
      event({ country: 'NL', action: 'unblock' }),
      event({ country: 'US' }),
      event({ country: 'US' }),
    ]);
    assert.deepEqual((await rules()).map(({ target, reason }) => `${target} ${reason}`).sort(), ['192.0.2.1 2', 'US null']);
    assert.deepEqual(await rules('waf_rule'), []);
  });

  test('D3, D4 property: any batch lands exactly as its entries one by one', async () => {
    const random = seededRandom(7);
    for (let round = 0; round < 3; round += 1) {
      const [whole, single] = [await client(), await client()];
      for (let step = 0; step < 3; step += 1) {
        const batch = Array.from({ length: 12 }, () => randomEnvelope(random));
        assert.equal((await whole.post('/v2/signal', batch)).status, 200);
        for (const entry of batch) assert.equal((await single.post('/v2/signal', [entry])).status, 200);
      }
      for (const kind of ['access_rule', 'waf_rule', 'smart_firewall_rule']) {
        assert.deepEqual(bare(await whole.rules(kind)), bare(await single.rules(kind)), `round ${round} ${kind}`);
      }
    }
  });

  test('D3 text of every script, __proto__ and long values arrive unchanged', async () => {
    const { post, rules } = await client();
    const labels = JSON.parse('{"__proto__":{"a":1},"constructor":"c","😀":["\\u2028","é",null,1.5,-0,1e21]}');
    const reason = '😀'.repeat(2048);
    await post('/v2/signal', [access({ labels, reason })]);
    const [rule] = await rules();
    assert.equal(JSON.stringify(rule!.labels), JSON.stringify(labels));
    assert.equal(rule!.reason, reason);
    const faults = await post('/v2/signal', [access({ reason: '\0' }), access({ labels: { '\ud800': 1 } })]);
    assert.deepEqual([faults.status, faults.body.errors.length], [206, 2]);
  });

  test('D3 ?list= by id and by name; ?dry_run=1 publishes nothing', async () => {
    const { post, rules, workspace } = await client();
    const edge = await manage('list', 'create', 'edge', '--workspace', workspace);
    for (let i = 0; i < 2; i += 1) await manage('list', 'create', 'twice', '--workspace', workspace);
    await post('/v1/signal?list=edge', [event({ ip: '192.0.2.1' })]);
    await post(`/v1/signal?list=${edge.id}`, [event({ ip: '192.0.2.2' })]);
    await post('/v1/signal', [event({ ip: '192.0.2.3' })]);
    assert.equal((await post('/v1/signal?list=nowhere', [event({ ip: '192.0.2.4' })])).status, 404);
    assert.equal((await post('/v1/signal?list=twice', [event({ ip: '192.0.2.4' })])).status, 409);
    const dry = await post('/v2/signal?dry_run=1', [access({}, { target: { ip: '192.0.2.5' } })]);
    assert.deepEqual([dry.status, dry.body.message], [200, 'Processed 1 entries, 0 failed']);
    assert.deepEqual(targets(await rules('access_rule', 'edge')), ['192.0.2.1', '192.0.2.2']);
    assert.deepEqual(targets(await rules()), ['192.0.2.1', '192.0.2.2', '192.0.2.3']);
  });

  test('5, D2 keys: unknown, revoked and expired 401, permission 403, bound list, subscription 402', async () => {
    const { post, rules, workspace, key } = await client();
    const body = [event({ ip: '192.0.2.1' })];
    const edge = await manage('list', 'create', 'edge', '--workspace', workspace);
    await manage('list', 'create', 'other', '--workspace', workspace);
    const made = async (...options: string[]) => manage('key', 'create', '--workspace', workspace, ...options);
    const reader = await made('--permission', 'feed:read');
    const brief = await made('--expires-in', '1');
    const revoked = await made();
    const bound = await made('--list', 'edge');

    const unknown = await post('/v1/signal', body, `${key}x`);
    assert.deepEqual([unknown.status, unknown.body], [401, { error: 'Unauthorized', message: 'Invalid or missing API key', code: 401 }]);
    assert.equal(unknown.headers['www-authenticate'], 'Bearer');
    assert.equal((await post('/v1/signal', body, String(reader.key))).status, 403);
    assert.equal((await post('/v1/signal', body, String(revoked.key))).status, 200);
    await manage('key', 'revoke', String(revoked.id));
    await eventually(async () => assert.equal((await post('/v1/signal', body, String(revoked.key))).status, 401), 2000);
    await eventually(async () => assert.equal((await post('/v1/signal', body, String(brief.key))).status, 401), 3000);

    assert.equal((await post('/v1/signal?list=other', body, String(bound.key))).status, 403);
    assert.equal((await post('/v1/signal', [event({ ip: '192.0.2.7' })], String(bound.key))).status, 200);
    const kinds = await post('/v2/signal', [waf(), access({}, { target: { ip: '192.0.2.8' } })], String(bound.key));
    assert.deepEqual([kinds.status, kinds.body.errors.length], [206, 1]);
    assert.deepEqual(targets(await rules('access_rule', String(edge.id))), ['192.0.2.7', '192.0.2.8']);

    const org = await manage('org', 'create', 'late payer');
    await manage('workspace', 'create', 'late', '--org', String(org.id));
    const late = String((await manage('key', 'create', '--workspace', 'late')).key);
    assert.equal((await post('/v1/signal', body, late)).status, 200);
    await manage('org', 'set', 'late payer', '--subscription', 'inactive');
    const unpaid = await eventually(async () => {
      const answer = await post('/v1/signal', body, late);
      assert.equal(answer.status, 402);
      return answer;
    }, 2000);
    assert.deepEqual([unpaid.body.error, unpaid.body.code], ['PaymentRequired', 402]);
    await manage('org', 'set', 'late payer', '--subscription', 'active');
    await eventually(async () => assert.equal((await post('/v1/signal', body, late)).status, 200), 2000);
  });

  test('5.4, D2 a key reaches its own workspace only', async () => {
    const [one, two] = [await client(), await client()];
    await one.post('/v2/signal', [access({ rule_ref: 'same' }), waf()]);
    await two.post('/v2/signal', [
      { kind: 'access_rule', op: 'delete', rule_ref: 'same' },
      waf({ op: 'delete' }),
      access({ op: 'delete' }),
    ]);
    assert.deepEqual(await two.rules(), []);
    assert.deepEqual([(await one.rules()).length, (await one.rules('waf_rule')).length], [1, 1]);
  });

  once('4.1, 7.1 other methods are 405 and name the right one', async () => {
    for (const path of ['/v1/signal', '/v2/signal']) {
      for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
        const { status, headers, text } = await ask(world().weir().url, path, { method });
        assert.deepEqual([status, headers.allow, JSON.parse(text).error], [405, 'POST', 'MethodNotAllowed']);
      }
    }
  });

  once('4, D3 the real curl -d, without a content type of its own, from a file too', async (t) => {
    const { key, rules } = await client();
    const { url } = world().weir();
    const curl = async (...args: string[]) => {
      const { stdout } = await promisify(execFile)('curl', ['-sS', '-w', '\n%{http_code}', '-H', `Authorization: Bearer ${key}`, ...args]);
      return stdout.split('\n');
    };
    const one = await curl('-d', JSON.stringify([event({ ip: '192.0.2.1' })]), `${url}/v1/signal`);
    assert.deepEqual(one, ['{"success":true,"message":"Processed 1 entries, 0 failed"}', '200']);
    const file = join(temporaryFolder(t), 'batch.json');
    writeFileSync(file, `\ufeff${JSON.stringify([access({}, { target: { ip: '192.0.2.2' } })], null, 2)}\n`);
    const two = await curl(
      '-H',
      'Content-Type: application/json',
      '-H',
      'Expect: 100-continue',
      '--data-binary',
      `@${file}`,
      `${url}/v2/signal`,
    );
    assert.equal(two.at(-1), '200');
    writeFileSync(file, ' '.repeat(16 * 1024 * 1024 + 1));
    assert.equal((await curl('--data-binary', `@${file}`, `${url}/v2/signal`)).at(-1), '400');
    assert.equal((await curl('-H', 'Transfer-Encoding: chunked', '--data-binary', `@${file}`, `${url}/v2/signal`)).at(-1), '400');
    assert.equal((await rules()).length, 2);
  });

  once('7.1, 8 429 with Retry-After when a key has used up its requests', async (t) => {
    const { key } = await client();
    const limited = await weirFor(t, { ...world().settings, RATE_LIMIT_SIGNALS: '3', ROLES: 'signals' });
    const post = () => postSignals(limited.url, key, [event({ ip: '192.0.2.1' })], '/v1/signal?dry_run=1');
    for (let i = 0; i < 3; i += 1) assert.equal((await post()).status, 200);
    const { status, headers, text } = await post();
    assert.deepEqual([status, JSON.parse(text).error], [429, 'TooManyRequests']);
    const wait = Number(headers['retry-after']);
    assert(Number.isInteger(wait) && wait >= 1 && wait <= 20, String(wait));
    // This process does not serve feeds.
    assert.equal((await ask(limited.url, '/v1/threat/feeds')).status, 404);
  });

  guardRailTests(world, once);
  sampleTests(world, once);

  once('1 the documentation is served', async () => {
    const { url } = world().weir();
    for (const group of ['signal', 'feeds']) assert.equal((await ask(url, `/docs/${group}/swagger/`)).status, 200);
  });
}

function randomEnvelope(random: Random): Json {
  const reason = String(random.below(1000));
  const target = random.pick([{ ip: '192.0.2.1' }, { ip: '192.0.2.0/24' }, { country: 'NL' }]);
  const action = random.pick(['block', 'allow']);
  const ref = random.pick(['a', 'b', 'c']);
  const kind = random.pick(['waf_rule', 'smart_firewall_rule']);
  const expression = kind === 'waf_rule' ? EXPRESSION : 'ip.src eq 192.0.2.9';
  return random.pick([
    () => access({ rule_ref: ref, reason }, { target, action }),
    () => access({ reason }, { target, action }),
    () => ({ kind: 'access_rule', op: 'delete', rule_ref: ref }),
    () => access({ op: 'delete' }, { target, action }),
    () => waf({ kind, rule_ref: ref, reason }, { expression }),
    () => ({ kind, op: 'delete', rule_ref: ref }),
  ])();
}

/** Rules without what differs between two workspaces and two moments. */
const bare = (rules: Json[]) =>
  rules
    .map(({ id: _, list_id: __, created_at: ___, updated_at: ____, batch_id: _____, key_id: ______, expires_at, ...rest }) =>
      JSON.stringify({ ...rest, expires: expires_at !== null }),
    )
    .sort();
