import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packagedSchemes } from '@weir/expression/scheme.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import fc from 'fast-check';
import type { JsonObject, RuleChange, Target } from '../../../src/rule.ts';
import { validateBatch } from '../../../src/signal/batch.ts';
import { decodeSignalRecord } from '../../../src/signal/message/decode.ts';
import { encodeMessage } from '../../../src/signal/message/encode.ts';

/** An entry as a client may write it, and what it has to do once it has landed. */
interface Case {
  readonly version: 1 | 2;
  readonly entry: object;
  readonly change: RuleChange;
}

const RECEIVED = 1_800_000_000_250;
const DAY = 86_400;
const check = { hasAsn: () => true, isCountry: () => true, schemes: packagedSchemes(), listBound: false };

/** `wire` is one of several ways to write the target. */
const target: fc.Arbitrary<{ wire: object; target: Target }> = fc.oneof(
  fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 })).map(([address, prefix]) => ip(`${address}/${prefix}`)),
  fc.tuple(fc.ipV6(), fc.integer({ min: 0, max: 128 })).map(([address, prefix]) => ip(`${address}/${prefix}`)),
  fc.tuple(fc.nat(0xffff_ffff), fc.constantFrom('AS', 'as', 'As00')).map(([asn, prefix]) => ({
    wire: { asn: `${prefix}${asn}`, ip: null, country: '' },
    target: { kind: 'asn', asn } as const,
  })),
  fc.constantFrom('nl', 'NL', 'nL').map((country) => ({ wire: { country }, target: { kind: 'country', country: 'NL' } as const })),
);
function ip(text: string): { wire: object; target: Target } {
  const network = parseNetwork(text);
  assert(typeof network !== 'string', `${text}: ${network}`);
  return { wire: { ip: text }, target: { kind: 'ip', network } };
}

const seconds = fc.option(fc.oneof(fc.nat(200), fc.nat(3_155_760_000)), { nil: undefined });
const text = fc.option(fc.string({ unit: 'binary', maxLength: 20 }).filter((s) => !s.includes('\0') && s.isWellFormed()));
/** Integers that a double does not hold exactly are faults. */
const isExact = (value: unknown) => !Number.isInteger(value) || Number.isSafeInteger(value);
const json = fc
  .dictionary(
    fc.oneof(fc.constantFrom('__proto__', 'constructor', 'toString'), fc.string({ maxLength: 5 })),
    fc.jsonValue({ maxDepth: 2 }),
    {
      maxKeys: 4,
      noNullPrototype: true,
    },
  )
  .map((value) => JSON.parse(JSON.stringify(value), (_key, inner) => (isExact(inner) ? inner : 0)) as JsonObject)
  .filter((value) => !JSON.stringify(value).includes('\\u'));
const ref = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/);
const anyCase = (word: string) => fc.constantFrom(word, word.toUpperCase(), word[0]!.toUpperCase() + word.slice(1));

/** The whole second at which a rule expires; `least` is its floor, `none` what no expiry means. */
function lapse(given: number | undefined, least: number, none: number | null): number | null {
  const lifetime = given ? Math.max(given, least) : none;
  return lifetime === null ? null : Math.ceil((RECEIVED + lifetime * 1000) / 1000) * 1000;
}

const v1: fc.Arbitrary<Case> = fc
  .record({ target, expiration: seconds, name: text, description: text, isBlock: fc.boolean() })
  .map((given) => {
    const { target, expiration, name, description, isBlock } = given;
    const common = { type: 'access_rules', ...target.wire, expiration, name, description, unknown: 1 };
    if (!isBlock) {
      return {
        version: 1,
        entry: { ...common, action: 'unblock' },
        change: { change: 'delete_by_value', kind: 'access_rule', action: 'block', target: target.target },
      };
    }
    const rule = { ruleRef: null, action: 'block', target: target.target, name, reason: description, labels: null, config: null } as const;
    const expiresAt = lapse(expiration, 60, DAY);
    return {
      version: 1,
      entry: { ...common, action: 'block' },
      change: { change: 'upsert', kind: 'access_rule', rule: { ...rule, confidence: null, severity: null, expiresAt } },
    };
  });

const access: fc.Arbitrary<Case> = fc
  .record({
    target,
    ref: fc.option(ref),
    action: fc.option(fc.constantFrom('block' as const, 'allow' as const)),
    expires: seconds,
    reason: text,
    labels: fc.option(json),
    config: fc.option(json),
    level: fc.option(anyCase('critical')),
    isUpsert: fc.boolean(),
  })
  .map(({ target, ref, action: given, expires, reason, labels, config, level, isUpsert }) => {
    const action = given ?? 'block';
    const levelled = level === null ? config : { ...config, severity: level };
    const rule = { target: target.wire, action: given, config: levelled, name: 'not of v2' };
    const entry = { kind: 'access_rule', op: isUpsert ? 'upsert' : 'delete', rule_ref: ref, expires_in: expires, reason, labels, rule };
    if (!isUpsert) {
      const change: RuleChange =
        ref === null
          ? { change: 'delete_by_value', kind: 'access_rule', action, target: target.target }
          : { change: 'delete', kind: 'access_rule', ruleRef: ref };
      return { version: 2, entry, change };
    }
    const stored = level === null ? config : { ...config, severity: 'critical' };
    const expiresAt = lapse(expires, 60, action === 'block' ? DAY : null);
    const severity = level === null ? null : 'critical';
    const body = { ruleRef: ref, action, target: target.target, name: null, reason, labels, config: stored } as const;
    return {
      version: 2,
      entry,
      change: { change: 'upsert', kind: 'access_rule', rule: { ...body, confidence: null, severity, expiresAt } },
    };
  });

const expression: fc.Arbitrary<Case> = fc
  .record({
    kind: fc.constantFrom('waf_rule' as const, 'smart_firewall_rule' as const),
    ref,
    type: anyCase('generated'),
    action: anyCase('allow'),
    phase: fc.option(anyCase('response')),
    name: text,
    order: fc.option(fc.maxSafeInteger()),
    short: text,
    reason: text,
    labels: fc.option(json),
    config: fc.option(json),
    expires: seconds,
    isUpsert: fc.boolean(),
  })
  .map((given) => {
    const { kind, ref, type, action, name, order, short, reason, labels, config, expires, isUpsert } = given;
    const phase = kind === 'waf_rule' ? given.phase : null;
    const text = kind === 'waf_rule' ? 'http.request.method eq "GET"' : 'ip.src eq 192.0.2.1';
    const rule = {
      name,
      type,
      expression: text,
      action,
      phase,
      order,
      short_description: short,
      config: config && { ...config, phase: 'x' },
    };
    const entry = { schema_version: 2, kind, op: isUpsert ? 'upsert' : 'delete', rule_ref: ref, expires_in: expires, reason, labels, rule };
    if (!isUpsert) return { version: 2, entry, change: { change: 'delete', kind, ruleRef: ref } };
    const stored = phase === null ? config : { ...config, phase: 'response' };
    const change: RuleChange = {
      change: 'upsert',
      kind,
      rule: {
        ...{ ruleRef: ref, name, type: 'generated', expression: text, action: 'allow', order: order === null ? null : order + 0 },
        ...{ shortDescription: short, config: stored, reason, labels, expiresAt: lapse(expires, 0, null) },
      },
    };
    return { version: 2, entry, change };
  });

test('6, D4 property: what is accepted and sent through the stream does what the entry says', () => {
  const context = { organizationId: 'o', workspaceId: 'w', listId: 'l', receivedAt: RECEIVED, signalId: 's' };
  fc.assert(
    fc.property(fc.oneof(v1, access, expression), ({ version, entry, change }) => {
      const result = validateBatch(version, JSON.stringify([entry]), check);
      assert(result.refused === undefined, JSON.stringify(result));
      assert.deepEqual(result.errors, []);
      const message = encodeMessage(result.accepted[0]!, context);
      assert.equal(message.headers.schema_version, version === 1 ? undefined : '2');
      const landed = decodeSignalRecord({ ...message, offset: 0, timestamp: 0 });
      assert(!('poison' in landed), JSON.stringify(landed));
      assert.deepEqual(sorted(landed.change), sorted(change));
    }),
    { seed: 11, numRuns: 3000 },
  );
});

/** As text, keys in order: `__proto__` as a key of its own counts too. */
function sorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sorted).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}:${sorted(inner)}`);
  return `{${entries.sort().join()}}`;
}
