import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packagedSchemes } from '@weir/expression/scheme.ts';
import fc from 'fast-check';
import { batchSteps, inOneGo, scanSteps, validateBatch } from './batch.ts';
import { expiresAt } from './expiry.ts';
import { AnyEnvelope, EXPRESSION_FIELDS, type Signal, V1Event } from './schema.ts';
import type { EnvelopeCheck } from './v2.ts';

const check: EnvelopeCheck = {
  hasAsn: (asn) => asn === 64500 || asn === 1,
  isCountry: (code) => ['NL', 'US', 'SS'].includes(code),
  schemes: packagedSchemes(),
  listBound: false,
};
const HUNDRED_YEARS = 3_155_760_000;

const runText = (version: 1 | 2, json: string, more: Partial<EnvelopeCheck> = {}) => validateBatch(version, json, { ...check, ...more });
const errorsOf = (version: 1 | 2, json: string) => {
  const result = runText(version, json);
  assert(result.refused === undefined, JSON.stringify(result));
  return result.errors;
};
const run = (version: 1 | 2, body: unknown, more?: Partial<EnvelopeCheck>) => runText(version, JSON.stringify(body), more);
const refused = (version: 1 | 2, body: unknown) => {
  const result = run(version, body);
  assert(result.refused !== undefined, JSON.stringify(result));
  return result.refused;
};
/** The errors of a batch of one, without the common beginning; '' = accepted. */
const fault = (version: 1 | 2, entry: unknown, more?: Partial<EnvelopeCheck>) => {
  const result = run(version, [entry], more);
  assert(result.refused === undefined, JSON.stringify(result));
  assert.equal(result.accepted.length + result.errors.length, 1);
  return (result.errors[0] ?? '').replace(/^Entry 0: Schema validation failed: /, '');
};
const accepted = (version: 1 | 2, entry: unknown): Signal => {
  const result = run(version, [entry]);
  assert(result.refused === undefined, JSON.stringify(result));
  assert.deepEqual(result.errors, []);
  return result.accepted[0]!;
};
const envelope = (entry: unknown) => {
  const signal = accepted(2, entry);
  assert(signal.version === 2);
  return JSON.parse(JSON.stringify(signal.envelope));
};

const v1 = (more: object) => ({ type: 'access_rules', action: 'block', ...more });
const access = (more: object = {}, rule: object = {}) => ({
  kind: 'access_rule',
  op: 'upsert',
  rule: { target: { ip: '203.0.113.7' }, ...rule },
  ...more,
});
const EXPRESSION = 'http.request.method eq "GET"';
const waf = (more: object = {}, rule: object = {}) => ({
  kind: 'waf_rule',
  op: 'upsert',
  rule_ref: 'waf-1',
  rule: { type: 'custom', expression: EXPRESSION, action: 'block', ...rule },
  ...more,
});
const smart = (more: object = {}, rule: object = {}) => ({
  kind: 'smart_firewall_rule',
  op: 'upsert',
  rule_ref: 'fw-1',
  rule: { type: 'generated', expression: 'ip.src == 203.0.113.7', action: 'block', ...rule },
  ...more,
});

test('D3 refused whole: not an array, 0 or more than 1000 entries, an entry that is no object', () => {
  for (const body of [null, {}, 'x', 7, true]) assert.equal(refused(1, body)[0]!.message, 'must be a JSON array');
  assert.deepEqual(refused(2, []), [{ field: 'body', message: 'must have 1 to 1000 entries', value: 0 }]);
  assert.equal(refused(1, Array(1001).fill(v1({ ip: '1.1.1.1' })))[0]!.value, 1001);
  assert.equal(run(1, Array(1000).fill(v1({ ip: '1.1.1.1' }))).refused, undefined);
  assert.deepEqual(refused(2, [access(), [1]]), [{ index: 1, field: 'entry', message: 'must be an object', value: '[1]' }]);
  assert.equal(refused(1, [v1({ ip: '1.1.1.1' }), null])[0]!.index, 1);
});

test('D3.28 a batch of far too many entries is refused without a look at the rest of it', () => {
  const { refused: faults } = inOneGo(scanSteps(Buffer.from(`[${'{},'.repeat(1_000_000)}`)));
  const [{ message, value }] = faults!;
  assert.equal(message, 'must have 1 to 1000 entries');
  assert.ok(Number(value) > 1000 && Number(value) < 100_000, `${value} entries counted`);
});

test('2.1, 7.2 refused whole: v1 type or action missing or not allowed', () => {
  assert.deepEqual(refused(1, [v1({ ip: '1.1.1.1' }), { type: 'access_rules', action: 'deny', ip: '1.1.1.1' }]), [
    { index: 1, field: 'action', message: 'must be one of: block, unblock', value: 'deny' },
  ]);
  assert.deepEqual(
    refused(1, [{}]).map(({ field, message, value }) => [field, message, value]),
    [
      ['type', 'must be one of: access_rules', null],
      ['action', 'must be one of: block, unblock', null],
    ],
  );
  for (const action of ['Block', 'BLOCK', '', null, 1, ['block'], 'allow']) assert.equal(refused(1, [v1({ action })])[0]!.field, 'action');
  assert.equal(refused(1, [{ action: 'block', ip: '1.1.1.1', type: 'access_rule' }])[0]!.field, 'type');
});

test('4.2 refused whole: rule.type missing, empty or not allowed', () => {
  const message = 'rule.type is required and must be one of custom, generated';
  for (const type of [undefined, null, '', 'x', 7, {}, 'generated ', 'generate\u0000d']) {
    assert.equal(refused(2, [access(), waf({}, { type })])[0]!.message, message);
    assert.equal(refused(2, [smart({}, { type })])[0]!.field, 'rule.type');
  }
  for (const rule of [undefined, null, 'x', []]) assert.equal(refused(2, [waf({ rule })])[0]!.message, message);
  assert.equal(fault(2, waf({ op: 'delete', rule: undefined })), '');
});

test('D3 details: at most 100 rows, values cut', () => {
  assert.equal(refused(1, Array(1000).fill({})).length, 100);
  // The last of them has two faults, of which one is told.
  assert.equal(refused(1, [v1({ action: true }), ...Array(60).fill({})]).length, 100);
  assert.deepEqual(refused(1, [v1({ action: true })])[0]!.value, true);
  assert.equal(String(refused(1, [v1({ action: 'x'.repeat(9000) })])[0]!.value).length, 201);
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const [{ value }] = runText(1, `[${nested(500_000)}]`).refused!;
  assert.equal(value, `${'['.repeat(200)}…`);
  assert.equal(runText(1, `[{"action":${nested(40)}}]`).refused![1]!.value, nested(40));
});

test('D3 entry errors: index, field path, several faults joined', () => {
  const result = run(1, [v1({ ip: '1.1.1.1' }), v1({ country: 'XX', name: 'n'.repeat(257) }), v1({})]);
  assert(result.refused === undefined);
  assert.equal(result.accepted.length, 1);
  assert.deepEqual(result.errors, [
    'Entry 1: Schema validation failed: name: must be at most 256 characters; country: must be a valid ISO-3166 Alpha-2 code',
    'Entry 2: Schema validation failed: ip/asn/country: must have exactly one of ip, asn, country',
  ]);
  assert.equal(fault(2, access({}, { target: { country: 'XK' } })), 'rule.target.country: must be a valid ISO-3166 Alpha-2 code');
});

test('2.1 exactly one of ip, asn, country; null and empty count as absent', () => {
  assert.match(fault(1, v1({ ip: '1.1.1.1', asn: 'AS1' })), /exactly one/);
  assert.match(fault(1, v1({ ip: '', asn: null })), /exactly one/);
  assert.equal(fault(1, v1({ ip: '1.1.1.1', asn: '', country: null, name: null, expiration: null, description: null })), '');
  assert.match(fault(2, access({}, { target: {} })), /^rule\.target: must have exactly one/);
  assert.equal(fault(2, access({}, { target: { ip: '', country: 'nl' } })), '');
  assert.equal(fault(1, v1({ ip: 7 })), 'ip: must be a string');
  assert.match(fault(2, access({}, { target: { ip: { a: 1 }, asn: 'AS1' } })), /exactly one/);
});

test('2.1 ip: strict text, canonical in v2, as sent in v1', () => {
  for (const ip of ['010.0.0.1', '1.2.3', '1.2.3.4/', '1.2.3.4/33', ' 1.2.3.4', 'fe80::1%eth0', '1.2.3.4/255.0.0.0', 'x', '1.2.3.4/024']) {
    assert.match(fault(1, v1({ ip })), /^ip: /, ip);
    assert.match(fault(2, access({}, { target: { ip } })), /^rule\.target\.ip: /, ip);
  }
  const canonical = (ip: string) => envelope(access({}, { target: { ip } })).rule.target.ip;
  assert.equal(canonical('10.1.2.3/8'), '10.0.0.0/8');
  assert.equal(canonical('::ffff:10.1.2.3'), canonical('10.1.2.3'));
  assert.equal(canonical('::ffff:10.1.2.3/104'), '10.0.0.0/8');
  assert.equal(canonical('2001:DB8:0:0::/32'), '2001:db8::/32');
  assert.equal(canonical('0.0.0.0/0'), '0.0.0.0/0');
  assert.deepEqual(accepted(1, v1({ ip: '10.1.2.3/8' })), { version: 1, event: v1({ ip: '10.1.2.3/8' }) });
});

test('D41.1 an IPv4-mapped network wider than a /8 is a fault in v1, v2, unblocks and deletes', () => {
  const says = 'covers more than an IPv4 /8; send the IPv4 network itself';
  for (const ip of ['::ffff:0:0/96', '::ffff:198.51.100.7/103']) {
    for (const action of ['block', 'unblock']) assert.equal(fault(1, { ...v1({ ip }), action }), `ip: ${says}`);
    for (const op of ['upsert', 'delete']) assert.equal(fault(2, access({ op }, { target: { ip } })), `rule.target.ip: ${says}`);
  }
  assert.equal(fault(1, { ...v1({ ip: '0.0.0.0/0' }), action: 'unblock' }), '');
});

test('2.1 asn and country: any letter case, must exist', () => {
  assert.equal(envelope(access({}, { target: { asn: 'as00064500' } })).rule.target.asn, 'AS64500');
  assert.equal(fault(1, v1({ asn: 'AS2' })), 'asn: AS2 does not exist in the ASN data');
  for (const asn of ['64500', 'AS', 'AS-1', 'AS1.1', 'AS99999999999', 'ASx', ' AS1', 'A\u017f1'])
    assert.match(fault(1, v1({ asn })), /^asn: /, asn);
  assert.equal(envelope(access({}, { target: { country: 'nL' } })).rule.target.country, 'NL');
  for (const country of ['XK', 'USA', 'U', 'ß', 'n1', 'ﬀ']) {
    assert.equal(fault(1, v1({ country })), 'country: must be a valid ISO-3166 Alpha-2 code');
  }
});

test('D3.30, D56.2 an expiry as an instant is that very second, whenever within a second the entry is accepted; never less than a minute', () => {
  const at = Date.parse('2027-01-31T12:00:00.000Z');
  for (const receivedAt of [at - 3_600_000, at - 3_599_001, at - 3_600_999]) {
    const judged = (version: 1 | 2, entry: object) => {
      const result = validateBatch(version, JSON.stringify([entry]), { ...check, receivedAt });
      assert.ok(result.refused === undefined);
      assert.deepEqual(result.errors, []);
      return JSON.parse(JSON.stringify(result.accepted[0]));
    };
    const { event, hasEnd } = judged(1, v1({ ip: '1.1.1.1', expires_at: '2027-01-31T12:00:00Z' }));
    assert.deepEqual([hasEnd, judged(1, v1({ ip: '1.1.1.1', expires_at: null })).hasEnd], [true, undefined]);
    const { envelope: v2 } = judged(2, access({ expires_at: '2027-01-31T13:00:00+01:00', expires_in: null }));
    for (const seconds of [event.expiration, v2.expires_in]) assert.equal(expiresAt(receivedAt, seconds), at);
    assert.deepEqual([event.expires_at, v2.expires_at], [undefined, undefined], 'messages are as they always were');
    assert.equal(judged(2, access({ expires_at: '2020-01-01' })).envelope.expires_in, 60);
    assert.equal(judged(2, access({ expires_at: '9999-01-01' })).envelope.expires_in, HUNDRED_YEARS);
    assert.equal(judged(2, waf({ expires_at: '2020-01-01' })).envelope.expires_in, 1);
  }
  const wrong = 'expires_at: must be an instant in ISO 8601, such as 2027-01-31T12:00:00Z';
  for (const bad of ['soon', 7, '2027', {}, '2027-02-29', '2027-04-31T12:00:00Z', '2027-01-31 noon']) {
    assert.equal(fault(1, v1({ ip: '1.1.1.1', expires_at: bad })), wrong);
    assert.equal(fault(2, access({ expires_at: bad })), wrong);
    assert.equal(fault(2, access({ op: 'delete', expires_at: bad })), '');
  }
  assert.equal(
    fault(2, access({ expires_at: '2027-01-31', expires_in: 7 })),
    'expires_at: conflicts with expires_in: give only one of them',
  );
});

test('2.1, 2.2, D3 expiry: an integer from 0 to one hundred years, ignored on unblock and delete', () => {
  for (const bad of [-1, 1.5, '60', true, HUNDRED_YEARS + 1, [], {}]) {
    const message = `must be an integer from 0 to ${HUNDRED_YEARS}`;
    assert.equal(fault(1, v1({ ip: '1.1.1.1', expiration: bad })), `expiration: ${message}`);
    assert.equal(fault(2, access({ expires_in: bad })), `expires_in: ${message}`);
    assert.equal(fault(1, v1({ action: 'unblock', ip: '1.1.1.1', expiration: bad })), '');
    assert.equal(fault(2, access({ op: 'delete', expires_in: bad })), '');
  }
  const seconds = (entry: unknown) => envelope(entry).expires_in;
  assert.equal(seconds(access()), 86_400);
  assert.equal(seconds(access({ expires_in: 0 })), 86_400);
  assert.equal(seconds(access({ expires_in: 1 })), 60);
  assert.equal(seconds(access({ expires_in: HUNDRED_YEARS })), HUNDRED_YEARS);
  assert.equal(seconds(access({}, { action: 'allow' })), undefined);
  assert.equal(seconds(access({ expires_in: 5 }, { action: 'allow' })), 60);
  assert.equal(seconds(waf({ expires_in: 0 })), undefined);
  assert.equal(seconds(waf({ expires_in: 1 })), 1);
  assert.equal(seconds(access({ op: 'delete', expires_in: 7 })), undefined);
});

test('2.2 schema_version, kind, op, rule_ref', () => {
  assert.equal(envelope(access()).schema_version, 2);
  assert.equal(fault(2, access({ schema_version: 2 })), '');
  for (const version of [1, 3, '2', true]) assert.equal(fault(2, access({ schema_version: version })), 'schema_version: must be 2');
  assert.equal(fault(2, access({ kind: 'rule' })), 'kind: must be one of: access_rule, waf_rule, smart_firewall_rule');
  assert.equal(fault(2, { op: 'upsert' }), 'kind: is required');
  assert.equal(fault(2, access({ op: 'remove' })), 'op: must be one of: upsert, delete');
  assert.equal(fault(2, access({ op: undefined })), 'op: is required');
  for (const ref of ['a', 'A1._:-', 'x'.repeat(128)]) assert.equal(envelope(access({ rule_ref: ref })).rule_ref, ref);
  for (const ref of ['', '-a', '.a', 'a b', 'ä', 'x'.repeat(129), 'a\n', 7])
    assert.match(fault(2, access({ rule_ref: ref })), /^rule_ref: /);
  for (const op of ['upsert', 'delete']) assert.equal(fault(2, waf({ op, rule_ref: null })), 'rule_ref: is required');
});

test('2.2 the rule body is omitted when op is delete; by value it needs a target', () => {
  assert.deepEqual(envelope(access({ op: 'delete', rule_ref: 'a', rule: { target: 'nonsense' } })), {
    schema_version: 2,
    kind: 'access_rule',
    op: 'delete',
    rule_ref: 'a',
  });
  assert.deepEqual(envelope(access({ op: 'delete' })).rule, { target: { ip: '203.0.113.7' }, action: 'block' });
  assert.equal(fault(2, access({ op: 'delete', rule: null })), 'rule.target: is required to delete without rule_ref');
  assert.equal(fault(2, access({ op: 'delete', rule: {} })), 'rule.target: is required');
  assert.equal(fault(2, access({ rule: undefined })), 'rule: is required');
  assert.equal(fault(2, access({ rule: 'x' })), 'rule: must be an object');
  assert.equal(fault(2, access({ rule: { target: 'x' } })), 'rule.target: must be an object');
});

test('2.3, D3.13 action of an access rule in any letter case, confidence and severity in its config', () => {
  assert.equal(envelope(access()).rule.action, 'block');
  assert.equal(envelope(access({}, { action: null })).rule.action, 'block');
  assert.equal(envelope(access({}, { action: 'allow' })).rule.action, 'allow');
  assert.equal(envelope(access({}, { action: 'ALLOW' })).rule.action, 'allow');
  assert.equal(envelope(access({ op: 'delete' }, { action: 'Block' })).rule.action, 'block');
  assert.equal(fault(2, access({}, { action: 'bloc\u212a' })), 'rule.action: must be one of: block, allow');
  assert.equal(fault(2, access({}, { action: 'challenge' })), 'rule.action: must be one of: block, allow');
  const config = { confidence: 'HIGH', severity: 'Low', note: { x: [1, null] } };
  assert.deepEqual(envelope(access({}, { config })).rule.config, { note: { x: [1, null] }, confidence: 'high', severity: 'low' });
  assert.deepEqual(envelope(access({}, { config: { confidence: null } })).rule.config, {});
  assert.equal(
    fault(2, access({}, { config: { severity: 'high,evil' } })),
    'rule.config.severity: must be one of: low, medium, high, critical',
  );
  assert.match(fault(2, access({}, { config: { confidence: 7 } })), /^rule\.config\.confidence: /);
});

test('2.4 type, action and phase: any letter case, stored lowercase', () => {
  const { rule } = envelope(waf({}, { type: 'CUSTOM', action: 'RateLimit', phase: 'Response' }));
  assert.deepEqual([rule.type, rule.action, rule.phase], ['custom', 'ratelimit', 'response']);
  assert.equal(fault(2, waf({}, { action: 'bloc\u212a' })), 'rule.action: must be one of: block, challenge, ratelimit, allow');
  assert.equal(fault(2, smart({}, { action: 'challenge' })), 'rule.action: must be one of: block, allow');
  assert.equal(fault(2, waf({}, { action: null })), 'rule.action: is required');
  assert.equal(fault(2, waf({}, { phase: 'both' })), 'rule.phase: must be one of: request, response');
  assert.equal(fault(2, smart({}, { phase: 'request' })), 'rule.phase: is not allowed for smart_firewall_rule');
  assert.equal(fault(2, smart({}, { phase: null })), '');
});

test('2.4, D3 an explicit request phase with a response field is a fault', () => {
  const response = 'http.response.code == 404';
  assert.match(fault(2, waf({}, { expression: response, phase: 'request' })), /^rule\.phase: /);
  assert.equal(fault(2, waf({}, { expression: response, phase: 'response' })), '');
  assert.equal(fault(2, waf({}, { expression: response })), '');
});

test('2.4 name, order, short_description and config are optional', () => {
  const rule = { name: 'n', order: -3, short_description: 's', config: { sensitivity: 'high' } };
  assert.deepEqual(envelope(waf({}, rule)).rule, { ...rule, type: 'custom', expression: EXPRESSION, action: 'block' });
  assert.match(fault(2, waf({}, { order: 1.5 })), /^rule\.order: must be an integer/);
  assert.match(fault(2, waf({}, { order: 2 ** 53 })), /^rule\.order: must be an integer/);
  assert.equal(fault(2, waf({}, { expression: null })), 'rule.expression: is required');
  assert.equal(fault(2, waf({}, { config: [] })), 'rule.config: must be an object');
  assert.deepEqual(envelope(waf({}, { config: { phase: 'response', a: 1 } })).rule.config, { a: 1 });
});

test('D3 expression faults: worded on their own when alone, else last in the list', () => {
  const bad = 'no.such.field == 1';
  assert.match(fault(2, waf({}, { expression: bad })), /^Entry 0: Expression validation failed: rule\.expression: \(1:\d+\) ./);
  assert.match(fault(2, waf({ rule_ref: null }, { expression: bad })), /^rule_ref: is required; rule\.expression: \(1:\d+\) ./);
  assert.match(fault(2, smart({}, { expression: EXPRESSION })), /^Entry 0: Expression validation failed: rule\.expression: \(1:1\) /);
  assert.match(fault(2, waf({}, { expression: '' })), /^rule\.expression: /);
});

test('D3 limits: characters are code points, sizes are bytes of JSON', () => {
  const emoji = '😀';
  assert.equal(fault(1, v1({ ip: '1.1.1.1', name: emoji.repeat(256), description: emoji.repeat(2048) })), '');
  assert.equal(fault(1, v1({ ip: '1.1.1.1', name: emoji.repeat(257) })), 'name: must be at most 256 characters');
  assert.equal(fault(1, v1({ ip: '1.1.1.1', description: 'x'.repeat(2049) })), 'description: must be at most 2048 characters');
  assert.equal(fault(2, access({ reason: 'x'.repeat(2049) })), 'reason: must be at most 2048 characters');
  assert.equal(fault(2, waf({}, { short_description: 'x'.repeat(2049) })), 'rule.short_description: must be at most 2048 characters');
  assert.equal(fault(2, waf({}, { expression: `${EXPRESSION}${' '.repeat(4097)}` })), 'rule.expression: must be at most 4096 characters');
  const regexes = (n: number) => Array(n).fill('http.request.host matches "a"').join(' or ');
  assert.equal(fault(2, waf({}, { expression: regexes(64) })), '');
  assert.equal(fault(2, waf({}, { expression: regexes(65) })), 'rule.expression: must hold at most 64 regular expressions');

  const sized = (bytes: number) => ({ a: 'x'.repeat(bytes - 8) });
  assert.equal(fault(2, access({ labels: sized(8192) })), '');
  assert.equal(fault(2, access({ labels: sized(8193) })), 'labels: must be at most 8192 bytes as JSON');
  assert.equal(fault(2, access({ labels: { a: 'ä'.repeat(4093) } })), 'labels: must be at most 8192 bytes as JSON');
  assert.equal(fault(2, access({}, { config: sized(32_768) })), '');
  assert.equal(fault(2, waf({}, { config: sized(32_769) })), 'rule.config: must be at most 32768 bytes as JSON');
  const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) });
  assert.equal(fault(2, access({ labels: nested(8) })), '');
  assert.equal(fault(2, access({ labels: { a: [[[[[[[]]]]]]] } })), '');
  assert.equal(fault(2, access({ labels: nested(9) })), 'labels: must be at most 8 levels deep');
  for (const labels of [[], 'x', 7]) assert.equal(fault(2, access({ labels })), 'labels: must be an object');
});

test('D3 one entry has at most 64 KiB in all, unknown properties included', () => {
  const base = v1({ ip: '1.1.1.1', extra: '' });
  const room = 65_536 - JSON.stringify(base).length;
  assert.equal(fault(1, { ...base, extra: 'x'.repeat(room) }), '');
  assert.equal(fault(1, { ...base, extra: 'x'.repeat(room + 1) }), 'entry: must be at most 65536 bytes as JSON');
  assert.equal(fault(1, { ...base, extra: 'ä'.repeat(room / 2 + 1) }), 'entry: must be at most 65536 bytes as JSON');
  const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  for (const levels of [64, 500_000]) {
    const text = `[${JSON.stringify(base).replace('""', deep(levels))}, {"kind":"access_rule","op":"upsert","labels":{"a":${deep(levels)}}}]`;
    assert.deepEqual(errorsOf(1, text.replace(/, \{.*/, ']')), ['Entry 0: Schema validation failed: entry: is nested too deeply']);
    assert.deepEqual(errorsOf(2, text)[1], 'Entry 1: Schema validation failed: entry: is nested too deeply');
  }
  assert.deepEqual(errorsOf(1, `[${JSON.stringify(base).replace('""', deep(63))}]`), []);
});

test('D3 U+0000 and lone surrogates are faults, in keys and nested values too', () => {
  for (const bad of ['\0', '\ud800', 'x\udc00y']) {
    assert.equal(fault(1, v1({ ip: '1.1.1.1', name: bad })), 'name: must not hold U+0000 or a lone surrogate');
    assert.match(fault(2, access({ reason: bad })), /^reason: must not hold/);
    assert.match(fault(2, access({ labels: { a: [{ b: bad }] } })), /^labels: must not hold/);
    assert.match(fault(2, access({ labels: { a: { [bad]: 1 } } })), /^labels: must not have .* key/);
    assert.match(fault(2, waf({}, { config: { [bad]: 1 } })), /^rule\.config: must not have .* key/);
    assert.match(fault(2, waf({}, { expression: `${EXPRESSION}${bad}` })), /^rule\.expression: must not hold/);
    assert.match(fault(1, v1({ ip: bad })), /^ip: /);
  }
});

/** What is said of an accepted entry that its sender probably did not mean. */
function warnings(version: 1 | 2, entry: unknown): readonly string[] {
  const scanned = inOneGo(scanSteps(Buffer.from(JSON.stringify([entry]))));
  assert(scanned.refused === undefined);
  const told: string[] = [];
  const take = {
    accept: (_: Signal, texts: readonly string[]) => void told.push(...texts),
    report: (error: unknown) => assert.ifError(error),
  };
  const result = inOneGo(batchSteps(version, scanned, { ...check, receivedAt: 0, ...take }));
  assert(result.refused === undefined && result.accepted === 1, JSON.stringify(result));
  return told;
}

test('D42.4 a member that has no effect where it stands is named with its place, once that is empty', () => {
  const right: [1 | 2, object, string][] = [
    [2, waf({ name: 'x', order: 1 }), 'name has no effect: did you mean rule.name?; order has no effect: did you mean rule.order?'],
    [2, waf({ config: {}, phase: 'request' }), 'config: rule.config; phase: rule.phase'],
    [2, waf({}, { reason: 'x', labels: {}, expires_in: 9 }), 'rule.reason: reason; rule.labels: labels; rule.expires_in: expires_in'],
    [
      2,
      waf({ expiration: 60 }, { rateLimit: {}, description: 'x' }),
      'expiration: expires_in; rule.rateLimit: rule.config.rateLimit; rule.description: rule.short_description',
    ],
    [2, access({ action: 'allow' }), 'action: rule.action'],
    [
      2,
      access({ ruleRef: 'x' }, { ttl: 60, severity: 'low' }),
      'ruleRef: rule_ref; rule.ttl: expires_in; rule.severity: rule.config.severity',
    ],
    [
      2,
      access({ op: 'delete', action: 'allow', order: 1, reason: 'x' }, { rule_ref: 'a' }),
      'action: rule.action; rule.rule_ref: rule_ref',
    ],
    [1, v1({ ip: '1.1.1.1', expires_in: 60, reason: 'x' }), 'expires_in: expiration; reason: description'],
    [2, waf({ name: 'x', note: 1, kind_of: 2 }, { name: 'y', kind: 'waf_rule', comment: 'x' }), ''],
    [2, access({ op: 'delete', rule_ref: 'a', action: 'allow' }), ''],
    [2, access({ name: null, expires_in: 60, ttl: 60 }), ''],
    [1, v1({ ip: '1.1.1.1', __proto__: 1, note: 'x' }), ''],
  ];
  for (const [version, entry, said] of right) {
    const short = said.replaceAll(' has no effect', '').replaceAll(/did you mean |\?/g, '');
    assert.equal(warnings(version, entry).join('; '), short.replaceAll(/([\w.]+): ([\w.]+)/g, '$1 has no effect: did you mean $2?'));
  }
});

test('D42.3 parts of an expression that are always or never true are said, also of generated rules', () => {
  const said = (expression: string) => warnings(2, waf({}, { type: 'generated', expression }));
  assert.deepEqual(said('http.request.path == "admin"'), ['http.request.path == "admin" is never true: a path begins with /']);
  assert.match(said('http.request.port == 80 or threat.score >= 0').join(), /^threat\.score >= 0 is always true/);
  assert.match(said('ip.src == ::ffff:192.0.2.1').join(), /never equal to the IPv4 address 192\.0\.2\.1/);
  assert.match(said('http.request.path == "/a" and http.request.path == "/b"').join(), /the and is never true/);
  // Of other traps `weir expression check` tells.
  assert.deepEqual(said('http.request.method matches "GET" and http.request.host == "a"'), []);
});

test('D3 unknown properties are ignored, __proto__ and constructor are plain data', () => {
  const entry = JSON.parse(
    '{"kind":"access_rule","op":"upsert","x":1,"__proto__":{"op":"delete"},"labels":{"__proto__":{"a":1},"constructor":"c"},' +
      '"rule":{"target":{"ip":"1.1.1.1","x":2},"name":7,"config":{"__proto__":5,"confidence":"LOW"}}}',
  );
  assert.equal(
    JSON.stringify(envelope(entry)),
    '{"schema_version":2,"kind":"access_rule","op":"upsert","labels":{"__proto__":{"a":1},"constructor":"c"},' +
      '"rule":{"target":{"ip":"1.1.1.1"},"config":{"__proto__":5,"confidence":"low"},"action":"block"},"expires_in":86400}',
  );
  const event = JSON.parse('{"type":"access_rules","action":"block","ip":"1.1.1.1","__proto__":{"asn":"AS1"},"name":null,"y":[]}');
  assert.deepEqual(accepted(1, event), { version: 1, event: { type: 'access_rules', action: 'block', ip: '1.1.1.1', name: null } });
  // Named like the members of a fault.
  for (const extra of ['"expires_at":null,', '']) {
    const alike = `${extra}"field":"expires_at","entry":12345678901234567890,"message":"m","isExpression":true,"version":1,"faults":[]`;
    assert.deepEqual(errorsOf(1, `[{"type":"access_rules","action":"block","ip":"1.1.1.1",${alike}}]`), []);
    assert.deepEqual(errorsOf(2, `[{"kind":"access_rule","op":"upsert","rule":{"target":{"ip":"1.1.1.1"}},${alike}}]`), []);
  }
  assert.equal(JSON.stringify(JSON.parse('{"a":1e999}')), '{"a":null}');
  const infinite = JSON.stringify([entry]).replace('{"__proto__":{"a":1},"constructor":"c"}', '{"a":1e999}');
  assert.match(errorsOf(2, infinite)[0]!, /: labels: must not hold a number beyond/);
});

test('D2 a key bound to a list sends access rules only', () => {
  assert.equal(fault(2, access(), { listBound: true }), '');
  assert.match(fault(2, waf(), { listBound: true }), /^kind: must be access_rule/);
  assert.match(fault(2, smart({ op: 'delete' }), { listBound: true }), /^kind: must be access_rule/);
});

test('D3 property: any JSON gets a verdict, one per entry, and no exception', () => {
  const field = fc.constantFrom(
    ...['type', 'action', 'ip', 'asn', 'country', 'kind', 'op', 'rule', 'rule_ref', 'labels', 'expires_in', 'target', 'config', 'phase'],
    ...['expression', 'schema_version', '__proto__', 'constructor', 'expiration', 'name', 'reason'],
  );
  const word = fc.constantFrom(
    'access_rules',
    'block',
    'access_rule',
    'waf_rule',
    'smart_firewall_rule',
    'upsert',
    'delete',
    '1.1.1.1',
    'NL',
    '',
  );
  const { entry } = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: 'small' }, word, fc.jsonValue({ maxDepth: 1 }), tie('entry')),
    entry: fc.array(fc.tuple(field, tie('value'))).map((pairs) => {
      const object = {};
      for (const [key, value] of pairs) Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
      return object;
    }),
  }));
  const likely = fc.record({ kind: word, op: word, type: word, action: word, rule: entry, ip: word }, { requiredKeys: [] });
  fc.assert(
    fc.property(
      fc.array(fc.oneof(entry, likely), { minLength: 1, maxLength: 5 }),
      fc.constantFrom(1 as const, 2 as const),
      (batch, version) => {
        const result = run(version, JSON.parse(JSON.stringify(batch)));
        if (result.refused === undefined) assert.equal(result.accepted.length + result.errors.length, batch.length);
        else assert(result.refused.length > 0);
      },
    ),
    { seed: 3, numRuns: 2000 },
  );
});

test('D3.23 integers in labels and config that a double cannot hold are faults', () => {
  const judged = (number: string) => {
    const labels = `[{"kind":"access_rule","op":"upsert","labels":{"a":[${number}]},"rule":{"target":{"ip":"1.1.1.1"}}}]`;
    const config = `[{"kind":"access_rule","op":"upsert","rule":{"target":{"ip":"1.1.1.1"},"config":{"a":${number}}}}]`;
    return [errorsOf(2, labels)[0], errorsOf(2, config)[0]].map((error) => error?.replace('Entry 0: Schema validation failed: ', ''));
  };
  const message = 'must not hold an integer beyond ±9007199254740991; send it as text';
  for (const number of ['9007199254740992', '-9007199254740993', '123456789012345678901', '1000000000000000000000001']) {
    assert.deepEqual(judged(number), [`labels: ${message}`, `rule.config: ${message}`], number);
  }
  for (const number of ['9007199254740991', '-9007199254740991', '0.1', '1e15', '12345678901234.5', '1e21', '1e300']) {
    assert.deepEqual(judged(number), [undefined, undefined], number);
  }
});

test('D3.22 what is thrown while one entry is judged is the fault of that entry, and told once', () => {
  const told: unknown[] = [];
  const scanned = inOneGo(scanSteps(Buffer.from(JSON.stringify([v1({ asn: 'AS1' }), v1({ ip: '1.1.1.1' }), v1({ asn: 'AS2' })]))));
  assert(scanned.refused === undefined);
  const broken = {
    ...check,
    hasAsn(): boolean {
      throw new TypeError('a defect');
    },
  };
  const accepted: Signal[] = [];
  const result = inOneGo(
    batchSteps(1, scanned, {
      ...broken,
      receivedAt: 0,
      accept: (signal) => void accepted.push(signal),
      report: (error) => told.push(error),
    }),
  );
  const wrong = { field: 'entry', message: 'could not be judged, because of a defect of this service' };
  assert.deepEqual(result, { accepted: 1, failed: 2, faults: [0, 2].map((entry) => ({ entry, ...wrong })) });
  assert.equal(accepted.length, 1);
  assert.deepEqual(told.map(String), ['TypeError: a defect']);
});

test('D3.22 a kind that cannot be made a property key is a fault like any other', () => {
  const message = 'kind: must be one of: access_rule, waf_rule, smart_firewall_rule';
  for (const kind of [{ toString: 1 }, { toString: null, valueOf: {} }, ['access_rule'], 7])
    assert.equal(fault(2, access({ kind })), message);
});

test('D3.22 property: arbitrary JSON in every field gets an answer of the contract, and nothing is thrown', () => {
  const keys = ['toString', 'valueOf', 'toJSON', '__proto__', 'then', 'constructor', 'length', 'a'];
  const hostile = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.jsonValue({ maxDepth: 1 }),
      tie('object'),
      fc.array(tie('value'), { maxLength: 3 }),
    ),
    object: fc.array(fc.tuple(fc.constantFrom(...keys), tie('value')), { maxLength: 3 }).map((pairs) => Object.fromEntries(pairs)),
  })).value;
  const fields = {
    1: [...Object.keys(V1Event.properties), ...keys],
    2: [...Object.keys(AnyEnvelope.properties), ...keys],
  };
  const ruleFields = ['target', ...EXPRESSION_FIELDS, ...keys];
  const entryOf = (version: 1 | 2) =>
    fc
      .tuple(
        fc.constantFrom<object>(v1({ ip: '1.1.1.1' }), access(), waf(), smart()),
        fc.constantFrom(...fields[version]),
        fc.constantFrom(...ruleFields),
        hostile,
        fc.nat(2),
      )
      .map(([base, field, ruleField, value, where]) => {
        // A computed key makes even __proto__ a property of its own.
        const rule = 'rule' in base ? (base.rule as { target?: object }) : {};
        if (where === 0) return { ...base, [field]: value };
        return {
          ...base,
          rule: where === 1 ? { ...rule, [ruleField]: value } : { ...rule, target: { ...rule.target, [ruleField]: value } },
        };
      });
  const batch = fc
    .constantFrom(1 as const, 2 as const)
    .chain((version) => fc.tuple(fc.constant(version), fc.array(entryOf(version), { minLength: 1, maxLength: 4 })));
  fc.assert(
    fc.property(batch, ([version, entries]) => {
      const result = run(version, entries);
      if (result.refused === undefined) {
        assert.equal(result.accepted.length + result.errors.length, entries.length);
        for (const error of result.errors) assert.match(error, /^Entry \d+: (Schema|Expression) validation failed: [\w./]+: ./);
        return;
      }
      for (const { index, field, message, value } of result.refused) {
        assert(Number.isInteger(index) && field !== '' && message !== '', JSON.stringify(result.refused));
        assert(value === null || ['string', 'number', 'boolean'].includes(typeof value));
      }
    }),
    { seed: 29, numRuns: 4000 },
  );
});
