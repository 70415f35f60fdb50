import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { AccessRule, ExpressionRule, Kind, RuleChange } from '../../rule.ts';
import { formatTarget } from '../../signal/target.ts';
import { compact, type ResolvedChange, type Run } from './compact.ts';

interface Row {
  readonly id: number;
  readonly place: string;
  readonly kind: Kind;
  readonly ruleRef: string | null;
  readonly value: string;
  readonly content: string;
  readonly expiresAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The rules of a store, changed one statement at a time, the slow and obvious way. */
class Model {
  rows: Row[] = [];

  upsert(
    c: Pick<ResolvedChange, 'workspace' | 'list' | 'id'>,
    change: Extract<RuleChange, { change: 'upsert' }>,
    created: number,
    updated: number,
  ) {
    const row = describe(c, change);
    const old = this.rows.find((r) => sameRule(r, row));
    const active = old !== undefined && (old.expiresAt === null || old.expiresAt > created);
    this.rows = this.rows.filter((r) => r !== old);
    this.rows.push({ ...row, id: old?.id ?? c.id, createdAt: active ? old.createdAt : created, updatedAt: updated });
  }
  deleteRef(place: string, kind: Kind, ruleRef: string) {
    this.rows = this.rows.filter((r) => !(r.place === place && r.kind === kind && r.ruleRef === ruleRef));
  }
  deleteValue(place: string, value: string) {
    this.rows = this.rows.filter((r) => !(r.place === place && r.kind === 'access_rule' && r.value === value));
  }

  apply(c: ResolvedChange) {
    const { change } = c;
    if (change.change === 'upsert') this.upsert(c, change, c.receivedAt, c.receivedAt);
    else if (change.change === 'delete') this.deleteRef(place(c, change.kind), change.kind, change.ruleRef);
    else this.deleteValue(place(c, 'access_rule'), `${change.action} ${formatTarget(change.target)}`);
  }
  /** Applies a run backwards within each group: their order must not matter. */
  run(run: Run) {
    for (const d of run.refDeletes.toReversed()) this.deleteRef(place(d, d.kind), d.kind, d.ruleRef);
    for (const d of run.valueDeletes.toReversed()) this.deleteValue(place(d, 'access_rule'), `${d.action} ${d.target}`);
    for (const u of run.upserts.toReversed()) this.upsert(u, u.change, u.createdAt, u.updatedAt);
  }
  get state() {
    return this.rows.map((row) => JSON.stringify(row)).sort();
  }
}

const place = ({ workspace, list }: { workspace: number; list: number }, kind: Kind) =>
  kind === 'access_rule' ? `list ${list}` : `workspace ${workspace}`;

function describe(c: Pick<ResolvedChange, 'workspace' | 'list'>, { kind, rule }: Extract<RuleChange, { change: 'upsert' }>) {
  const value = 'target' in rule ? `${rule.action} ${formatTarget(rule.target)}` : '';
  return { place: place(c, kind), kind, ruleRef: rule.ruleRef, value, content: rule.reason ?? '', expiresAt: rule.expiresAt };
}
function sameRule(a: Row, b: Omit<Row, 'id' | 'createdAt' | 'updatedAt'>) {
  if (a.place !== b.place || a.kind !== b.kind || a.ruleRef !== b.ruleRef) return false;
  return a.ruleRef !== null || a.value === b.value;
}

const NOW = 1_800_000_000_000;
const action = fc.constantFrom('block', 'allow');
const target = fc.constantFrom(
  { kind: 'country', country: 'NL' } as const,
  { kind: 'country', country: 'US' } as const,
  { kind: 'asn', asn: 1 } as const,
);
const ruleRef = fc.constantFrom('a', 'b', 'c');
const common = { name: fc.constant(null), labels: fc.constant(null), config: fc.constant(null), reason: fc.string({ maxLength: 3 }) };
const expiresAt = fc.option(fc.constantFrom(60_000, 120_000, 600_000).map((later) => NOW + later));
const accessRule: fc.Arbitrary<AccessRule> = fc.record({
  ...common,
  ruleRef: fc.option(ruleRef),
  action,
  target,
  confidence: fc.constant(null),
  severity: fc.constant(null),
  expiresAt,
});
const expressionRule: fc.Arbitrary<ExpressionRule> = fc.record({
  ...common,
  ruleRef,
  type: fc.constant('custom'),
  expression: fc.constant('x'),
  action: fc.constant('block'),
  order: fc.constant(null),
  shortDescription: fc.constant(null),
  expiresAt,
});
const change: fc.Arbitrary<RuleChange> = fc.oneof(
  { weight: 4, arbitrary: accessRule.map((rule) => ({ change: 'upsert', kind: 'access_rule', rule }) as const) },
  expressionRule.chain((rule) =>
    fc.constantFrom('waf_rule', 'smart_firewall_rule').map((kind) => ({ change: 'upsert', kind, rule }) as const),
  ),
  fc.record({ change: fc.constant('delete'), kind: fc.constantFrom('access_rule', 'waf_rule', 'smart_firewall_rule'), ruleRef }),
  { weight: 2, arbitrary: fc.record({ change: fc.constant('delete_by_value'), kind: fc.constant('access_rule'), action, target }) },
);
const changes = fc.array(
  fc.record({
    workspace: fc.constantFrom(1, 2),
    list: fc.constantFrom(0, 1),
    // Out of order too: replays and other machines' clocks.
    receivedAt: fc.constantFrom(0, 1000, 61_000, 121_000, 700_000).map((later) => NOW + later),
    batch: fc.constantFrom(null, 'a', 'b'),
    change,
  }),
  { maxLength: 40 },
);
/** List numbers are the store's own: a list belongs to one workspace. */
const ownedFrom = (firstId: number) =>
  changes.map((all) => all.map((c, i) => ({ ...c, id: firstId + i, firstId: firstId + i, list: c.workspace * 10 + c.list })));

test('D4 property: a folded batch lands exactly as its entries one by one, id and created_at included', () => {
  fc.assert(
    fc.property(ownedFrom(1), ownedFrom(1000), (before, batch) => {
      const slow = new Model();
      for (const c of before) slow.apply(c);
      const fast = new Model();
      fast.rows = slow.rows;
      for (const c of batch) slow.apply(c);
      for (const run of compact(batch)) fast.run(run);
      assert.deepEqual(fast.state, slow.state);
    }),
    { seed: 20, numRuns: 3000 },
  );
});

test('D4 property: no run upserts or deletes a rule twice', () => {
  const unique = (keys: unknown[]) => new Set(keys.map((key) => JSON.stringify(key))).size === keys.length;
  fc.assert(
    fc.property(ownedFrom(1), (batch) => {
      for (const run of compact(batch)) {
        assert(unique(run.refDeletes.map((d) => [place(d, d.kind), d.kind, d.ruleRef])));
        assert(unique(run.valueDeletes.map((d) => [d.list, d.action, d.target])));
        assert(
          unique(
            run.upserts.map((u) => {
              const { content: _, expiresAt: __, value, ...identity } = describe(u, u.change);
              return identity.ruleRef === null ? { ...identity, value } : identity;
            }),
          ),
        );
      }
    }),
    { seed: 21, numRuns: 1000 },
  );
});

const upsert = (ref: string | null, country: string, receivedAt: number, lapse: number | null = null): ResolvedChange => ({
  workspace: 1,
  list: 1,
  receivedAt,
  batch: null,
  firstId: 1,
  id: 1,
  change: {
    change: 'upsert',
    kind: 'access_rule',
    rule: {
      ruleRef: ref,
      action: 'block',
      target: { kind: 'country', country },
      name: null,
      reason: null,
      labels: null,
      config: null,
      confidence: null,
      severity: null,
      expiresAt: lapse,
    },
  },
});
const unblock = (country: string): ResolvedChange => ({
  workspace: 1,
  list: 1,
  receivedAt: NOW,
  batch: null,
  firstId: 1,
  id: 1,
  change: { change: 'delete_by_value', kind: 'access_rule', action: 'block', target: { kind: 'country', country } },
});

test('D4 blocks and unblocks by value fold into one run', () => {
  const runs = compact([
    upsert(null, 'NL', 1),
    unblock('NL'),
    upsert(null, 'US', 2),
    unblock('DE'),
    upsert(null, 'DE', 3),
    upsert(null, 'US', 4),
  ]);
  assert.equal(runs.length, 1);
  assert.deepEqual(
    runs[0]!.valueDeletes.map((d) => d.target),
    ['NL', 'DE'],
  );
  assert.deepEqual(
    runs[0]!.upserts.map((u) => [u.createdAt, u.updatedAt]),
    [
      [2, 4],
      [3, 3],
    ],
  );
});

test('D4 a delete by value after an upsert by rule_ref is a barrier, and so is an expiry', () => {
  assert.equal(compact([upsert('a', 'NL', 1), unblock('US')]).length, 2);
  assert.equal(compact([unblock('US'), upsert('a', 'NL', 1)]).length, 1);
  assert.equal(compact([upsert(null, 'NL', 1000, 61_000), upsert(null, 'NL', 60_999)]).length, 1);
  assert.equal(compact([upsert(null, 'NL', 1000, 61_000), upsert(null, 'NL', 61_000)]).length, 2);
  assert.deepEqual(compact([]), []);
});
