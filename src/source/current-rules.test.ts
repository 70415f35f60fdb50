import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Target } from '../rule.ts';
import { CurrentRules, type Identity } from './current-rules.ts';

const v4 = (address: number, prefix = 32): Target => ({ kind: 'ip', network: { family: 4, address: address >>> 0, prefix } });
const v6 = (last: number): Target => ({ kind: 'ip', network: { family: 6, address: [0x20010db8, 0, 0, last], prefix: 128 } });

test('D11.4 rules are told apart by rule_ref, else by action and target, whatever they are and however many', () => {
  const present = new CurrentRules();
  const identities: Identity[] = [
    { action: 'block', target: v4(0) },
    { action: 'block', target: v4(0, 0) },
    { action: 'allow', target: v4(0) },
    { action: 'block', target: v4(0xffffffff) },
    { action: 'block', target: v4(1), ruleRef: 'soc-1' },
    { action: 'block', target: { kind: 'asn', asn: 64500 } },
    { action: 'block', target: { kind: 'country', country: 'NL' } },
    ...Array.from({ length: 3000 }, (_, n): Identity => ({ action: 'block', target: v4(0xc0000200 + n) })),
    ...Array.from({ length: 3000 }, (_, n): Identity => ({ action: 'allow', target: v6(n) })),
  ];
  for (const [n, identity] of identities.entries()) {
    assert.equal(present.find(identity), -1);
    const rule = { id: n + 1, expiresAt: 1000 * n, hasRef: Boolean(identity.ruleRef), isAllow: identity.action === 'allow' };
    assert.equal(present.add(identity, rule, [n, 0, 0, 1 - n]), n);
  }
  for (const [n, identity] of identities.entries()) {
    const at = present.find({ ...identity });
    assert.deepEqual([at, present.get(at).id, present.get(at).expiresAt, present.digestAt(at, 3)], [n, n + 1, 1000 * n, 1 - n]);
    assert.equal(present.get(at).isAllow, identity.action === 'allow');
  }
  // A rule with a reference is known by it alone.
  assert.equal(present.find({ action: 'allow', target: v6(9000), ruleRef: 'soc-1' }), 4);
});

test('D11.4 values are compared without regard to the order of their fields, and nothing is as good as an empty object', () => {
  const present = new CurrentRules();
  const digest = (value: unknown) => present.digest(value);
  assert.equal(digest({ a: 1, b: { c: [1, { d: 2, e: 3 }] } }), digest({ b: { c: [1, { e: 3, d: 2 }] }, a: 1 }));
  assert.notEqual(digest({ a: 1 }), digest({ a: '1' }));
  assert.deepEqual([digest(null), digest(undefined), digest({})], [0, 0, 0]);
  for (let n = 0; n < 2500; n += 1) digest(`reason ${n}`);
  assert.equal(digest('reason 1'), new CurrentRules().digest('reason 1'));
});
