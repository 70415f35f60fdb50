/** What clients may rely on about WAF rules and smart firewall rules, over real HTTP; every engine runs it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expressions as labelled } from '@weir/expression/test/corpus.ts';
import { eventually, inSeconds } from '../support/weir.ts';
import type { Client, Json, World } from '../support/world.ts';
import type { Once } from './engine.ts';

const KINDS = ['waf_rule', 'smart_firewall_rule'] as const;
type Kind = (typeof KINDS)[number];

/** Valid under the scheme of both kinds. */
const EXPRESSION = 'ip.src in {192.0.2.0/24}';
const RESPONSE = 'http.response.code == 404 and http.request.path contains "/admin"';
const TYPE_MESSAGE = 'rule.type is required and must be one of custom, generated';
const SECONDS_MESSAGE = 'expires_in: must be an integer from 0 to 3155760000';

const upsert = (kind: string, more: Json = {}, rule: Json = {}): Json => ({
  kind,
  op: 'upsert',
  rule_ref: 'r-1',
  rule: { type: 'custom', expression: EXPRESSION, action: 'block', ...rule },
  ...more,
});
const waf = (more: Json = {}, rule: Json = {}) => upsert('waf_rule', more, rule);
const smart = (more: Json = {}, rule: Json = {}) => upsert('smart_firewall_rule', more, rule);
const remove = (kind: string, rule_ref: string, more: Json = {}) => ({ kind, op: 'delete', rule_ref, ...more });
const access = (more: Json = {}) => ({ kind: 'access_rule', op: 'upsert', rule: { target: { ip: '198.51.100.7' } }, ...more });

/** A value without the fields that are undefined, as JSON would leave it. */
const without = (value: Json, ...fields: string[]): Json =>
  Object.fromEntries(Object.entries(value).filter(([field]) => !fields.includes(field)));
const withRule = (entry: Json, ...dropped: string[]): Json => ({ ...entry, rule: without(entry.rule as Json, ...dropped) });
const refs = (rules: Json[]) => rules.map(({ rule_ref }) => rule_ref).sort();

export function expressionTests(world: () => World, once: Once): void {
  /** The one rule of this kind, after these entries were accepted. */
  async function stored(client: Client, kind: Kind, ...entries: Json[]): Promise<Json> {
    const { status, body } = await client.post('/v2/signal', entries);
    assert.deepEqual([status, body], [200, { success: true, message: `Processed ${entries.length} entries, 0 failed`, errors: [] }]);
    const rules = await client.rules(kind);
    assert.equal(rules.length, 1);
    return rules[0]!;
  }

  /** The faults of entries, each sent alone in one batch with a good one, without their common beginning; '' = accepted. */
  async function faults(entries: readonly Json[], client?: Client): Promise<string[]> {
    const { post } = client ?? (await world().client());
    const { status, body } = await post('/v2/signal', [...entries, access()]);
    assert.equal(status, body.errors?.length > 0 ? 206 : 200, JSON.stringify(body));
    const failed = body.errors.length;
    assert.equal(body.success, failed === 0);
    assert.equal(body.message, `Processed ${entries.length + 1 - failed} entries, ${failed} failed`);
    const found = entries.map(() => '');
    for (const error of body.errors) {
      const [, index, reason] = /^Entry (\d+): (.*)$/s.exec(error)!;
      found[Number(index)] = reason!.replace(/^Schema validation failed: /, '');
    }
    return found;
  }
  /** The same of one body per kind. */
  const ofBoth = async (more: Json, rule: Json = {}) => faults(KINDS.map((kind) => upsert(kind, more, rule)));

  // ------------------------------------------------------------ 2.2 the envelope

  once('2.2, 4.2 rule_ref is required for both kinds, on upsert and on delete', async () => {
    for (const kind of KINDS) {
      const missing = [without(upsert(kind), 'rule_ref'), upsert(kind, { rule_ref: null }), { kind, op: 'delete' }];
      assert.deepEqual(await faults(missing), Array(3).fill('rule_ref: is required'));
    }
  });

  once('2.2, 8 rule_ref: 1 to 128 characters of its pattern', async () => {
    const good = ['a', 'Z', '0', 'a._:-Z9', `a${'x'.repeat(127)}`];
    const bad = ['', ' ', '.a', '-a', '_a', ':a', 'a b', 'a/b', 'é', 'a\n', `a${'x'.repeat(128)}`];
    for (const kind of KINDS) {
      assert.deepEqual(await faults(good.map((rule_ref) => upsert(kind, { rule_ref }))), Array(good.length).fill(''));
      const fault = 'rule_ref: must match ^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$';
      assert.deepEqual(await faults(bad.map((rule_ref) => upsert(kind, { rule_ref }))), Array(bad.length).fill(fault));
      assert.deepEqual(await faults([upsert(kind, { rule_ref: 7 }), remove(kind, '')]), ['rule_ref: must be a string', fault]);
    }
  });

  test('2.2, 3 re-sending a rule_ref updates the active rule, a new one creates', async () => {
    for (const kind of KINDS) {
      const client = await world().client();
      const first = await stored(client, kind, upsert(kind));
      const again = await stored(client, kind, upsert(kind, {}, { action: 'allow' }), upsert(kind, {}, { action: 'allow' }));
      assert.deepEqual([again.id, again.action], [first.id, 'allow']);
      await client.post('/v2/signal', [upsert(kind, { rule_ref: 'R-1' }), upsert(kind, { rule_ref: 'r-2' })]);
      assert.deepEqual(refs(await client.rules(kind)), ['R-1', 'r-1', 'r-2']);
    }
  });

  test('D3 an upsert replaces the whole rule: what it omits is unset, created_at stays', async () => {
    for (const kind of KINDS) {
      const client = await world().client();
      const whole = { name: 'n', order: 3, short_description: 's', config: { a: 1 }, type: 'generated', action: 'allow' };
      const phase = kind === 'waf_rule' ? { phase: 'request' } : {};
      const first = await stored(client, kind, upsert(kind, { reason: 'r', labels: { l: 1 }, expires_in: 3600 }, { ...whole, ...phase }));
      assert.deepEqual(first.config, { a: 1, ...phase });
      const second = await stored(client, kind, upsert(kind));
      const { updated_at, ...rest } = second;
      assert.deepEqual(rest, {
        id: first.id,
        kind,
        rule_ref: 'r-1',
        name: null,
        type: 'custom',
        expression: EXPRESSION,
        action: 'block',
        order: null,
        short_description: null,
        reason: null,
        labels: null,
        config: null,
        expires_at: null,
        created_at: first.created_at,
        key_id: first.key_id,
        batch_id: second.batch_id,
      });
      assert.ok(second.batch_id !== first.batch_id);
      assert.ok(String(updated_at) > String(first.updated_at));
    }
  });

  test('D3 the identity is workspace, kind and rule_ref', async () => {
    const [one, two] = [await world().client(), await world().client()];
    const batch = [waf(), smart(), access({ rule_ref: 'r-1' })];
    for (const { post } of [one, two]) assert.equal((await post('/v2/signal', batch)).status, 200);
    await one.post('/v2/signal', [remove('smart_firewall_rule', 'r-1')]);
    const left = async (client: Client) =>
      Promise.all(['waf_rule', 'smart_firewall_rule', 'access_rule'].map(async (kind) => (await client.rules(kind)).length));
    assert.deepEqual(
      [await left(one), await left(two)],
      [
        [1, 0, 1],
        [1, 1, 1],
      ],
    );
  });

  once('2.2, D3 expires_in: none by default, no floor, counted from acceptance', async () => {
    const client = await world().client();
    for (const kind of KINDS) {
      for (const more of [{}, { expires_in: 0 }, { expires_in: null }]) {
        assert.equal((await stored(client, kind, upsert(kind, more))).expires_at, null);
      }
      const { expires_at, updated_at } = await stored(client, kind, upsert(kind, { expires_in: 59 }));
      const ms = Date.parse(String(expires_at)) - Date.parse(String(updated_at));
      assert.ok(ms >= 59_000 && ms < 60_000, String(ms));
      assert.equal(Date.parse(String(expires_at)) % 1000, 0, 'a whole second, rounded up');
    }
    const never = { expires_in: 3_155_760_000 };
    assert.ok(String((await stored(client, 'waf_rule', waf(never))).expires_at) > '2120');
  });

  once('2.2, D3 expires_in is an integer from 0 to one hundred years', async () => {
    for (const expires_in of [-1, 1.5, '60', true, 3_155_760_001, [], {}]) {
      assert.deepEqual(await ofBoth({ expires_in }), [SECONDS_MESSAGE, SECONDS_MESSAGE], JSON.stringify(expires_in));
    }
    assert.deepEqual(await ofBoth({ expires_in: 60.0 }), ['', '']);
  });

  once('3, D3 a rule past its expiry is gone; an upsert on it counts as a new rule', async () => {
    const client = await world().client();
    for (const kind of KINDS) {
      const first = await inSeconds(async (expires_in) => {
        assert.equal((await client.post('/v2/signal', [upsert(kind, { expires_in })])).status, 200);
        return (await client.rules(kind))[0];
      });
      await eventually(async () => assert.deepEqual(await client.rules(kind), []));
      const second = await stored(client, kind, upsert(kind));
      assert.ok(String(second.created_at) > String(first.expires_at));
    }
  });

  once('2.2 op delete removes by rule_ref; the rule and expires_in are ignored; what is not there is deleted too', async () => {
    for (const kind of KINDS) {
      const client = await world().client();
      const ignored = [undefined, null, 'x', 7, [], {}, { type: 'x' }, { type: '', expression: ')', action: 7, phase: 'x', order: 'a' }];
      for (const rule of ignored) {
        await stored(client, kind, upsert(kind));
        const { status } = await client.post('/v2/signal', [remove(kind, 'r-1', { rule, expires_in: -1 })]);
        assert.equal(status, 200, JSON.stringify(rule));
        assert.deepEqual(await client.rules(kind), []);
      }
      assert.equal((await client.post('/v2/signal', [remove(kind, 'r-1'), remove(kind, 'never-was')])).status, 200);
    }
  });

  once('2.2 schema_version, kind and op', async () => {
    assert.deepEqual(await ofBoth({ schema_version: 2 }), ['', '']);
    for (const schema_version of [1, 3, '2', 2.5])
      assert.deepEqual(await ofBoth({ schema_version }), Array(2).fill('schema_version: must be 2'));
    const kinds = 'kind: must be one of: access_rule, waf_rule, smart_firewall_rule';
    for (const kind of ['WAF_RULE', 'waf', '', 7]) assert.deepEqual(await faults([waf({ kind })]), [kinds]);
    assert.deepEqual(await faults([without(waf(), 'kind')]), ['kind: is required']);
    for (const op of ['UPSERT', 'remove', '']) assert.deepEqual(await ofBoth({ op }), Array(2).fill('op: must be one of: upsert, delete'));
    assert.deepEqual(await faults([without(smart(), 'op')]), ['op: is required']);
  });

  once('2.2, 8, D3 reason and labels are free, within limits', async () => {
    const client = await world().client();
    const labels = { source: 'honeypot', tags: ['a', null, 1.5, { deep: [[[[]]]] }], '😀': 'é' };
    const rule = await stored(client, 'waf_rule', waf({ reason: '😀'.repeat(2048), labels }));
    assert.deepEqual([rule.reason, rule.labels], ['😀'.repeat(2048), labels]);
    assert.deepEqual(await ofBoth({ reason: 'x'.repeat(2049) }), Array(2).fill('reason: must be at most 2048 characters'));
    assert.deepEqual(await ofBoth({ labels: { a: 'x'.repeat(8192 - 8) } }), ['', '']);
    assert.deepEqual(await ofBoth({ labels: { a: 'x'.repeat(8192 - 7) } }), Array(2).fill('labels: must be at most 8192 bytes as JSON'));
    assert.deepEqual(await ofBoth({ labels: nested(8) }), ['', '']);
    assert.deepEqual(await ofBoth({ labels: nested(9) }), Array(2).fill('labels: must be at most 8 levels deep'));
    for (const wrong of [[], 'x', 7]) assert.deepEqual(await ofBoth({ labels: wrong }), Array(2).fill('labels: must be an object'));
  });

  // ------------------------------------------------------------ 2.4 the rule

  test('2.4 everything of a rule is stored', async () => {
    const client = await world().client();
    const body = {
      name: 'login guard',
      order: -7,
      short_description: 'brute force',
      config: { sensitivity: 'high', rateLimit: { period: '10' } },
    };
    for (const kind of KINDS) {
      const rule = await stored(client, kind, upsert(kind, {}, { ...body, type: 'generated', action: 'allow' }));
      const { id: _, created_at: __, updated_at: ___, batch_id, key_id, ...rest } = rule;
      assert.ok(batch_id !== null && key_id !== null);
      const more = { kind, rule_ref: 'r-1', type: 'generated', expression: EXPRESSION, action: 'allow', reason: null, labels: null };
      assert.deepEqual(rest, { ...more, ...body, expires_at: null });
    }
  });

  once('2.4, D3 name, order, short_description and config are optional: absent and null are one', async () => {
    const client = await world().client();
    for (const kind of KINDS) {
      const nulls = { name: null, order: null, short_description: null, config: null, phase: null };
      const rule = await stored(client, kind, upsert(kind, { reason: null, labels: null }, nulls));
      for (const field of ['name', 'order', 'short_description', 'config', 'reason', 'labels']) assert.equal(rule[field], null, field);
    }
  });

  once('2.4 type: custom or generated, any letter case, stored lowercase', async () => {
    const client = await world().client();
    for (const kind of KINDS) {
      for (const type of ['custom', 'Custom', 'GENERATED', 'gEnErAtEd']) {
        assert.equal((await stored(client, kind, upsert(kind, {}, { type }))).type, type.toLowerCase());
      }
    }
  });

  once('2.4, 4.2, D3 rule.type missing, empty or not allowed refuses the whole batch', async () => {
    const client = await world().client();
    const bad: [Json, unknown][] = [];
    for (const kind of KINDS) {
      bad.push([withRule(upsert(kind), 'type'), null]);
      for (const type of ['', ' ', 'manual', 'custom ', 'kustom', '\u212austom', 'custom\0', null, 7, false])
        bad.push([upsert(kind, {}, { type }), type]);
      bad.push([upsert(kind, {}, { type: ['custom'] }), '["custom"]']);
      bad.push([upsert(kind, {}, { type: { a: 1 } }), '{"a":1}']);
      bad.push([upsert(kind, {}, { type: 'x'.repeat(300) }), `${'x'.repeat(200)}…`]);
      // A missing rule is a missing rule.type.
      bad.push([without(upsert(kind), 'rule'), null]);
      for (const rule of [null, 'custom', 7, [], {}]) bad.push([upsert(kind, { rule }), null]);
    }
    for (const [entry, value] of bad) {
      const { status, headers, body } = await client.post('/v2/signal', [access(), waf(), entry]);
      const details = [{ index: 2, field: 'rule.type', message: TYPE_MESSAGE, value }];
      assert.deepEqual([status, body], [400, { error: 'ValidationError', message: `Entry 2: ${TYPE_MESSAGE}`, details, code: 400 }]);
      assert.equal(headers['cache-control'], 'no-store');
    }
    assert.deepEqual([await client.rules('waf_rule'), await client.rules('access_rule')], [[], []], 'nothing was processed');
  });

  once('7.2, D3 details: one row per fault in the order of the entries, at most 100; other faults do not show', async () => {
    const { post } = await world().client();
    const wrong = [waf({ rule_ref: '' }, { type: 'x', action: 'x', expression: ')' }), 7, smart({}, { type: '' }), waf({ op: 'delete' })];
    const { status, body } = await post('/v2/signal', [waf(), ...wrong]);
    assert.equal(status, 400);
    assert.deepEqual(body.details, [
      { index: 1, field: 'rule.type', message: TYPE_MESSAGE, value: 'x' },
      { index: 2, field: 'entry', message: 'must be an object', value: 7 },
      { index: 3, field: 'rule.type', message: TYPE_MESSAGE, value: '' },
    ]);
    assert.equal(body.message, `Entry 1: ${TYPE_MESSAGE}`);
    const many = await post('/v2/signal', Array(1000).fill(waf({}, { type: '' })));
    assert.deepEqual([many.status, many.body.details.length, many.body.details[99]!.index], [400, 100, 99]);
  });

  once('2.4 actions of each kind: any letter case, stored lowercase; others are an entry fault', async () => {
    const client = await world().client();
    const allowed = { waf_rule: ['block', 'challenge', 'ratelimit', 'allow'], smart_firewall_rule: ['block', 'allow'] };
    for (const kind of KINDS) {
      for (const action of allowed[kind].flatMap((word) => [word, word.toUpperCase(), word[0]!.toUpperCase() + word.slice(1)])) {
        assert.equal((await stored(client, kind, upsert(kind, {}, { action }))).action, action.toLowerCase());
      }
      const others = [
        '',
        'log',
        'block ',
        'bloc\u212a',
        'rate_limit',
        7,
        ...allowed.waf_rule.filter((word) => !allowed[kind].includes(word)),
      ];
      const fault = `rule.action: must be one of: ${allowed[kind].join(', ')}`;
      assert.deepEqual(await faults(others.map((action) => upsert(kind, {}, { action }))), Array(others.length).fill(fault));
      const missing = [withRule(upsert(kind), 'action'), upsert(kind, {}, { action: null })];
      assert.deepEqual(await faults(missing), Array(2).fill('rule.action: is required'));
    }
  });

  once('2.4 phase: any letter case, stored lowercase in config.phase, absent when it is not given', async () => {
    const client = await world().client();
    const config = async (rule: Json) => (await stored(client, 'waf_rule', waf({}, rule))).config;
    assert.deepEqual(await config({ phase: 'Request' }), { phase: 'request' });
    assert.deepEqual(await config({ phase: 'RESPONSE', config: { sensitivity: 'low' } }), { sensitivity: 'low', phase: 'response' });
    assert.deepEqual(await config({ phase: 'response', expression: RESPONSE }), { phase: 'response' });
    assert.equal(await config({ expression: RESPONSE }), null, 'the enforcement engine detects it');
    assert.equal(await config({}), null);
    assert.deepEqual(await config({ config: { phase: 'response', a: 1 } }), { a: 1 }, 'only the given phase is stored');
    assert.deepEqual(await config({ phase: 'request', config: { phase: 'response' } }), { phase: 'request' });
    for (const phase of ['', 'both', 'requests', 7, []]) {
      assert.deepEqual(await faults([waf({}, { phase })]), ['rule.phase: must be one of: request, response'], JSON.stringify(phase));
    }
  });

  once('2.4, D3 an explicit request phase with a response field is refused', async () => {
    const fault = 'rule.phase: must be response: the expression uses a field of the response';
    const nested = 'not (ip.src == 192.0.2.1 or any(lower(http.response.headers["server"][*])[*] contains "x"))';
    assert.deepEqual(await faults([RESPONSE, nested].map((expression) => waf({}, { expression, phase: 'REQUEST' }))), [fault, fault]);
    assert.deepEqual(await faults([waf({}, { phase: 'response' }), waf({}, { expression: RESPONSE, phase: 'response' })]), ['', '']);
  });

  once('2.4 phase is not allowed for smart_firewall_rule', async () => {
    for (const phase of ['request', 'response', '', 'x', 7, {}]) {
      assert.deepEqual(await faults([smart({}, { phase })]), ['rule.phase: is not allowed for smart_firewall_rule']);
    }
    const client = await world().client();
    assert.equal((await stored(client, 'smart_firewall_rule', smart({}, { phase: null }))).config, null);
    const { config } = await stored(client, 'smart_firewall_rule', smart({}, { config: { phase: 'request', a: 1 } }));
    assert.deepEqual(config, { a: 1 });
  });

  once('2.4, D3 order is a safe integer', async () => {
    const client = await world().client();
    for (const kind of KINDS) {
      for (const order of [0, -1, 2 ** 53 - 1, -(2 ** 53 - 1)]) {
        assert.equal((await stored(client, kind, upsert(kind, {}, { order }))).order, order);
      }
    }
    for (const order of [2 ** 53, -(2 ** 53), 1.5, '1', true, []]) {
      const fault = `rule.order: must be an integer from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`;
      assert.deepEqual(await ofBoth({}, { order }), [fault, fault], JSON.stringify(order));
    }
  });

  once('2.4, D3 limits of name, short_description and config', async () => {
    const client = await world().client();
    const widest = { name: '😀'.repeat(256), short_description: '😀'.repeat(2048), config: { a: 'x'.repeat(32 * 1024 - 8) } };
    for (const kind of KINDS) {
      const rule = await stored(client, kind, upsert(kind, {}, widest));
      assert.deepEqual({ name: rule.name, short_description: rule.short_description, config: rule.config }, widest);
    }
    const wrong: [Json, string][] = [
      [{ name: 'x'.repeat(257) }, 'name: must be at most 256 characters'],
      [{ name: 7 }, 'name: must be a string'],
      [{ short_description: 'x'.repeat(2049) }, 'short_description: must be at most 2048 characters'],
      [{ config: { a: 'x'.repeat(32 * 1024 - 7) } }, 'config: must be at most 32768 bytes as JSON'],
      [{ config: { a: 'é'.repeat(16 * 1024) } }, 'config: must be at most 32768 bytes as JSON'],
      [{ config: nested(9) }, 'config: must be at most 8 levels deep'],
      [{ config: [] }, 'config: must be an object'],
      [{ name: 'a\0' }, 'name: must not hold U+0000 or a lone surrogate'],
      [{ config: { a: '\ud800' } }, 'config: must not hold U+0000 or a lone surrogate'],
    ];
    for (const [rule, fault] of wrong) assert.deepEqual(await ofBoth({}, rule), Array(2).fill(`rule.${fault}`));
    assert.deepEqual(await ofBoth({}, { config: nested(8) }), ['', '']);
  });

  once('D3 one entry has at most 64 KiB in all', async () => {
    const entry = waf({ unknown: '' });
    const room = 64 * 1024 - Buffer.byteLength(JSON.stringify(entry));
    const sized = (bytes: number) => ({ ...entry, unknown: 'x'.repeat(bytes) });
    assert.deepEqual(await faults([sized(room), sized(room + 1)]), ['', 'entry: must be at most 65536 bytes as JSON']);
  });

  once('D3 unknown properties are ignored, __proto__ and constructor are plain data', async () => {
    const client = await world().client();
    const entry = JSON.stringify(waf({ extra: 1 }, { extra: { a: 1 }, config: { sensitivity: 1 } })).replace(
      '"sensitivity":1',
      '"__proto__":{"phase":"response"},"constructor":"c"',
    );
    const { status } = await client.post('/v2/signal', `[${entry}]`);
    assert.equal(status, 200);
    const [rule] = await client.rules('waf_rule');
    assert.equal(JSON.stringify(rule!.config), '{"__proto__":{"phase":"response"},"constructor":"c"}');
    assert.ok(!('extra' in rule!));
  });

  // ------------------------------------------------------------ the expression

  once('2.4 the expression is stored as it was sent', async () => {
    const client = await world().client();
    const expressions = [
      '  \r\n\tip.src == 192.0.2.1\n or threat.score >= 0x10 ',
      'signal.sni in {"é" "😀"} || signal.sni ~ r#"a"b\\d"#',
      'signal.sni == "http.request.path"',
    ];
    for (const kind of KINDS) {
      for (const expression of expressions)
        assert.equal((await stored(client, kind, upsert(kind, {}, { expression }))).expression, expression);
    }
  });

  once('2.4, D3 the expression is required, a string of at most 4,096 characters', async () => {
    const long = `signal.sni == "${'😀'.repeat(4096 - 16)}"`;
    assert.deepEqual(await ofBoth({}, { expression: long }), ['', '']);
    assert.deepEqual(await ofBoth({}, { expression: `${long} ` }), Array(2).fill('rule.expression: must be at most 4096 characters'));
    assert.deepEqual(await ofBoth({}, { expression: '' }), Array(2).fill('rule.expression: must not be empty'));
    assert.deepEqual(await ofBoth({}, { expression: null }), Array(2).fill('rule.expression: is required'));
    for (const expression of [7, [], {}, true])
      assert.deepEqual(await ofBoth({}, { expression }), Array(2).fill('rule.expression: must be a string'));
    const zero = Array(2).fill('rule.expression: must not hold U+0000 or a lone surrogate');
    assert.deepEqual(await ofBoth({}, { expression: 'signal.sni == "\0"' }), zero);
    assert.deepEqual(await ofBoth({}, { expression: 'signal.sni == "\ud800"' }), zero);
    for (const fault of await ofBoth({}, { expression: ' ' }))
      assert.match(fault, /^Expression validation failed: rule\.expression: \(1:1\) ./);
  });

  once('2.4, D3 an expression holds at most 64 regular expressions', async () => {
    const regexes = (count: number) => Array(count).fill('signal.sni ~ "a"').join(' or ');
    assert.deepEqual(await ofBoth({}, { expression: regexes(64) }), ['', '']);
    assert.deepEqual(
      await ofBoth({}, { expression: regexes(65) }),
      Array(2).fill('rule.expression: must hold at most 64 regular expressions'),
    );
  });

  once('4.2, D3 an expression that does not parse: one line with its position', async () => {
    const cases = [
      'http.request.path ends_with ".html"',
      'ip.src == 192.0.2.1 and\nthreat.score = 5',
      'signal.sni ~ "("',
      'é',
      'ip.src ==',
      ')',
    ];
    const found = await faults(cases.map((expression) => waf({}, { expression })));
    const positions = ['1:19', '2:14', '1:15', '1:1', '1:10', '1:1'];
    for (const [index, fault] of found.entries()) {
      const begin = `Expression validation failed: rule.expression: (${positions[index]}) `;
      assert.ok(fault.startsWith(begin) && fault.length > begin.length, fault);
      assert.ok(!fault.includes('\n'), 'one line');
    }
    const { post } = await world().client();
    const { status, body } = await post('/v2/signal', [waf(), waf({}, { expression: cases[0] })]);
    const text = 'expected an operator, such as == or in; it is a function: ends_with(field, "…")';
    assert.deepEqual(
      [status, body],
      [
        206,
        {
          success: false,
          message: 'Processed 1 entries, 1 failed',
          errors: [`Entry 1: Expression validation failed: rule.expression: (1:19) ${text}`],
        },
      ],
    );
  });

  once('2.4, 4.2 the labelled expressions: verdict, line and column are those of the enforcement engine', async () => {
    // What is empty or holds U+0000 is refused before it is parsed.
    const sent = labelled.filter(({ expression }) => expression !== '' && !expression.includes('\0'));
    assert.ok(sent.length > 600 && sent.length < 1000);
    const found = await faults(sent.map(({ kind, expression }, n) => upsert(kind, { rule_ref: `l-${n}` }, { expression })));
    for (const [n, { expression, valid, doubtful, line, column }] of sent.entries()) {
      const fault = found[n]!;
      if (valid && doubtful) assert.match(fault, /^$|named lists are not supported|at most 4096 characters/, expression);
      else if (valid) assert.equal(fault, '', expression);
      else assert.match(fault, new RegExp(`^Expression validation failed: rule\\.expression: \\(${line}:${column}\\) .`), expression);
    }
  });

  once('D3 beside other faults the expression comes last', async () => {
    const [fault] = await faults([smart({ rule_ref: null, reason: 7 }, { expression: ')', action: 'x', phase: 'request', order: 0.5 })]);
    const parts = fault!.split('; ').map((part) => part.split(': ')[0]);
    assert.deepEqual(parts.slice(0, -1).sort(), ['reason', 'rule.action', 'rule.order', 'rule.phase', 'rule_ref']);
    assert.match(fault!, /; rule\.expression: \(1:1\) [^;]+$/);
    const [both] = await faults([waf({}, { expression: 'nope == 1', action: 'x' })]);
    assert.match(both!, /^rule\.action: must be one of: block, challenge, ratelimit, allow; rule\.expression: \(1:1\) ./);
  });

  once('2.4, 4.2 http.* fields in a smart firewall rule, and fields of the other kind', async () => {
    const reason = '"http.request.path" cannot be used in smart firewall rules: HTTP fields do not exist before a connection is made';
    const [http, inside, smartOnly, neither] = await faults([
      smart({}, { expression: 'http.request.path == "/"' }),
      smart({}, { expression: 'ip.src == 192.0.2.1 or not (tcp.dstport == 80 and lower(http.request.path) == "/")' }),
      waf({}, { expression: 'tcp.dstport == 22' }),
      waf({}, { expression: 'no.such.field == 1' }),
    ]);
    assert.equal(http, `Expression validation failed: rule.expression: (1:1) ${reason}`);
    assert.equal(inside, `Expression validation failed: rule.expression: (1:57) ${reason}`);
    assert.match(smartOnly!, /\(1:1\) "tcp\.dstport" .*smart firewall/);
    assert.match(neither!, /\(1:1\) .*no\.such\.field/);
  });

  once('D3 named lists are refused', async () => {
    for (const fault of await ofBoth({}, { expression: 'ip.src in $office' })) {
      assert.match(fault, /^Expression validation failed: rule\.expression: \(1:11\) named lists are not supported/);
    }
  });

  once('4.2 hostile expressions are refused, and the service goes on', async () => {
    const fill = (unit: string, end = '') => unit.repeat(Math.floor((4096 - end.length) / unit.length)) + end;
    const hostile = [
      fill('('),
      fill('not '),
      fill('lower('),
      fill('any('),
      `signal.sni ~ "${fill('(', '').slice(0, 4000)}"`,
      `signal.sni ~ "${'(a{1000}){1000}'.repeat(200)}"`,
      `signal.sni ~ "${'['.repeat(4000)}"`,
      `signal.sni in {${'"'.repeat(4000)}`,
      fill('ip.src in {'),
    ];
    const found = await faults(hostile.flatMap((expression) => [waf({}, { expression }), smart({}, { expression })]));
    for (const fault of found) assert.match(fault, /^Expression validation failed: rule\.expression: \(1:\d+\) ./);
  });

  // ------------------------------------------------------------ batches and landing

  test('6.2 one batch of all kinds lands in three stores; the feed has the access rules only', async () => {
    const client = await world().client();
    const batch = [waf({ rule_ref: 'w' }), access({ rule_ref: 'a' }), smart({ rule_ref: 's' }), { type: 'access_rules', action: 'block' }];
    const { status, body } = await client.post('/v2/signal', batch);
    assert.deepEqual([status, body.message], [206, 'Processed 3 entries, 1 failed']);
    assert.deepEqual(refs(await client.rules('waf_rule')), ['w']);
    assert.deepEqual(refs(await client.rules('smart_firewall_rule')), ['s']);
    assert.deepEqual(refs(await client.rules('access_rule')), ['a']);
    assert.equal(await client.feed(), '198.51.100.7/32\n');
  });

  test('D3 entries of one rule take effect in array order', async () => {
    const client = await world().client();
    const order = (value: number) => waf({}, { order: value });
    await client.post('/v2/signal', [
      order(1),
      order(2),
      remove('waf_rule', 'r-1'),
      smart(),
      remove('smart_firewall_rule', 'r-1'),
      order(3),
      order(4),
    ]);
    const rules = await client.rules('waf_rule');
    assert.deepEqual([rules.length, rules[0]!.order], [1, 4]);
    assert.deepEqual(await client.rules('smart_firewall_rule'), []);
  });

  once('4.2, 8 1000 rules of each kind in one request, 1001 refused', async () => {
    const client = await world().client();
    const many = (count: number) => Array.from({ length: count }, (_, i) => upsert(KINDS[i % 2]!, { rule_ref: `r${i}` }));
    const { status, body } = await client.post('/v2/signal', many(1000));
    assert.deepEqual([status, body.message], [200, 'Processed 1000 entries, 0 failed']);
    const refused = await client.post('/v2/signal', many(1001));
    assert.deepEqual(
      [refused.status, refused.body.details],
      [400, [{ field: 'body', message: 'must have 1 to 1000 entries', value: 1001 }]],
    );
    assert.deepEqual([(await client.rules('waf_rule')).length, (await client.rules('smart_firewall_rule')).length], [500, 500]);
  });

  once('4.2, 7.2 every entry failing is still 206', async () => {
    const { post } = await world().client();
    const { status, body } = await post('/v2/signal', [waf({ rule_ref: null }), smart({}, { expression: ')' })]);
    assert.deepEqual([status, body.success, body.message, body.errors.length], [206, false, 'Processed 0 entries, 2 failed', 2]);
  });

  once('D3 ?dry_run=1 validates and answers, and publishes nothing', async () => {
    const client = await world().client();
    await client.post('/v2/signal', [waf(), smart()]);
    const dry = [waf({ rule_ref: 'r-2' }), remove('waf_rule', 'r-1'), smart({}, { order: 5 }), smart({}, { expression: ')' })];
    const { status, body } = await client.post('/v2/signal?dry_run=1', dry);
    assert.deepEqual([status, body.message, body.errors.length], [206, 'Processed 3 entries, 1 failed', 1]);
    assert.equal((await client.post('/v2/signal?dry_run=1', [waf({}, { type: '' })])).status, 400);
    assert.deepEqual(refs(await client.rules('waf_rule')), ['r-1']);
    const [rule] = await client.rules('smart_firewall_rule');
    assert.equal(rule!.order, null);
  });

  once('D2 a key bound to a list: the other kinds are an entry fault', async () => {
    const client = await world().client();
    await world().json(['list', 'create', 'edge', '--workspace', client.workspace]);
    const [made] = await world().json(['key', 'create', '--workspace', client.workspace, '--list', 'edge']);
    const batch = [waf(), access(), smart(), remove('waf_rule', 'r-1'), remove('smart_firewall_rule', 'r-1')];
    const { status, body } = await client.post('/v2/signal', batch, String(made!.key));
    assert.deepEqual([status, body.message], [206, 'Processed 1 entries, 4 failed']);
    const fault = 'Schema validation failed: kind: must be access_rule: the API key is bound to an access-rules list';
    assert.deepEqual(
      body.errors,
      [0, 2, 3, 4].map((index) => `Entry ${index}: ${fault}`),
    );
    assert.deepEqual([await client.rules('waf_rule'), (await client.rules('access_rule')).length], [[], 1]);
  });

  once('D3 ?list= concerns access rules only', async () => {
    const client = await world().client();
    await world().json(['list', 'create', 'edge', '--workspace', client.workspace]);
    assert.equal((await client.post('/v2/signal?list=edge', [waf(), access()])).status, 200);
    assert.equal((await client.post('/v2/signal?list=nowhere', [waf()])).status, 404);
    const [rule] = await client.rules('waf_rule');
    assert.equal(rule!.rule_ref, 'r-1');
  });

  // ------------------------------------------------------------ the command line

  once('D1 weir rule ls --kind: one rule a line for people, one object a line for programs', async () => {
    const client = await world().client();
    const expression = 'ip.src == 192.0.2.1\n  or threat.score > 5';
    await client.post('/v2/signal', [
      waf({ rule_ref: 'w-1', expires_in: 3600 }, { name: 'first\nname', expression, action: 'challenge', phase: 'request' }),
      waf({ rule_ref: 'w-2' }, { type: 'generated' }),
      smart({ rule_ref: 's-1' }),
    ]);
    const [first] = await client.rules('waf_rule');
    assert.deepEqual([first!.rule_ref, first!.expression, first!.config], ['w-1', expression, { phase: 'request' }]);
    const text = await world().text(['rule', 'ls', '--workspace', client.workspace, '--kind', 'waf_rule']);
    const [heading, ...lines] = text.split('\n').map((line) => line.split(/(?<! ) {2,}(?!or| )/));
    assert.deepEqual(heading, ['ACTION', 'TYPE', 'UNTIL', 'REF', 'NAME', 'KEY', 'BATCH', 'REASON', 'EXPRESSION']);
    assert.deepEqual(
      lines.map((cells) => cells.toSpliced(5, 2)),
      [
        ['challenge', 'custom', first!.expires_at, 'w-1', 'first name', '-', 'ip.src == 192.0.2.1   or threat.score > 5'],
        ['block', 'generated', '-', 'w-2', '-', '-', EXPRESSION],
        [''],
      ],
    );
    assert.deepEqual(refs(await client.rules('smart_firewall_rule')), ['s-1']);
  });
}

/** An object of this many levels. */
const nested = (levels: number): Json => (levels === 1 ? {} : { a: nested(levels - 1) });
