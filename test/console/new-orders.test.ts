/** Rules that are moved in the console: the orders that they get put them where they were moved to, and as few as can be change. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../support/random.ts';

interface Rule {
  readonly rule_ref: string;
  readonly order: number | null;
}
const { newOrders } = (await import(new URL('../../packages/console/pages/rules/new-orders.js', import.meta.url).href)) as {
  newOrders(rules: readonly Rule[]): Map<number, number>;
};
const rules = (...orders: readonly (number | null)[]): Rule[] => orders.map((order, i) => ({ rule_ref: `r${i}`, order }));
const changes = (list: readonly Rule[]) => Object.fromEntries(newOrders(list));
const sorted = (list: readonly Rule[]) =>
  list.toSorted((a, b) => (a.order ?? Infinity) - (b.order ?? Infinity) || (a.rule_ref < b.rule_ref ? -1 : 1) || 0);

test('D18.77 a rule that is moved gets an order between its neighbours; without room all are numbered anew', () => {
  assert.deepEqual(changes(rules(10, 20, 30)), {});
  assert.deepEqual(changes(rules(10, 20, 40, 30, 50)), { 3: 45 });
  assert.deepEqual(changes(rules(30, 10, 20)), { 0: 0 });
  assert.deepEqual(changes(rules(20, 30, 10)), { 2: 40 });
  assert.deepEqual(changes(rules(10, null, 20)), { 1: 15 });
  // Those without an order come last as they are; nothing fits behind them.
  assert.deepEqual(changes(rules(10, null, null)), {});
  assert.deepEqual(changes(rules(null, 10)), { 0: 0 });
  // Between 1 and 2 is no room.
  assert.deepEqual(changes([...rules(1, 7), { rule_ref: 'r2', order: 2 }, { rule_ref: 'r3', order: 3 }]), { 0: 10, 1: 20, 2: 30, 3: 40 });
});

test('D18.77 whatever is moved, the new orders are those of the wanted list', () => {
  const { below } = seededRandom(7);
  for (let round = 0; round < 300; round += 1) {
    const list = sorted(rules(...Array.from({ length: 1 + below(8) }, () => (below(4) === 0 ? null : below(12) - 4))));
    const [from, to] = [below(list.length), below(list.length)];
    const wanted = list.toSpliced(from, 1).toSpliced(to, 0, list[from]!);
    const made = newOrders(wanted);
    const after = wanted.map((rule, i) => ({ ...rule, order: made.get(i) ?? rule.order }));
    assert.deepEqual(
      sorted(after).map(({ rule_ref: ref }) => ref),
      wanted.map(({ rule_ref: ref }) => ref),
    );
  }
});
