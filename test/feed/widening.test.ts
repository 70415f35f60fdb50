/** Blocked hosts that are served as networks (SPEC D55), beside a model made of big integers. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatNetwork } from '@weir/network/format.ts';
import type { Network } from '@weir/network/network.ts';
import type { ListSettings } from '../../src/account/list.ts';
import { BouncerReplica } from '../support/bouncer-world.ts';
import { ManualClock, MemoryStore, Replica } from '../support/feed-world.ts';
import { seededRandom } from '../support/random.ts';

type Range = readonly [first: bigint, last: bigint];
interface Block {
  readonly bits: 32 | 128;
  readonly first: bigint;
  readonly prefix: number;
}

const textOf = ({ bits, first, prefix }: Block): string => {
  const words = Array.from({ length: 4 }, (_, i) => Number((first >> BigInt(96 - 32 * i)) & 0xffff_ffffn));
  const network = bits === 32 ? { family: 4, address: Number(first), prefix } : { family: 6, address: words, prefix };
  const text = formatNetwork(network as unknown as Network);
  return text.includes('/') ? text : `${text}/${prefix}`;
};
const around = ({ bits, first }: Block, prefix: number): Block => {
  const size = BigInt(bits - prefix);
  return { bits, first: (first >> size) << size, prefix };
};
const rangeOf = ({ bits, first, prefix }: Block): Range => [first, first + (1n << BigInt(bits - prefix)) - 1n];
const overlap = (one: Range, other: Range) => one[0] <= other[1] && other[0] <= one[1];

function without(ranges: readonly Range[], [from, to]: Range): Range[] {
  return ranges.flatMap((range): Range[] => {
    if (!overlap(range, [from, to])) return [range];
    const left: Range[] = range[0] < from ? [[range[0], from - 1n]] : [];
    return range[1] > to ? [...left, [to + 1n, range[1]]] : left;
  });
}

/** The fewest networks of one family, in order, as text. */
function networksOf(bits: 32 | 128, ranges: readonly Range[]): string[] {
  const merged: [bigint, bigint][] = [];
  for (const [first, last] of ranges.toSorted((a, b) => (a[0] < b[0] ? -1 : 1))) {
    const before = merged.at(-1);
    if (before !== undefined && first <= before[1] + 1n) before[1] = last > before[1] ? last : before[1];
    else merged.push([first, last]);
  }
  return merged.flatMap(([from, to]) => {
    const texts: string[] = [];
    for (let first = from; first <= to; ) {
      let size = 0;
      while (size < bits && first % (1n << BigInt(size + 1)) === 0n && first + (1n << BigInt(size + 1)) - 1n <= to) size++;
      texts.push(textOf({ bits, first, prefix: bits - size }));
      first += 1n << BigInt(size);
    }
    return texts;
  });
}

const V6 = 0x20010db8n << 96n;
const body = (networks: readonly string[]) => networks.map((network) => `${network}\n`).join('');

describe('D55 blocked addresses served as networks', () => {
  test('D55.1 D55.2 D55.5 random lists with never-block rules, protected networks and shortest prefixes are served as a model serves them', async () => {
    for (let seed = 1; seed <= 12; seed++) {
      const random = seededRandom(seed);
      const pick = <T>(of: readonly T[]): T => of[random.below(of.length)]!;
      const block = (): Block => {
        if (random.below(2) === 0) {
          const first = 0xc6336400n + BigInt(random.below(2048));
          return around({ bits: 32, first, prefix: 32 }, pick([32, 32, 32, 28, 24]));
        }
        const first = V6 + (BigInt(random.below(4)) << 80n) + (BigInt(random.below(3)) << 64n) + BigInt(random.below(9));
        return around({ bits: 128, first, prefix: 128 }, pick([128, 128, 128, 96, 64]));
      };
      const clock = new ManualClock();
      const store = new MemoryStore(clock);
      const guards = [block(), around(block(), 30)].map((guard) => ({ ...guard, prefix: Math.max(guard.prefix, guard.bits - 8) }));
      const guarded = guards.map((guard) => around(guard, guard.prefix));
      const least = { minPrefixV4: pick([0, 24, 25]), minPrefixV6: pick([0, 56, 57]) };
      const settings = () => ({ widenV4: pick([null, 24]), widenV6: pick([null, 64, 56, 48]) });
      const lists = [0, 1, 2].map((n) => {
        const own = { ...settings(), subtractAllow: pick(['on', 'workspace', null] as const) };
        return { id: store.addList(`list-${n}`, own), ...own };
      });
      const own = { ...settings(), subtractAllow: pick(['on', 'off'] as const) };
      store.addFeed('device', [lists[0]!.id, lists[1]!.id], own);
      const rules: { readonly list: string; readonly allows: boolean; readonly network: Block; readonly id: number }[] = [];
      const replica = new Replica(clock, store, { guardRails: { protect: guarded.map(textOf), ...least } });

      const expected = (ids: readonly string[], feed: Partial<ListSettings>) => {
        const served = ({ list, network }: (typeof rules)[number]): Range => {
          const { widenV4, widenV6 } = lists.find(({ id }) => id === list)!;
          const wide = network.bits === 32 ? (widenV4 ?? feed.widenV4) : (widenV6 ?? feed.widenV6);
          const isWide = wide != null && wide >= (network.bits === 32 ? least.minPrefixV4 : least.minPrefixV6);
          const range = rangeOf(network.prefix === network.bits && isWide ? around(network, wide) : network);
          const isNear = guarded.some((guard) => guard.bits === network.bits && overlap(rangeOf(guard), range));
          return isNear ? rangeOf(network) : range;
        };
        const cuts = rules.filter(
          ({ list, allows }) => allows && (feed.subtractAllow === 'workspace' || (feed.subtractAllow === 'on' && ids.includes(list))),
        );
        return ([32, 128] as const).flatMap((bits) => {
          const of = rules.filter(({ list, allows, network }) => !allows && ids.includes(list) && network.bits === bits);
          const taken = [...cuts.map(({ network }) => network), ...guarded].filter((each) => each.bits === bits);
          return networksOf(
            bits,
            taken.reduce((left, each) => without(left, rangeOf(each)), of.map(served)),
          );
        });
      };
      for (let step = 0; step < 6; step++) {
        for (let n = 0; n < 12; n++) {
          const [list, network, allows] = [pick(lists).id, block(), random.below(8) === 0];
          rules.push({ list, network, allows, id: store.add(list, textOf(network), { action: allows ? 'allow' : 'block' }) });
        }
        for (let n = 0; n < 4; n++) store.remove(rules.splice(random.below(rules.length), 1)[0]!.id);
        await clock.advance(30_000);
        for (const list of lists) assert.equal((await replica.get(`/${list.id}`)).body, body(expected([list.id], list)), `seed ${seed}`);
        const both = [lists[0]!.id, lists[1]!.id];
        assert.equal((await replica.get('/device')).body, body(expected(both, own)), `seed ${seed}`);
        const all = lists.map(({ id }) => id);
        assert.equal((await replica.get('')).body, body(expected(all, {})), `seed ${seed}`);
      }
      assert.deepEqual(replica.errors, []);
    }
  });

  const world = (settings: Parameters<MemoryStore['addList']>[1], protect: readonly string[] = []) => {
    const clock = new ManualClock();
    const store = new MemoryStore(clock);
    const list = store.addList('edge', settings);
    const guardRails = { protect };
    return { clock, store, list, replica: new Replica(clock, store, { guardRails }) };
  };

  test('D55.1 in csv_indicator each class has its networks; a changed setting is served at the next read', async () => {
    const { clock, store, list, replica } = world({ widenV4: 24 });
    store.add(list, '192.0.2.1', { confidence: 'low' });
    store.add(list, '192.0.2.9');
    const csv = async () => (await replica.get('/edge?format=csv_indicator')).body;
    assert.equal(await csv(), '192.0.2.0-192.0.2.255,IP Range,low,high\n192.0.2.0-192.0.2.255,IP Range,high,high\n');
    store.setList(list, { widenV4: null });
    await clock.advance(30_000);
    assert.equal(await csv(), '192.0.2.1,IP,low,high\n192.0.2.9,IP,high,high\n');
  });

  test('D55.3 feeds of single addresses have hosts as sent, for devices and for bouncers', async () => {
    const { clock, store, list, replica } = world({ widenV4: 24, widenV6: 64, hostStyle: 'bare', singleAddresses: 256 });
    store.add(list, '192.0.2.1');
    store.add(list, '2001:db8::1');
    assert.equal((await replica.get('/edge')).body, '192.0.2.1\n2001:db8::1\n');
    assert.equal((await replica.get('/edge?format=set_elements')).body, 'elements = { 192.0.2.0/24, 2001:db8::/64 }\n');
    const bouncers = new BouncerReplica(clock, store);
    const decisions = async () => (await bouncers.pull('startup=true', undefined, { listId: list })).new.map(({ value }) => value);
    assert.deepEqual(await decisions(), ['192.0.2.1', '2001:db8::1']);
    store.setList(list, { singleAddresses: null });
    await clock.advance(30_000);
    assert.deepEqual(await decisions(), ['192.0.2.0/24', '2001:db8::/64']);
  });
});
