/** Rules that are sorted, counted and looked through: what that may cost, with time passed in. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RuleOrder, ruleSelections } from '../../src/manage/rules/rule-selections.ts';
import type { LandingItem } from '../../src/ports/landing.ts';
import { oneByOne } from '../../src/serial.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { access, ip, T0, upsert } from '../conformance/store.ts';
import { temporaryFolder } from '../support/folder.ts';

/** Rules of each workspace: three steps. */
const RULES = 2500;
const CONDITIONS = { kind: 'access_rule' } as const;
const BY_TARGET: RuleOrder = { sort: 'target', descending: false };

test('D33.5 rules are looked at in steps, one selection of a workspace at a time, and told again for twenty times as long as that took, a minute at most', async (t) => {
  const store = await openSqliteStore(temporaryFolder(t));
  t.after(() => store.close());
  const organization = await store.createOrganization('o', 'active');
  const [one, other] = [await store.createWorkspace(organization.id, 'one'), await store.createWorkspace(organization.id, 'other')];
  const items = [one, other].flatMap(({ id: workspaceId }) =>
    Array.from({ length: RULES }, (_, n): LandingItem => {
      const change = upsert(access(ip(`203.${n >> 8}.${n & 255}.1`)));
      const record = { offset: 0, timestamp: T0, key: workspaceId, headers: {}, value: '{}' };
      return { record, workspaceId, listId: null, receivedAt: T0, batchId: crypto.randomUUID(), keyId: null, change };
    }),
  );
  const numbered = items.map((item, offset) => ({ ...item, record: { ...item.record, offset } }));
  await store.apply({ streamId: 's', partition: 0, from: null, to: items.length, items: numbered, poison: [], now: T0 });

  let now = T0;
  /** How long a step takes, ms, and whose steps there were. */
  let took = 1;
  const steps: string[] = [];
  const [selections, inTurn] = [ruleSelections(), oneByOne()];
  const find = async (workspaceId: string, order: RuleOrder, name: string) => {
    const pause = async () => {
      now += took;
      steps.push(name);
      await new Promise((resolve) => setImmediate(resolve));
    };
    return selections.find({ store, workspaceId, now: () => now, pause, inTurn }, { name }, CONDITIONS, order);
  };

  const first = await find(one.id, BY_TARGET, 'a');
  assert.deepEqual([first.total, first.isComplete, first.ids.length], [RULES, true, RULES]);
  assert.ok(steps.length >= Math.ceil(RULES / 1000), `${steps.length} steps`);

  // It took the steps between its first pause, behind which it is looked for, and its last, behind which it is told.
  const kept = async () => {
    const begun = steps.length;
    const found = await find(one.id, { ...BY_TARGET, descending: true }, 'b');
    return { found, until: now - took + Math.min(60_000, 20 * took * (steps.length - begun - 2)) };
  };
  for (took of [1, 10, 5000]) {
    const { found, until } = await kept();
    now = until - 1 - took;
    assert.equal(await find(one.id, { ...BY_TARGET, descending: true }, 'b'), found, `${took} ms a step: as long as it is kept`);
    now = until;
    const again = await find(one.id, { ...BY_TARGET, descending: true }, 'b');
    assert.notEqual(again, found, `${took} ms a step: no longer than that`);
    now += 120_000;
  }

  took = 1;
  steps.length = 0;
  const [c, d, e] = await Promise.all([
    find(one.id, BY_TARGET, 'c'),
    find(one.id, { ...BY_TARGET, descending: true }, 'd'),
    find(other.id, BY_TARGET, 'e'),
  ]);
  assert.deepEqual([c.total, d.total, e.total], [RULES, RULES, RULES]);
  const last = (name: string) => steps.lastIndexOf(name);
  const lastOfC = steps.slice(0, last('c')).lastIndexOf('c');
  assert.ok(steps.indexOf('d') > lastOfC, `the second of a workspace begins when the first has ended: ${steps}`);
  assert.ok(steps.indexOf('e') < lastOfC, `another workspace does not wait for it: ${steps}`);
});
