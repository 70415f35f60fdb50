/** What every store driver must do with batches: keep what they replaced, undo them, delete rules by id (SPEC D9). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { NO_SETTINGS } from '../../src/account/list.ts';
import type { LandingItem } from '../../src/ports/landing.ts';
import type { KnownRules } from '../../src/ports/snapshot.ts';
import type { StoredRule } from '../../src/ports/stored/stored-rule.ts';
import { KINDS, type RuleChange, type Target } from '../../src/rule.ts';
import { newBatchId } from '../../src/signal/message/signal-id.ts';
import { formatTarget } from '../../src/signal/target.ts';
import { access, collectingSink, fixture, ip, type StoreDriver, T0, upsert, waf } from './store.ts';

const HOSTS = ['192.0.2.1', '192.0.2.2', '2001:db8::/48'].map(ip);
const REFS = ['a', 'b'];

const target: fc.Arbitrary<Target> = fc.constantFrom(...HOSTS);
const accessUpsert = fc
  .record({
    ruleRef: fc.option(fc.constantFrom(...REFS)),
    target,
    action: fc.constantFrom('block', 'allow'),
    reason: fc.constantFrom('x', 'y', 'z'),
  })
  .map(({ target: about, ...rule }) => upsert(access(about, rule)));
const change: fc.Arbitrary<RuleChange> = fc.oneof(
  { weight: 5, arbitrary: accessUpsert },
  { weight: 2, arbitrary: fc.constantFrom(...REFS).map((ruleRef) => ({ change: 'delete', kind: 'access_rule', ruleRef }) as const) },
  {
    weight: 3,
    arbitrary: fc
      .record({ target, action: fc.constantFrom('block', 'allow') })
      .map((given) => ({ change: 'delete_by_value', kind: 'access_rule', ...given }) as const),
  },
  fc.record({ ref: fc.constantFrom(...REFS), order: fc.integer({ min: 1, max: 3 }) }).map(({ ref, order }) => {
    return { change: 'upsert', kind: 'waf_rule', rule: waf(ref, { order }) } as const;
  }),
  fc.constantFrom(...REFS).map((ruleRef) => ({ change: 'delete', kind: 'waf_rule', ruleRef }) as const),
);
/** Each entry of a history is of one of these batches, which may stand in each other's way; one of them is undone. */
const history = fc.array(fc.record({ change, batch: fc.nat(3) }), { minLength: 1, maxLength: 14 });

/** What names a rule, of any kind. */
function identity(kind: string, rule: { ruleRef: string | null; action?: string; target?: Target }): string {
  return rule.ruleRef === null ? `${kind} ${rule.action} ${formatTarget(rule.target!)}` : `${kind} ${rule.ruleRef}`;
}

/** The rules that a change may touch: one by its identity, and all that a delete by value may hit. */
function touched({ change: given }: { change: RuleChange }, known: readonly RuleChange[]): string[] {
  if (given.change === 'upsert') return [identity(given.kind, given.rule as never)];
  if (given.change === 'delete') return [`${given.kind} ${given.ruleRef}`];
  const value = `${given.action} ${formatTarget(given.target)}`;
  const hit = known.filter(
    (each) => each.change === 'upsert' && each.kind === 'access_rule' && `${each.rule.action} ${formatTarget(each.rule.target)}` === value,
  );
  return [`access_rule ${value}`, ...hit.map((each) => (each.change === 'upsert' ? identity(each.kind, each.rule as never) : ''))];
}

const plain = ({ id: _, listId: _l, seq: _s, ...rule }: StoredRule) => rule;
const byIdentity = (rules: readonly StoredRule[]) =>
  new Map(rules.map((stored) => [identity(stored.kind, stored.rule as never), plain(stored)]));

export function undoConformance(driver: StoreDriver): void {
  const { name } = driver;

  test(`D9.2, D9.5, D10.26 store ${name}: batches are known with their key, list and entries; rules tell which one wrote them last`, async (t) => {
    const { store, workspace, land, rules } = await fixture(t, driver);
    const [first, second, undo] = [newBatchId(T0), newBatchId(T0 + 1), newBatchId(T0 + 2)];
    const entry = (batchId: string | null, host: number, keyId: string | null = null) => ({
      batchId,
      keyId,
      change: upsert(access(HOSTS[host])),
    });
    const key = '0195a0b2-0000-7000-8000-000000000001';
    await land([entry(first, 0, key), entry(first, 1, key), entry(null, 2)], T0);
    await land([{ ...entry(second, 0), change: upsert(access(HOSTS[0], { reason: 'again' })) }], T0 + 1);
    await land([entry(first, 2, key)], T0 + 5);
    const known = await store.batches(workspace.id, { limit: 10 });
    assert.deepEqual(
      known.map(({ id, keyId, entries, receivedAt, landedAt }) => ({ id, keyId, entries, receivedAt, landedAt })),
      [
        { id: first, keyId: key, entries: 3, receivedAt: T0, landedAt: T0 + 5 },
        { id: second, keyId: null, entries: 1, receivedAt: T0 + 1, landedAt: T0 + 1 },
      ],
    );
    assert.deepEqual(await store.batch(workspace.id, first.toUpperCase()), known[0]);
    assert.equal(await store.batch(workspace.id, undo), undefined);
    assert.deepEqual(await store.batches(workspace.id, { limit: 10, before: second }), [known[0]]);
    assert.equal((await store.batches(workspace.id, { limit: 1 })).length, 1);

    const stored = await rules();
    const origins = await store.origins(workspace.id, [...stored.map(({ seq }) => seq), 999_999]);
    assert.deepEqual(
      stored.map(({ seq }) => origins.get(seq)?.batchId),
      [second, first, first],
    );
    assert.equal(origins.size, 3);

    const preview = await store.undoPreview(workspace.id, first);
    assert.deepEqual({ ...preview, sample: preview.sample.length }, { removes: 1, restores: 1, keeps: 1, sample: 2 });
    await land([{ change: { change: 'undo', batchId: first }, batchId: undo }], T0 + 6);
    assert.deepEqual(
      (await rules()).map(({ rule }) => rule.reason),
      ['again', null],
    );
    const after = await store.batch(workspace.id, first);
    assert.equal(after?.undoneBy, undo);
    assert.equal((await store.batch(workspace.id, undo))?.undoes, first);
    const versions = await store.ruleVersions(workspace.id, ['192.0.2.1', '192.0.2.2'], 9);
    assert.deepEqual(
      versions.map(({ stored: { rule }, written, ended }) => [
        formatTarget((rule as { target: Target }).target),
        rule.reason,
        written?.landedAt,
        ended?.by?.landedAt,
        ended?.by?.undoes,
      ]),
      [
        ['192.0.2.2', null, T0, T0 + 6, first],
        ['192.0.2.1', 'again', T0 + 1, undefined, undefined],
        ['192.0.2.1', null, T0, T0 + 1, null],
      ],
      'D10.26',
    );
    assert.deepEqual({ ...(await store.undoPreview(workspace.id, first)), sample: [] }, { removes: 0, restores: 0, keeps: 1, sample: [] });
  });

  test(`D9.3 store ${name}: undoing a batch of another workspace, or one that is not known, changes nothing; nothing comes back into a deleted list`, async (t) => {
    const { store, organization, workspace, land, rules } = await fixture(t, driver);
    const [batch, deletion, undo] = [newBatchId(T0), newBatchId(T0), newBatchId(T0)];
    const list = await store.createList(workspace.id, 'gone', NO_SETTINGS);
    const other = await store.createWorkspace(organization.id, 'other');
    await land([
      { batchId: batch, change: upsert(access(HOSTS[0])) },
      { batchId: batch, listId: list.id, change: upsert(access(HOSTS[1])) },
    ]);
    const value = { kind: 'access_rule', action: 'block' } as const;
    await land([
      { batchId: deletion, change: { change: 'delete_by_value', ...value, target: HOSTS[0] } },
      { batchId: deletion, listId: list.id, change: { change: 'delete_by_value', ...value, target: HOSTS[1] } },
    ]);
    await land([{ workspaceId: other.id, batchId: undo, change: { change: 'undo', batchId: deletion } }]);
    await land([{ batchId: undo, change: { change: 'undo', batchId: newBatchId(T0) } }]);
    assert.equal(await store.ruleCount(workspace.id), 0);
    await store.deleteList(workspace.id, list.id);
    await land([{ batchId: undo, change: { change: 'undo', batchId: deletion } }]);
    assert.equal(await store.ruleCount(workspace.id), 1);
    assert.equal((await rules()).length, 1);
  });

  test(`D9.11 store ${name}: a batch all of whose lists are deleted says that undoing it brings nothing; one that reaches further does not`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'gone', NO_SETTINGS);
    const [alone, both, named, undo] = [newBatchId(T0), newBatchId(T0), newBatchId(T0), newBatchId(T0)];
    const there = { batchId: both, change: upsert(access(HOSTS[1])) };
    await land([{ batchId: alone, listId: list.id, change: upsert(access(HOSTS[0])) }]);
    await land([{ batchId: both, listId: list.id, change: upsert(access(HOSTS[1])) }, there]);
    await land([{ batchId: named, listId: list.id, change: { change: 'upsert', kind: 'waf_rule', rule: waf('r-1') } }]);
    await land([{ batchId: undo, listId: list.id, change: { change: 'undo', batchId: both } }]);
    const told = async (id: string) => {
      const found = (await store.batch(workspace.id, id))!;
      return [found.undoable, found.isListDeleted];
    };
    for (const id of [alone, both, named, undo]) assert.deepEqual(await told(id), [true, false]);
    await store.deleteList(workspace.id, list.id);
    assert.deepEqual(
      [await told(alone), await told(both), await told(named), await told(undo)],
      [
        [false, true],
        [true, false],
        [true, false],
        [true, false],
      ],
    );
    await store.restoreDeleted(workspace.id, list.id, {});
    assert.deepEqual(await told(alone), [true, false]);
  });

  test(`D38.1, D45.13 store ${name}: a batch tells the lists that it concerns; one of expression rules alone is of none, and so is its undo`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    const [alone, mixed, both, undo, again, unknown] = Array.from({ length: 6 }, () => newBatchId(T0)) as [string, string, ...string[]];
    const byExpression = { change: 'upsert', kind: 'waf_rule', rule: waf('r-1') } as const;
    await land([
      { batchId: alone, change: byExpression },
      { batchId: alone, change: { change: 'delete', kind: 'waf_rule', ruleRef: 'r-2' } },
    ]);
    await land([
      { batchId: mixed, change: byExpression },
      { batchId: mixed, listId: list.id, change: upsert(access(HOSTS[0])) },
    ]);
    await land([
      { batchId: both!, listId: list.id, change: upsert(access(HOSTS[0])) },
      { batchId: both!, change: upsert(access(HOSTS[1])) },
    ]);
    await land([{ batchId: undo!, change: { change: 'undo', batchId: alone } }]);
    await land([{ batchId: again!, change: { change: 'undo', batchId: undo! } }]);
    await land([{ batchId: unknown!, change: { change: 'undo', batchId: newBatchId(T0) } }]);
    const own = await store.defaultList(workspace.id);
    const told = async (id: string) => {
      const { hasTargets, lists, listId } = (await store.batch(workspace.id, id))!;
      return [hasTargets, lists, listId];
    };
    for (const id of [alone, undo!, again!]) assert.deepEqual(await told(id), [false, 0, null]);
    assert.deepEqual(await told(mixed), [true, 1, list.id]);
    assert.deepEqual(await told(both!), [true, 2, list.id]);
    assert.deepEqual(await told(unknown!), [null, 1, own], 'what it undid is forgotten');

    const whatOf = async (items: Parameters<typeof land>[0]) => {
      const batchId = newBatchId(T0);
      await land(items.map((item) => ({ batchId, ...item })));
      return (await store.batch(workspace.id, batchId))!.what;
    };
    const ids = { kind: 'access_rule', ids: [1] } as const;
    const [made, deleted, set] = [
      { change: upsert(access(HOSTS[1])) },
      { change: { change: 'delete_rules', ...ids } as const },
      { change: { change: 'set_rules', ...ids, reason: 'x' } as const },
    ];
    const source = { sourceId: 'a source that is deleted' };
    const deeds = [
      [made],
      [deleted],
      [set],
      [made, deleted],
      [
        { ...made, ...source },
        { ...deleted, ...source },
      ],
    ];
    const found = [];
    for (const items of deeds) found.push(await whatOf(items));
    assert.deepEqual(found, ['sent', 'deleted', 'changed', 'changed', 'refreshed'], 'D45.13');
    assert.deepEqual([(await store.batch(workspace.id, undo!))!.what, (await store.batch(workspace.id, alone))!.what], ['undone', 'sent']);
  });

  test(`D9.3, D9.11 store ${name}: what is told of an undo is what it does: nothing in a deleted list, nothing twice, nothing that is undone already`, async (t) => {
    const { store, workspace, land, rules } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    const [first, second, batch, undo, again] = Array.from({ length: 5 }, () => newBatchId(T0)) as [string, string, string, string, string];
    const hosts = Array.from({ length: 700 }, (_, n) => ip(`198.51.${n >> 8}.${n & 255}`));
    const everywhere = (batchId: string, reason: string) =>
      hosts.map((host, n) => ({ batchId, listId: n % 2 === 0 ? null : list.id, change: upsert(access(host, { reason })) }));
    const told = async (id: string) => {
      const { sample, ...counts } = await store.undoPreview(workspace.id, id);
      assert.ok(sample.length <= 10);
      return counts;
    };
    const state = async () => JSON.stringify([await rules(), await rules('access_rule', T0, list.id)]);
    await land(everywhere(first, 'x').slice(0, 650));
    await land(everywhere(second, 'y').slice(0, 600));
    // A batch that lands in three parts, makes rules and changes them once more itself.
    for (const [from, to] of [
      [0, 300],
      [300, 700],
      [690, 700],
    ] as const)
      await land(everywhere(batch, `z${from}`).slice(from, to));
    const before = await state();
    assert.deepEqual(await told(batch), { removes: 50, restores: 650, keeps: 0 });
    await land([{ batchId: undo, change: { change: 'undo', batchId: batch } }]);
    const after = await state();
    assert.deepEqual(await told(batch), { removes: 0, restores: 0, keeps: 0 }, 'it is undone');
    assert.deepEqual(await told(undo), { removes: 0, restores: 700, keeps: 0 }, 'in both lists');
    await land([{ batchId: again, change: { change: 'undo', batchId: undo } }]);
    assert.equal(await state(), before, 'an undo of an undo brings back what lay in other lists than its own, too');
    assert.deepEqual(await told(undo), { removes: 0, restores: 0, keeps: 0 }, 'the undo is undone');
    assert.deepEqual(await told(again), { removes: 50, restores: 650, keeps: 0 });
    await land([{ batchId: newBatchId(T0), change: { change: 'undo', batchId: again } }]);
    assert.equal(await state(), after);
    await store.deleteList(workspace.id, list.id);
    assert.deepEqual(await told(second), { removes: 0, restores: 300, keeps: 0 }, 'nothing comes back into the list that is gone');
    assert.deepEqual(await told(first), { removes: 25, restores: 0, keeps: 300 });
  });

  test(`D9.12 store ${name}: of several undos of a batch one does it; the others change nothing and undo nothing`, async (t) => {
    const { store, workspace, land, rules } = await fixture(t, driver);
    const [batch, other, ...undos] = Array.from({ length: 6 }, () => newBatchId(T0)) as [string, string, ...string[]];
    await land(HOSTS.map((host) => ({ batchId: batch, change: upsert(access(host)) })));
    await land([{ batchId: other, change: upsert(access(HOSTS[0]!, { reason: 'since' })) }]);
    await land(undos.slice(0, 3).map((batchId) => ({ batchId, change: { change: 'undo', batchId: batch } })));
    const undoes = async () => Promise.all(undos.map(async (id) => (await store.batch(workspace.id, id))?.undoes));
    assert.deepEqual(await undoes(), [batch, null, null, undefined]);
    assert.equal((await store.batch(workspace.id, batch))!.undoneBy, undos[0]);
    // What the first one has left is undone later on, when nothing stands in its way.
    await land([{ batchId: newBatchId(T0), change: { change: 'undo', batchId: other } }]);
    await land([{ batchId: undos[3]!, change: { change: 'undo', batchId: batch } }]);
    assert.deepEqual(await undoes(), [batch, null, null, batch]);
    assert.deepEqual(await rules(), []);
  });

  test(`D9.6 store ${name}: rules are deleted by their ids, each in its own list only, and come back when that is undone`, async (t) => {
    const { store, workspace, land, rules } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    const [batch, deletion] = [newBatchId(T0), newBatchId(T0)];
    await land([
      { batchId: batch, change: upsert(access(HOSTS[0])) },
      { batchId: batch, listId: list.id, change: upsert(access(HOSTS[0])) },
      { batchId: batch, change: { change: 'upsert', kind: 'waf_rule', rule: waf('a') } },
    ]);
    const before = [...(await rules()), ...(await rules('waf_rule'))];
    const ids = before.map(({ id }) => id);
    await land([
      { batchId: deletion, change: { change: 'delete_rules', kind: 'access_rule', ids } },
      { batchId: deletion, change: { change: 'delete_rules', kind: 'waf_rule', ids } },
    ]);
    assert.deepEqual(
      [...(await rules()), ...(await rules('waf_rule'))].map(({ listId }) => listId),
      [list.id],
    );
    assert.equal(await store.ruleCount(workspace.id), 1);
    await land([{ batchId: newBatchId(T0), change: { change: 'undo', batchId: deletion } }]);
    assert.deepEqual([...(await rules()), ...(await rules('waf_rule'))], before);
    assert.equal(await store.ruleCount(workspace.id), 3);
  });

  test(`D33.1 store ${name}: active rules are set by their ids, each in its own list only, and are as they were when that is undone`, async (t) => {
    const { store, workspace, land, rules } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    const [batch, setting] = [newBatchId(T0), newBatchId(T0)];
    await land([
      { batchId: batch, change: upsert(access(HOSTS[0], { reason: 'a', expiresAt: T0 + 60_000 })) },
      { batchId: batch, change: upsert(access(HOSTS[1], { reason: 'b', expiresAt: T0 - 1000 })) },
      { batchId: batch, listId: list.id, change: upsert(access(HOSTS[0])) },
      { batchId: batch, change: { change: 'upsert', kind: 'waf_rule', rule: waf('a') } },
    ]);
    const before = [...(await rules()), ...(await rules('waf_rule'))];
    const ids = before.map(({ id }) => id);
    await land([
      { batchId: setting, change: { change: 'set_rules', kind: 'access_rule', ids, expiresAt: T0 + 3_600_000 } },
      { batchId: setting, change: { change: 'set_rules', kind: 'waf_rule', ids, expiresAt: null, reason: 'why' } },
    ]);
    const told = (found: readonly StoredRule[]) => found.map(({ id, rule: { expiresAt, reason } }) => [id, expiresAt, reason]);
    const [first, other, expression] = before;
    assert.deepEqual(told([...(await rules()), ...(await rules('waf_rule'))]), [
      [first!.id, T0 + 3_600_000, 'a'],
      [other!.id, null, null],
      [expression!.id, null, 'why'],
    ]);
    await land([{ batchId: newBatchId(T0), change: { change: 'undo', batchId: setting } }]);
    assert.deepEqual([...(await rules()), ...(await rules('waf_rule'))], before);
  });

  test(`D9.7 store ${name}: batches and what they replaced are forgotten after the time of expired rules, in slices`, async (t) => {
    const { store, workspace, land, query } = await fixture(t, driver);
    const batches = Array.from({ length: 4 }, () => newBatchId(T0));
    for (const [n, batchId] of batches.entries()) {
      await land(
        HOSTS.map((host) => ({ batchId, change: upsert(access(host, { reason: String(n) })) })),
        T0 + n * 1000,
      );
    }
    const count = async (table: string) => Number((await query(`SELECT count(*) AS n FROM ${table}`))[0].n);
    assert.deepEqual([await count('access_rules_before'), await count('batches')], [9, 4]);
    const sweep = () => store.sweep({ now: T0, rulesExpiredBefore: T0 + 2000, auditBefore: 0, limit: 2 });
    for (let removed = await sweep(); removed > 0; removed = await sweep()) assert.ok(removed <= 4);
    assert.deepEqual([await count('access_rules_before'), await count('batches')], [6, 2]);
    assert.deepEqual(
      (await store.batches(workspace.id, { limit: 9 })).map(({ id }) => id),
      [batches[3], batches[2]],
    );
  });

  test(`D9.10, D5.22 store ${name}: where too many replaced rules are kept, the oldest batches cannot be undone any more, in slices; the rest can`, async (t) => {
    const { store, workspace, organization, land, rules, query } = await fixture(t, driver);
    const other = await store.createWorkspace(organization.id, 'other');
    const now = await store.ping();
    const batches = Array.from({ length: 5 }, () => newBatchId(now));
    const marks: KnownRules[] = [];
    for (const [n, batchId] of batches.entries()) {
      const changes = [
        ...HOSTS.map((host) => upsert(access(host, { reason: String(n) }))),
        { change: 'upsert', kind: 'waf_rule', rule: waf('a', { order: n }) },
      ];
      await land(
        changes.map((each) => ({ batchId, change: each as RuleChange })),
        now,
      );
      const { change, lists } = (await store.snapshot(workspace.id, null, now, collectingSink().sink))!;
      marks.push({ change, lists: new Set(lists.map(({ key }) => key)) });
    }
    const deletion = newBatchId(now);
    await land([{ batchId: deletion, change: { change: 'delete_rules', kind: 'access_rule', ids: [(await rules())[0]!.id] } }], now);
    await land([{ batchId: newBatchId(now), change: upsert(access(HOSTS[0]!)), workspaceId: other.id }], now);
    const count = async (what: string) => Number((await query(`SELECT ${what} AS n`))[0].n);
    const kept = () => count('(SELECT count(*) FROM access_rules_before) + (SELECT count(*) FROM waf_rules_before)');
    const counted = () => count('(SELECT sum(rules) FROM kept_counts)');
    assert.deepEqual([await kept(), await counted()], [17, 17]);

    const sweep = (mostPrevious: number) => store.sweep({ now, rulesExpiredBefore: 0, auditBefore: 0, limit: 2, mostPrevious });
    const follow = (known: KnownRules) =>
      store.follow(workspace.id, null, now, known, { ...collectingSink().sink, list() {}, removed() {} });
    const undoable = async () => (await store.batches(workspace.id, { limit: 9 })).map((batch) => batch.undoable).reverse();
    const state = async () => JSON.stringify(await rules());
    assert.equal(await sweep(17), 0);
    assert.deepEqual(await undoable(), [true, true, true, true, true, true]);
    // The first one has replaced nothing. The marks come first, the rows after them.
    const seen: number[] = [];
    for (let removed = await sweep(10); removed > 0; removed = await sweep(10)) {
      assert.ok(removed <= 5);
      seen.push(await kept());
      assert.equal(await counted(), seen.at(-1));
      if ((await undoable())[1]) assert.equal(seen.at(-1), 17, 'nothing is gone of what can be undone');
    }
    assert.equal(seen.at(-1), 9);
    assert.deepEqual(await undoable(), [false, false, false, true, true, true]);
    assert.equal(await follow(marks[1]!), 'too_far');
    assert.notEqual(await follow(marks[2]!), 'too_far');

    const before = await state();
    await land([{ batchId: newBatchId(now), change: { change: 'undo', batchId: batches[1]! } }], now);
    assert.equal(await state(), before, 'an undo that comes too late does nothing');
    assert.equal((await store.batch(workspace.id, batches[1]!))!.undoneBy, null);
    assert.deepEqual(await store.undoPreview(workspace.id, batches[1]!), { removes: 0, restores: 0, keeps: 0, sample: [] });
    for (const batchId of [deletion, batches[4]!, batches[3]!])
      await land([{ batchId: newBatchId(now), change: { change: 'undo', batchId } }], now);
    assert.deepEqual(
      (await rules()).map(({ rule }) => rule.reason),
      ['2', '2', '2'],
    );
    assert.equal(await kept(), await counted());
    while ((await store.sweep({ now, rulesExpiredBefore: now + 1, auditBefore: 0, limit: 1000, mostPrevious: 10 })) > 0);
    assert.deepEqual([await kept(), await counted()], [0, 0]);
  });

  test(`D9.7, D9.10 store ${name}: what is kept is swept in whatever list it lies, and counted until then`, async (t) => {
    const { store, workspace, land, query } = await fixture(t, driver);
    const lists = [await store.createList(workspace.id, 'a', NO_SETTINGS), await store.createList(workspace.id, 'b', NO_SETTINGS)];
    const [first, second] = [newBatchId(T0), newBatchId(T0)];
    const everywhere = (batchId: string, reason: string) =>
      lists.map(({ id }) => ({ batchId, listId: id, change: upsert(access(HOSTS[0]!, { reason })) }));
    const count = async (what: string) => Number((await query(`SELECT ${what} AS n`))[0].n);
    const kept = async () => [
      await count('(SELECT count(*) FROM access_rules_before)'),
      await count('(SELECT coalesce(sum(rules), 0) FROM kept_counts)'),
    ];
    await land([...everywhere(first, 'x'), { change: { change: 'upsert', kind: 'waf_rule', rule: waf('a') }, batchId: first }]);
    await land([...everywhere(second, 'y'), { change: { change: 'delete', kind: 'waf_rule', ruleRef: 'a' }, batchId: second }]);
    // The undo is an item of one list, and changes rules in both.
    await land([{ batchId: newBatchId(T0), listId: lists[0]!.id, change: { change: 'undo', batchId: second } }]);
    assert.deepEqual(await kept(), [4, 4 + 2]);
    await store.deleteList(workspace.id, lists[0]!.id);
    const sweep = async (rulesExpiredBefore: number) => {
      while ((await store.sweep({ now: T0, rulesExpiredBefore, auditBefore: 0, limit: 1 })) > 0);
    };
    await sweep(T0 - 1);
    assert.deepEqual(await kept(), [2, 2 + 2], 'what is kept of a deleted list goes with its rules');
    await sweep(T0 + 1);
    assert.deepEqual(await kept(), [0, 0]);
  });

  test(`D9.3, D9.4 store ${name}: property: a batch that is undone leaves what the others leave, and what they touched as they left it; undoing that brings all back`, async (t) => {
    const { store, organization } = await fixture(t, driver);
    let positions = 0;
    const landing = async () => {
      positions += 1;
      const workspace = await store.createWorkspace(organization.id, `w${positions}`);
      const streamId = workspace.id;
      let position: number | null = null;
      return {
        async land(entries: readonly Pick<LandingItem, 'change' | 'batchId'>[], at: number) {
          const items = entries.map((given, i) => {
            const record = { offset: (position ?? 0) + i, timestamp: at, key: workspace.id, headers: {}, value: '' };
            return { record, workspaceId: workspace.id, listId: null, receivedAt: at, keyId: null, ...given };
          });
          const to: number = (position ?? 0) + items.length;
          assert.equal(await store.apply({ streamId, partition: 0, from: position, to, items, poison: [], now: at }), 'landed');
          position = to;
        },
        async rules() {
          const all: StoredRule[] = [];
          for (const kind of KINDS) all.push(...(await Array.fromAsync(store.rules(workspace.id, { kind, now: T0 }))));
          return all;
        },
        count: () => store.ruleCount(workspace.id),
      };
    };
    await fc.assert(
      fc.asyncProperty(history, fc.nat(3), fc.integer({ min: 1, max: 5 }), async (entries, undone, size) => {
        const ids = [0, 1, 2, 3].map(() => newBatchId(T0));
        const [real, without] = [await landing(), await landing()];
        const items = entries.map((entry, i) => ({ change: entry.change, batchId: ids[entry.batch], at: T0 + i, n: entry.batch }));
        // Whole landings have one instant each; those of both histories are the same.
        for (let i = 0; i < items.length; i += size) {
          const slice = items.slice(i, i + size);
          await real.land(slice, T0 + i);
          const others = slice.filter(({ n }) => n !== undone);
          if (others.length > 0) await without.land(others, T0 + i);
        }
        const before = await real.rules();
        const undoId = newBatchId(T0);
        await real.land([{ change: { change: 'undo', batchId: ids[undone] }, batchId: undoId }], T0 + 100);
        const after = await real.rules();
        const [is, was, would] = [byIdentity(after), byIdentity(before), byIdentity(await without.rules())];

        const all = entries.map((entry) => entry.change);
        const touches = entries.map((entry) => ({ batch: entry.batch, rules: touched(entry, all) }));
        for (const rule of new Set(touches.flatMap(({ rules }) => rules))) {
          const first = touches.findIndex(({ batch, rules }) => batch === undone && rules.includes(rule));
          const later = touches.slice(first + 1).some(({ batch, rules }) => batch !== undone && rules.includes(rule));
          // An unblock that has found nothing is not remembered; whether one has hit a rule by its value is not decided here.
          const unsure = rule.startsWith('access_rule') && all.some((each) => each.change === 'delete_by_value');
          if (first === -1) assert.deepEqual(is.get(rule), was.get(rule), rule);
          else if (!later) assert.deepEqual(is.get(rule), would.get(rule), rule);
          else if (!unsure) {
            const possible = [was.get(rule), would.get(rule)].map((each) => JSON.stringify(each));
            assert.ok(possible.includes(JSON.stringify(is.get(rule))), rule);
          }
        }
        assert.equal(await real.count(), after.length);
        await real.land([{ change: { change: 'undo', batchId: undoId }, batchId: newBatchId(T0) }], T0 + 101);
        assert.deepEqual(await real.rules(), before);
        assert.equal(await real.count(), before.length);
      }),
      { numRuns: name === 'sqlite' ? 100 : 10, seed: 7 },
    );
  });

  test(`D9.9 store ${name}: batches that touch the same rules are undone newest first, down to what was there before; undoing that brings them back`, async (t) => {
    const { store, organization } = await fixture(t, driver);
    let n = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 5 }), async (stack) => {
        n += 1;
        const workspace = await store.createWorkspace(organization.id, `stack${n}`);
        let position: number | null = null;
        const land = async (batchId: string, changes: readonly LandingItem['change'][]) => {
          const at = T0 + (position ?? 0);
          const items = changes.map((given, i) => {
            const record = { offset: (position ?? 0) + i, timestamp: at, key: workspace.id, headers: {}, value: '' };
            return { record, workspaceId: workspace.id, listId: null, receivedAt: at, keyId: null, batchId, change: given };
          });
          const to: number = (position ?? 0) + items.length;
          const landing = { streamId: workspace.id, partition: 0, from: position, to, items, poison: [], now: at };
          assert.equal(await store.apply(landing), 'landed');
          position = to;
        };
        const rules = async () => {
          const all: StoredRule[] = [];
          for (const kind of KINDS) all.push(...(await Array.fromAsync(store.rules(workspace.id, { kind, now: T0 }))));
          return all;
        };
        const states = [await rules()];
        const ids = stack.map(() => newBatchId(T0));
        for (const [i, changes] of stack.entries()) {
          await land(ids[i], changes);
          states.push(await rules());
        }
        const undos: string[] = [];
        for (const [i, id] of [...ids.entries()].reverse()) {
          undos.unshift(newBatchId(T0));
          await land(undos[0], [{ change: 'undo', batchId: id }]);
          assert.deepEqual(await rules(), states[i], `batch ${i} undone`);
          assert.equal((await store.batch(workspace.id, id))?.undoneBy, undos[0]);
        }
        for (const [i, id] of undos.entries()) {
          await land(newBatchId(T0), [{ change: 'undo', batchId: id }]);
          assert.deepEqual(await rules(), states[i + 1], `batch ${i} again`);
          assert.equal((await store.batch(workspace.id, ids[i]))?.undoneBy, null);
        }
        assert.equal(await store.ruleCount(workspace.id), states.at(-1)!.length);
      }),
      { numRuns: name === 'sqlite' ? 40 : 5, seed: 11 },
    );
  });
}
