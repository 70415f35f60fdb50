import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { StoredRule } from '../ports/stored/stored-rule.ts';
import { KINDS, LEVELS } from '../rule.ts';
import { decodeSignalRecord } from './message/decode.ts';
import { encodeMessage } from './message/encode.ts';
import { type PastSignal, ruleToSignals } from './rule-to-signals.ts';

type Stored = Omit<StoredRule, 'id' | 'listId' | 'seq'>;

/** What landing makes of signals for one rule, one after the other, as both stores do. */
function land(signals: readonly PastSignal[]): Stored {
  let stored: Stored | undefined;
  for (const { signal, receivedAt } of signals) {
    const message = encodeMessage(signal, { organizationId: 'o', workspaceId: 'w', listId: 'l', receivedAt, signalId: '0195' });
    const landed = decodeSignalRecord({ ...message, offset: 0, timestamp: 0 });
    assert(!('poison' in landed), JSON.stringify(landed));
    const { change } = landed;
    assert(change.change === 'upsert');
    const lapsed = stored !== undefined && stored.rule.expiresAt !== null && stored.rule.expiresAt <= receivedAt;
    stored = {
      kind: change.kind,
      rule: change.rule,
      createdAt: stored === undefined || lapsed ? receivedAt : stored.createdAt,
      updatedAt: receivedAt,
    };
  }
  return stored!;
}

const HUNDRED_YEARS = 3_155_760_000;
const T0 = Date.parse('2026-11-20T10:00:00.000Z');
const DAY = 86_400_000;
/** Close enough for updates in time, and far enough for an expiry of its own. */
const instant = fc.oneof(fc.integer({ min: T0, max: T0 + 400_000 }), fc.integer({ min: T0, max: T0 + 10 * DAY }));
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const text = fc.string({ unit: 'binary', maxLength: 5 }).filter((value) => !value.includes('\0'));
const seconds = optional(fc.oneof(fc.integer({ min: 0, max: 300 }), fc.constantFrom(20 * 86_400, HUNDRED_YEARS)));
const free = (members: Record<string, fc.Arbitrary<unknown>> = {}) =>
  optional(
    fc
      .tuple(
        fc.dictionary(fc.constantFrom('__proto__', 'constructor', 'a', ''), fc.oneof(text, fc.double({ noNaN: true }), fc.constant(null))),
        fc.record(members, { requiredKeys: [] }),
      )
      // Through JSON, as every signal comes: -0 and null prototypes do not.
      .map((parts) =>
        JSON.parse(JSON.stringify(Object.defineProperties({}, Object.assign({}, ...parts.map(Object.getOwnPropertyDescriptors))))),
      ),
  );
const target = fc.constantFrom(
  { ip: '192.0.2.1' },
  { ip: '198.51.100.0/24' },
  { ip: '2001:db8::/32' },
  { asn: 'AS64500' },
  { country: 'NL' },
);
const level = fc.constantFrom(...LEVELS);

const event = fc
  .record({ name: optional(text), description: optional(text), expiration: seconds, target })
  .map(({ target: which, ...fields }) => ({ version: 1, event: { type: 'access_rules', action: 'block', ...which, ...fields } }) as const);
const envelope = fc.constantFrom(...KINDS).chain((kind) =>
  fc
    .record({
      ref: fc.constantFrom(undefined, 'r:1'),
      expires_in: seconds,
      reason: optional(text),
      labels: free(),
      access: fc.record({
        target,
        action: fc.constantFrom('block', 'allow'),
        config: free({ confidence: level, severity: fc.oneof(level, fc.constant('odd')) }),
      }),
      expression: fc.record({
        name: optional(text),
        type: fc.constantFrom('custom', 'generated'),
        expression: text,
        action: fc.constantFrom('block', 'challenge', 'allow'),
        phase: fc.constantFrom(undefined, 'request', 'response'),
        order: optional(fc.maxSafeInteger()),
        short_description: optional(text),
        config: free(),
      }),
    })
    .map(({ ref, access, expression, ...fields }) => {
      const rule_ref = kind === 'access_rule' ? ref : 'r:1';
      const rule = kind === 'access_rule' ? access : expression;
      return { version: 2, envelope: { schema_version: 2, kind, op: 'upsert', rule_ref, ...fields, rule } } as never;
    }),
);

test('D4 moving: the history of a rule leaves it exactly as it was, expiry and both times included', () => {
  const signal = fc.oneof(event, envelope);
  const past = fc.tuple(signal, fc.array(instant, { minLength: 1, maxLength: 3 }));
  fc.assert(
    fc.property(past, ([given, instants]) => {
      const stored = land(instants.map((receivedAt) => ({ signal: given, receivedAt })));
      const moved = land(ruleToSignals(stored));
      assert.deepEqual(moved, stored);
      assert.equal(JSON.stringify(moved.rule), JSON.stringify(stored.rule));
    }),
    { seed: 4, numRuns: 3000 },
  );
});

test('D4, D56.2 moving: a rule that was updated takes two signals, the first with an expiry behind the update', () => {
  const given = { version: 1, event: { type: 'access_rules', action: 'block', ip: '192.0.2.1', expiration: 60, name: 'n' } } as const;
  const stored = land([T0, T0 + 59_999].map((receivedAt) => ({ signal: given, receivedAt })));
  assert.deepEqual([stored.createdAt, stored.updatedAt, stored.rule.expiresAt], [T0, T0 + 59_999, T0 + 120_000]);
  const history = ruleToSignals(stored);
  assert.deepEqual(
    history.map(({ signal, receivedAt }) => [receivedAt, signal.version === 1 && signal.event.expiration]),
    [
      [T0, 120],
      [T0 + 59_999, 60],
    ],
  );
  assert.equal(ruleToSignals(land([{ signal: given, receivedAt: T0 }])).length, 1);
  for (const { signal, receivedAt } of history) {
    const message = encodeMessage(signal, { organizationId: 'o', workspaceId: 'w', listId: 'l', receivedAt, signalId: '0195' });
    const landed = decodeSignalRecord({ ...message, offset: 0, timestamp: 0 });
    assert.ok('hasEnd' in landed && landed.hasEnd, 'lists with repeat leave its expiry alone');
  }
});

test('D46.3 moving: a rule that ends soon ends when it ended before', () => {
  const past = fc.tuple(fc.oneof(event, envelope), instant, fc.integer({ min: 100, max: 200 }), fc.nat(100_000));
  fc.assert(
    fc.property(past, ([given, at, seconds, later]) => {
      const landed = land([{ signal: given, receivedAt: at }]);
      if (landed.kind !== 'access_rule') return;
      const stored = { ...landed, updatedAt: at + later, rule: { ...landed.rule, expiresAt: (Math.ceil(at / 1000) + seconds) * 1000 } };
      assert.deepEqual(land(ruleToSignals(stored)).rule, stored.rule);
    }),
    { seed: 46, numRuns: 1000 },
  );
});
