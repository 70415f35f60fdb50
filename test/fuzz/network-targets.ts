/** What holds for networks, whatever the text: reading one agrees with a slow reader, sets of them with sets in BigInt. */
import assert from 'node:assert/strict';
import { type AddressSet, addressSet, difference, intersection, union, united } from '../../packages/network/address-set.ts';
import { coalesceV4, coalesceV6, countV4, countV6 } from '../../packages/network/coalesce.ts';
import { formatNetwork } from '../../packages/network/format.ts';
import type { Network } from '../../packages/network/network.ts';
import { parseNetwork } from '../../packages/network/parse.ts';
import { rangeNetworks } from '../../packages/network/range.ts';
import { recoalesceV4 } from '../../packages/network/recoalesce.ts';
import { renderCidrs } from '../../packages/network/render.ts';
import { quorumV4, quorumV6 } from '../../packages/network/sets/agree.ts';
import { BITS, type Family, type SlowRange, slowCoalesce, slowParse } from '../support/slow-networks.ts';

/** One text: the network that the slow reader finds, or none; written, it is read again as the same. */
export function oneNetwork(text: string): void {
  const network = parseNetwork(text);
  const ours = typeof network === 'string' ? null : formatNetwork(network);
  assert.equal(ours, slowParse(text));
  if (ours === null) assert.notEqual(network, '');
  else assert.equal(formatNetwork(parseNetwork(ours) as Network), ours);
  const [first, last = ''] = text.split('-');
  const range = rangeNetworks(first, last);
  if (typeof range === 'string') return;
  const slow = slowSet(range);
  assert.equal(range.length, slow.length === 0 ? 0 : linesOf(slow).length, 'a range is told with as few networks as can be');
}

/**
 * Many: lines of up to four sets, split by `|`, in each the networks apart by blanks. Union, difference, intersection and agreement are those of
 * the plain sets, counted and rendered as they are.
 */
export function setsOfNetworks(text: string): void {
  const lists = text
    .split('|')
    .slice(0, 4)
    .map((part) =>
      part
        .split(/[ \n]+/)
        .slice(0, 40)
        .map(parseNetwork)
        .filter((network) => typeof network !== 'string'),
    );
  const sets = () => lists.map((list) => addressSet(list));
  const slow = lists.map(slowSet);
  same(union(sets()), merged(slow.flat()), 'union');
  const [a = addressSet([]), b = addressSet([])] = sets();
  const [slowA = [], slowB = []] = slow;
  merge(a);
  merge(b);
  same(united(a, b), merged([...slowA, ...slowB]), 'two united');
  same(difference(a, b), without(slowA, slowB), 'difference');
  same(intersection(a, b), without(slowA, without(slowA, slowB)), 'intersection');
  const before = { ranges: a.v4, networks: coalesceV4(a.v4) };
  const after = a.v4.without(b.v4);
  assert.deepEqual(recoalesceV4(after, before), coalesceV4(after), 'networks of what changed');
  for (let least = 1; least <= lists.length; least++) {
    const quorum = { least, always: lists.map((_, i) => i === 3), copies: lists.map((_, i) => (i === 2 ? [0] : [])) };
    const [v4, v6] = [
      quorumV4(
        sets().map((set) => set.v4),
        quorum,
      ),
      quorumV6(
        sets().map((set) => set.v6),
        quorum,
      ),
    ];
    same({ v4, v6 }, agreed(slow, quorum), `agreed of ${least}`);
  }
}

interface Ranged extends SlowRange {
  readonly family: Family;
}

const merge = ({ v4, v6 }: AddressSet) => {
  v4.merge();
  v6.merge();
};

const slowSet = (list: readonly Network[]): Ranged[] => merged(list.map(rangeOf));

function rangeOf({ family, address, prefix }: Network): Ranged {
  const words: readonly number[] = typeof address === 'number' ? [address] : address;
  const start = words.reduce<bigint>((sum, word) => (sum << 32n) | BigInt(word >>> 0), 0n);
  return { family, start, end: start + 2n ** (BITS[family] - BigInt(prefix)) - 1n };
}

function merged(ranges: readonly Ranged[]): Ranged[] {
  const kept: Ranged[] = [];
  for (const range of [...ranges].sort((a, b) => a.family - b.family || (a.start < b.start ? -1 : a.start > b.start ? 1 : 0))) {
    const last = kept.at(-1);
    if (last !== undefined && last.family === range.family && range.start <= last.end + 1n) {
      kept[kept.length - 1] = { ...last, end: last.end > range.end ? last.end : range.end };
    } else kept.push(range);
  }
  return kept;
}

function without(ranges: readonly Ranged[], taken: readonly Ranged[]): Ranged[] {
  let left = [...ranges];
  for (const { family, start, end } of taken) {
    left = left.flatMap((range) => {
      if (range.family !== family || range.end < start || range.start > end) return [range];
      const before = { ...range, end: start - 1n };
      const behind = { ...range, start: end + 1n };
      return [before, behind].filter((rest) => rest.start <= rest.end);
    });
  }
  return merged(left);
}

/** By trying each stretch between two ends. */
function agreed(
  sets: readonly (readonly Ranged[])[],
  quorum: { least: number; always: readonly boolean[]; copies: readonly (readonly number[])[] },
) {
  const stretches = ([4, 6] as const).flatMap((family) => {
    const all = sets.flat().filter((range) => range.family === family);
    const ends = [...new Set(all.flatMap(({ start, end }) => [start, end + 1n]))].sort((a, b) => (a < b ? -1 : 1));
    return ends.slice(1).map((end, i): Ranged => ({ family, start: ends[i], end: end - 1n }));
  });
  const has = (set: readonly Ranged[], at: Ranged) => set.some((r) => r.family === at.family && r.start <= at.start && at.end <= r.end);
  return merged(
    stretches.filter((at) => {
      const having = sets.flatMap((set, i) => (has(set, at) ? [i] : []));
      const witnesses = having.filter((i) => !quorum.copies[i].some((of) => having.includes(of)));
      return having.some((i) => quorum.always[i]) || witnesses.length >= quorum.least;
    }),
  );
}

const linesOf = (ranges: readonly Ranged[]) =>
  ([4, 6] as const).flatMap((family) =>
    slowCoalesce(
      family,
      ranges.filter((range) => range.family === family),
    ),
  );

function same(set: AddressSet, slow: readonly Ranged[], what: string): void {
  merge(set);
  const bytes = renderCidrs(coalesceV4(set.v4), coalesceV6(set.v6), { separator: '\n' });
  const ours = bytes.length === 0 ? [] : Buffer.from(bytes).toString().split('\n');
  assert.equal(countV4(set.v4) + countV6(set.v6), ours.length, `${what}: counted`);
  assert.deepEqual([...ours].sort(), [...linesOf(slow)].sort(), what);
}
