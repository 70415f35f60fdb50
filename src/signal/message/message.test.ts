import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StreamRecord } from '../../ports/stream.ts';
import { decodeSignalRecord } from './decode.ts';
import { acceptedAgain, encodeMessage } from './encode.ts';

const RECEIVED = Date.parse('2026-11-20T10:00:00.250Z');
const context = { organizationId: 'o', workspaceId: 'w', listId: 'l', receivedAt: RECEIVED, signalId: '0195' };
const ADDRESS = { kind: 'ip', network: { family: 4, address: 0xcb007107, prefix: 32 } } as const;

const record = (value: unknown, headers: Record<string, string> = { workspace_id: 'w' }): StreamRecord => ({
  key: 'w',
  headers,
  value: typeof value === 'string' ? value : JSON.stringify(value),
  offset: 1,
  timestamp: RECEIVED,
});
const decoded = (value: unknown, headers?: Record<string, string>) => {
  const result = decodeSignalRecord(record(value, headers));
  assert(!('poison' in result), JSON.stringify(result));
  return result;
};
const poison = (value: unknown, headers?: Record<string, string>) => {
  const result = decodeSignalRecord(record(value, headers));
  assert('poison' in result, JSON.stringify(result));
  return result.poison;
};
const V2 = { workspace_id: 'w', schema_version: '2' };

test('D67.4 a message accepted again has its expiry from then, but an end given as an instant stays', () => {
  const event = { type: 'access_rules', action: 'block', ip: '203.0.113.7', expiration: 7200 } as const;
  const v2 = { kind: 'access_rule', op: 'upsert', expires_in: 7200, rule: { target: { ip: '203.0.113.7' }, action: 'block' } } as const;
  const HOUR = 3_600_000;
  for (const signal of [{ version: 1, event } as const, { version: 2, envelope: { schema_version: 2, ...v2 } } as const])
    for (const [hasEnd, later, lasts] of [
      [undefined, HOUR, 2 * HOUR],
      [true, HOUR, HOUR],
      [true, 9 * HOUR, 60_000],
    ] as const) {
      const message = acceptedAgain(encodeMessage({ ...signal, ...(hasEnd && { hasEnd }) }, context), RECEIVED + later, '0196');
      const landed = decodeSignalRecord({ ...message, offset: 0, timestamp: 0 });
      assert(!('poison' in landed) && landed.change.change === 'upsert');
      assert.deepEqual([message.headers.signal_id, landed.receivedAt], ['0196', RECEIVED + later]);
      assert.equal(landed.change.rule.expiresAt, Math.ceil((RECEIVED + later + lasts) / 1000) * 1000);
    }
});

test('6, 9 a v1 message has no schema_version and its value is the event as sent', () => {
  const event = { type: 'access_rules', action: 'block', ip: '203.0.113.7', expiration: 5 } as const;
  const message = encodeMessage({ version: 1, event }, context);
  assert.deepEqual(message, {
    key: 'w',
    headers: { workspace_id: 'w', list_id: 'l', organization_id: 'o', received_at: '2026-11-20T10:00:00.250Z', signal_id: '0195' },
    value: JSON.stringify(event),
  });
  assert.deepEqual(decodeSignalRecord({ ...message, offset: 0, timestamp: 0 }), {
    workspaceId: 'w',
    listId: 'l',
    receivedAt: RECEIVED,
    batchId: null,
    keyId: null,
    change: {
      change: 'upsert',
      kind: 'access_rule',
      rule: {
        ruleRef: null,
        action: 'block',
        target: ADDRESS,
        name: null,
        reason: null,
        labels: null,
        config: null,
        confidence: null,
        severity: null,
        // 60 s at least, from acceptance, rounded up to a whole second.
        expiresAt: Date.parse('2026-11-20T10:01:01Z'),
      },
    },
  });
});

test('6 a v2 message carries schema_version 2 and its envelope', () => {
  const envelope = { schema_version: 2, kind: 'waf_rule', op: 'delete', rule_ref: 'a' } as const;
  const message = encodeMessage({ version: 2, envelope }, context);
  assert.equal(message.headers.schema_version, '2');
  assert.deepEqual(JSON.parse(message.value), envelope);
  const landed = decodeSignalRecord({ ...message, offset: 0, timestamp: 0 });
  assert.deepEqual(landed, {
    workspaceId: 'w',
    listId: 'l',
    receivedAt: RECEIVED,
    batchId: null,
    keyId: null,
    change: { change: 'delete', kind: 'waf_rule', ruleRef: 'a' },
  });
});

test('6 the header absent or 1 is legacy, 2 is typed, anything else poison', () => {
  const event = { type: 'access_rules', action: 'unblock', asn: 'as007' };
  const change = { change: 'delete_by_value', kind: 'access_rule', action: 'block', target: { kind: 'asn', asn: 7 } };
  assert.deepEqual(decoded(event).change, change);
  assert.deepEqual(decoded(event, { workspace_id: 'w', schema_version: '1' }).change, change);
  for (const version of ['0', '3', '', '02', 'constructor', '__proto__']) {
    assert.match(poison(event, { workspace_id: 'w', schema_version: version }), /unknown schema_version/);
  }
});

test('D4 another producer may leave out every header but the workspace', () => {
  const { listId, receivedAt } = decoded({ type: 'access_rules', action: 'block', country: 'nl', name: null, ip: '' });
  assert.deepEqual({ listId, receivedAt }, { listId: null, receivedAt: RECEIVED });
  assert.equal(poison({}, {}), 'no header workspace_id');
  assert.match(poison({}, { workspace_id: 'w\0' }), /workspace_id/);
  assert.match(poison({}, { workspace_id: 'w', received_at: 'yesterday' }), /received_at/);
});

test('D4 bad JSON or shape is poison, with the reason', () => {
  assert.match(poison('{'), /not a JSON object/);
  assert.match(poison('[]'), /not a JSON object/);
  assert.equal(poison({ type: 'access_rules', action: 'block' }), 'ip/asn/country: exactly one must be given');
  assert.equal(poison({ type: 'access_rules', action: 'block', country: 'NL', asn: 'AS1' }), 'ip/asn/country: exactly one must be given');
  assert.match(poison({ type: 'access_rules', action: 'block', ip: '010.0.0.1' }), /^ip: /);
  assert.match(poison({ type: 'access_rules', action: 'block', asn: 'AS4294967296' }), /^asn: /);
  assert.match(poison({ type: 'access_rules', action: 'allow', asn: 'AS1' }), /^action: /);
  assert.match(poison({ type: 'access_rules', action: 'block', asn: 'AS1', expiration: -1 }), /^expiration: /);
  assert.match(poison({ op: 'upsert' }, V2), /^kind: /);
  assert.match(poison({ kind: 'access_rule', op: 'upsert' }, V2), /^rule: is required/);
  assert.match(poison({ kind: 'waf_rule', op: 'delete' }, V2), /^rule_ref: is required/);
  assert.match(
    poison({ kind: 'waf_rule', op: 'upsert', rule_ref: 'a', rule: { type: 'x', expression: 'y', action: 'block' } }, V2),
    /^rule.type: /,
  );
});

test('D4 what no store can keep is poison: it must not block landing', () => {
  const entry = (more: object) => ({ kind: 'access_rule', op: 'upsert', rule: { target: { country: 'NL' } }, ...more });
  assert.match(poison(entry({ reason: 'a\0' }), V2), /^reason: /);
  assert.match(poison(entry({ reason: '\ud800' }), V2), /^reason: /);
  assert.match(poison(entry({ labels: { a: [{ '\0': 1 }] } }), V2), /^labels: /);
  assert.match(poison(entry({ rule_ref: 'a'.repeat(129) }), V2), /^rule_ref: /);
  const deep = `{"kind":"access_rule","op":"upsert","rule":{"target":{"country":"NL"}},"labels":${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}}`;
  assert.match(poison(deep, V2), /^labels: /);
});

test('D4 limits, geo data and schemes are not judged again', () => {
  const { change } = decoded(
    {
      kind: 'waf_rule',
      op: 'upsert',
      rule_ref: 'a',
      rule: { type: 'custom', expression: 'x'.repeat(9000), action: 'tarpit', name: 'n'.repeat(999) },
    },
    V2,
  );
  assert(change.change === 'upsert');
  assert.equal(change.rule.action, 'tarpit');
  const { change: block } = decoded({ type: 'access_rules', action: 'block', country: 'XX' });
  assert(block.change === 'upsert' && block.kind === 'access_rule');
});

test('2.4, D3 config.phase is the given phase or absent, and keys such as __proto__ are plain data', () => {
  const rule = (more: string) =>
    `{"kind":"waf_rule","op":"upsert","rule_ref":"a","rule":{"type":"CUSTOM","expression":"x","action":"Block"${more}}}`;
  const config = (json: string) => {
    const { change } = decoded(json, V2);
    assert(change.change === 'upsert');
    return JSON.stringify(change.rule.config);
  };
  assert.equal(config(rule('')), 'null');
  assert.equal(config(rule(',"phase":"Response"')), '{"phase":"response"}');
  assert.equal(config(rule(',"config":{"phase":"request","__proto__":{"x":1},"constructor":2}')), '{"__proto__":{"x":1},"constructor":2}');
  assert.equal(config(rule(',"phase":"request","config":{"__proto__":{"x":1},"phase":"z"}')), '{"__proto__":{"x":1},"phase":"request"}');
});
