/** Trials of lists against a plain model: every address by itself, in a universe of a thousand of each family. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatNetwork } from '@weir/network/format.ts';
import type { Network } from '@weir/network/network.ts';
import { blockGuards, NO_GUARD_RAILS } from '../../../src/account/guard-rails.ts';
import type { SubtractAllow } from '../../../src/account/list.ts';
import { NO_WORKSPACE_SETTINGS } from '../../../src/account/workspace.ts';
import { type TrialFeed, tryRules } from '../../../src/feed/whatif/trial/trial.ts';
import { TriedRules } from '../../../src/feed/whatif/trial/tried-rules.ts';
import type { AccessAction } from '../../../src/rule.ts';
import { GEO, ManualClock, MemoryStore, WORKSPACE } from '../../support/feed-world.ts';
import { type Random, seededRandom } from '../../support/random.ts';

const BITS = 10;
const BASE_V4 = 0xc6120000;
const BASE_V6 = [0x20010db8, 0, 0] as const;

interface Entry {
  readonly family: 4 | 6;
  readonly at: number;
  /** Of the BITS bits. */
  readonly prefix: number;
}

const randomEntry = (random: Random): Entry => {
  const prefix = random.pick([BITS, BITS, BITS, BITS, BITS - 1, BITS - 2, BITS - 4, BITS - 6]);
  const at = random.below(2 ** BITS);
  return { family: random.pick([4, 4, 6]), at: at - (at % 2 ** (BITS - prefix)), prefix };
};
const networkOf = ({ family, at, prefix }: Entry): Network =>
  family === 4
    ? { family, address: (BASE_V4 + at) >>> 0, prefix: 32 - BITS + prefix }
    : { family, address: [...BASE_V6, at], prefix: 128 - BITS + prefix };
const addressesOf = ({ family, at, prefix }: Entry): string[] =>
  Array.from({ length: 2 ** (BITS - prefix) }, (_, i) => `${family} ${at + i}`);
const textOf = (entry: Entry) => formatNetwork(networkOf(entry));

type Addresses = Set<string>;
const addresses = (entries: readonly Entry[]): Addresses => new Set(entries.flatMap(addressesOf));
const isIn = (set: Addresses) => (entry: Entry) => addressesOf(entry).some((each) => set.has(each));

/** The fewest networks that hold exactly these addresses. */
function fewest(set: Addresses): number {
  const count = (family: 4 | 6, at: number, size: number): { all: boolean; count: number } => {
    if (size === 1) return set.has(`${family} ${at}`) ? { all: true, count: 1 } : { all: false, count: 0 };
    const [low, high] = [count(family, at, size / 2), count(family, at + size / 2, size / 2)];
    return low.all && high.all ? { all: true, count: 1 } : { all: false, count: low.count + high.count };
  };
  return count(4, 0, 2 ** BITS).count + count(6, 0, 2 ** BITS).count;
}

interface ModelList {
  readonly id: string;
  readonly name: string;
  readonly subtractAllow: SubtractAllow;
  block: Entry[];
  allow: Entry[];
}

interface ModelFeed {
  readonly name: string;
  readonly lists: readonly string[] | null;
  readonly subtractAllow: SubtractAllow;
}

for (const seed of [1, 2, 3, 4, 5, 6, 7, 8])
  test(`D23.41 overlaps, never-block rules and what feeds would have are those of a plain set model (seed ${seed})`, async () => {
    const random = seededRandom(seed);
    const clock = new ManualClock();
    const store = new MemoryStore(clock);
    const unique = (count: number) => [
      ...new Map(Array.from({ length: count }, () => randomEntry(random)).map((each) => [textOf(each), each])).values(),
    ];
    const pickSubtract = () => random.pick(['off', 'on', 'workspace'] as const);
    const lists = ['one', 'two', 'three'].map((name): ModelList => {
      const subtractAllow = pickSubtract();
      const list = {
        name,
        subtractAllow,
        id: store.addList(name, { subtractAllow }),
        block: unique(random.below(40)),
        allow: unique(random.below(6)),
      };
      for (const action of ['block', 'allow'] as const) for (const each of list[action]) store.add(list.id, textOf(each), { action });
      return list;
    });
    const feeds = [
      { name: 'all', lists: null, subtractAllow: pickSubtract() },
      { name: 'some', lists: [lists[0]!.id, lists[1]!.id], subtractAllow: pickSubtract() },
    ];
    for (const { name, lists: members, subtractAllow } of feeds) store.addFeed(name, members, { subtractAllow });
    const guarded = unique(2);
    const guard = blockGuards({ ...NO_GUARD_RAILS, self: [] })({ ...NO_GUARD_RAILS, protect: guarded.map(textOf) });

    const action: AccessAction = random.pick(['block', 'block', 'allow']);
    const replaced = random.below(2) === 0 ? random.pick(lists) : undefined;
    const tried = unique(60);
    const rules = new TriedRules(action, GEO);
    for (const each of tried) assert.equal(rules.take({ kind: 'ip', network: networkOf(each) }), true);
    assert.equal(rules.take({ kind: 'ip', network: networkOf(tried[0]!) }), false);

    const workspace = { ...NO_WORKSPACE_SETTINGS, id: WORKSPACE, organizationId: WORKSPACE, name: 'acme', createdAt: 0 };
    const steps: string[] = [];
    const pending = tryRules(
      { workspace, rules, listId: replaced?.id ?? null, name: replaced?.name ?? 'new' },
      { store, geo: GEO, guard, clock, onStep: (text) => steps.push(text), limit: 1000 },
    );
    const running = { is: true };
    pending.finally(() => (running.is = false)).catch(() => {});
    while (running.is) await clock.advance(0);
    const found = await pending;
    assert.equal(found.leftOut, 0);

    const set = addresses(tried);
    const common = (name: string, kind: string, other: Addresses) => {
      const both = [...set].filter((each) => other.has(each));
      const row = { kind, name, entries: tried.filter(isIn(new Set(both))).length, v4: both.filter((each) => each.startsWith('4')).length };
      return both.length === 0 ? [] : [{ ...row, v6: both.length - row.v4 }];
    };
    const members = (of: readonly string[] | null) => lists.filter(({ id }) => of === null || of.includes(id));
    const content = (of: readonly ModelList[], which: AccessAction, subtractAllow: SubtractAllow): Addresses => {
      const all = addresses(of.flatMap((list) => list[which]));
      if (which === 'allow') return all;
      const cut = addresses([
        ...guarded,
        ...(subtractAllow === 'off' ? [] : (subtractAllow === 'on' ? of : lists).flatMap(({ allow }) => allow)),
      ]);
      return new Set([...all].filter((each) => !cut.has(each)));
    };
    const asFeeds: { name: string; kind: string; of: () => readonly ModelList[]; subtractAllow: SubtractAllow; hasRules: boolean }[] = [
      { name: 'acme', kind: 'workspace', of: () => lists, subtractAllow: 'off', hasRules: true },
      ...feeds.map(({ name, lists: of, subtractAllow }: ModelFeed) => ({
        ...{ name, kind: 'composed', of: () => members(of), subtractAllow },
        hasRules: of === null || (replaced !== undefined && of.includes(replaced.id)),
      })),
      ...lists.map((list) => ({
        ...{ name: list.name, kind: 'list', of: () => [list], subtractAllow: list.subtractAllow },
        hasRules: list === replaced,
      })),
    ];
    const byName = <T extends { readonly name: string; readonly kind: string }>(rows: readonly T[]) =>
      rows.toSorted((a, b) => (JSON.stringify([a.kind, a.name, a]) < JSON.stringify([b.kind, b.name, b]) ? -1 : 1));
    assert.deepEqual(
      byName(found.overlaps),
      byName([
        ...lists.filter((list) => list !== replaced).flatMap(({ name, block }) => common(name, 'list', addresses(block))),
        ...asFeeds
          .filter(({ kind }) => kind !== 'list')
          .flatMap(({ name, kind, of, subtractAllow }) => common(name, kind, content(of(), 'block', subtractAllow))),
      ]),
    );
    const never = lists.filter((list) => list !== replaced || action === 'block').flatMap(({ allow }) => allow.filter(isIn(set)));
    assert.equal(found.neverBlock.count, never.length);
    assert.ok(found.neverBlock.first.every(({ value }) => never.some((each) => textOf(each) === value)));

    const known = new Set(replaced?.[action].map(textOf));
    const stay = tried.filter((each) => known.has(textOf(each))).length;
    assert.deepEqual(found.change, { present: known.size, added: tried.length - stay, removed: known.size - stay });

    // The feeds as they are, and as they are with the list: in the model it is written into it.
    const measured = () =>
      asFeeds.flatMap(({ name, kind, of, subtractAllow, hasRules }) =>
        (['block', 'allow'] as const).map((which) => ({
          name,
          kind,
          action: which,
          hasRules,
          count: fewest(content(of(), which, subtractAllow)),
        })),
      );
    const before = measured();
    const own: ModelList = replaced ?? { id: 'new', name: 'new', subtractAllow: 'off', block: [], allow: [] };
    if (replaced === undefined) {
      lists.push(own);
      asFeeds.push({ name: 'new', kind: 'list', of: () => [own], subtractAllow: 'off', hasRules: true });
    }
    own[action] = tried;
    const after = measured();
    const told = (rows: readonly TrialFeed[]) => new Map(rows.map((row) => [`${row.kind} ${row.name} ${row.action}`, row]));
    const byFeed = told(found.feeds);
    for (const row of after) {
      const was = before.find((each) => each.kind === row.kind && each.name === row.name && each.action === row.action)?.count ?? 0;
      const shown = byFeed.get(`${row.kind} ${row.name} ${row.action}`);
      if (shown === undefined) assert.equal(row.count, was, `${row.kind} ${row.name} ${row.action} changes and is not told`);
      else assert.deepEqual([shown.before, shown.after, shown.limit], [was, row.count, 131_072], `${row.kind} ${row.name} ${row.action}`);
    }
    assert.ok(steps.includes('feed acme'));
  });

test('D23.41 countries and ASNs are compared with what is behind them; what there is no time for is counted', async () => {
  const clock = new ManualClock();
  const store = new MemoryStore(clock);
  const list = store.addList('one');
  store.add(list, '198.51.100.7');
  store.add(list, 'AS64500', { action: 'allow' });
  const workspace = { ...NO_WORKSPACE_SETTINGS, id: WORKSPACE, organizationId: WORKSPACE, name: 'acme', createdAt: 0 };
  const guard = blockGuards({ ...NO_GUARD_RAILS, self: [] })(NO_GUARD_RAILS);
  const rules = new TriedRules('block', GEO);
  rules.take({ kind: 'country', country: 'NL' });
  const run = async (limit: number) => {
    const pending = tryRules({ workspace, rules, listId: null, name: 'new' }, { store, geo: GEO, guard, clock, onStep: () => {}, limit });
    const running = { is: true };
    pending.finally(() => (running.is = false)).catch(() => {});
    while (running.is) await clock.advance(1);
    return pending;
  };
  const found = await run(1000);
  assert.deepEqual(
    found.overlaps.map(({ name, entries, v4, v6 }) => [name, entries, v4, v6]),
    [
      ['acme', 1, 1, 0],
      ['one', 1, 1, 0],
    ],
  );
  assert.deepEqual(found.neverBlock, { count: 1, first: [{ list: 'one', value: 'AS64500' }] });
  assert.deepEqual(rules.counts, { v4: 0, v6: 0, countries: 1, asns: 0 });
  assert.equal((await run(0)).leftOut, 2);
});
