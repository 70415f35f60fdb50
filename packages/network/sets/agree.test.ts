import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Random, seededRandom } from '../../../test/support/random.ts';
import { BITS, type Family, type SlowRange } from '../../../test/support/slow-networks.ts';
import { V4Ranges, V6Ranges } from '../ranges.ts';
import { randomRanges } from '../test/random-ranges.ts';
import { agreedAgain, type Quorum, quorumV4, quorumV6 } from './agree.ts';

/** Worlds that are tried, and the seed of the first: a long run gives others. */
const WORLDS = Number(process.env.TEST_AGREE_WORLDS ?? 60);
const SEED = Number(process.env.TEST_AGREE_SEED ?? 29);

const wordsOf = (value: bigint) => [96n, 64n, 32n, 0n].map((shift) => Number((value >> shift) & 0xffff_ffffn));
const numberOf = (words: ArrayLike<number>, at: number) => [0, 1, 2, 3].reduce((sum, i) => (sum << 32n) | BigInt(words[at + i]), 0n);

/** How the ranges of a family are made and read. */
const OF_FAMILY = {
  4: {
    of(ranges: readonly SlowRange[]) {
      const made = new V4Ranges();
      for (const { start, end } of ranges) made.push(Number(start), Number(end));
      return made;
    },
    read: (ranges: V4Ranges): SlowRange[] =>
      Array.from({ length: ranges.length }, (_, i) => ({ start: BigInt(ranges.pairs[2 * i]), end: BigInt(ranges.pairs[2 * i + 1]) })),
    agreed: quorumV4,
    create: () => new V4Ranges(),
  },
  6: {
    of(ranges: readonly SlowRange[]) {
      const made = new V6Ranges();
      for (const { start, end } of ranges) made.push([...wordsOf(start), ...wordsOf(end)], 0);
      return made;
    },
    read: (ranges: V6Ranges): SlowRange[] =>
      Array.from({ length: ranges.length }, (_, i) => ({ start: numberOf(ranges.words, 8 * i), end: numberOf(ranges.words, 8 * i + 4) })),
    agreed: quorumV6,
    create: () => new V6Ranges(),
  },
};

/** The plain rule: the lists that have an address, less those that copy another of them. */
function isAgreed(having: readonly number[], { least, below, always, copies }: Quorum): boolean {
  const witnesses = having.filter((set) => !having.some((other) => copies[set]!.includes(other))).length;
  const isAlways = having.some((set) => always[set]);
  return below === undefined ? isAlways || witnesses >= least : !isAlways && witnesses >= least && witnesses < below;
}

/** Copies only go back, and a copy of a copy is one. */
function randomQuorum(random: Random, sets: number): Quorum {
  const copies: number[][] = [];
  for (let set = 0; set < sets; set += 1) {
    const direct = Array.from({ length: set }, (_, i) => i).filter(() => random.below(5) === 0);
    copies.push([...new Set(direct.flatMap((each) => [each, ...copies[each]!]))]);
  }
  const least = 1 + random.below(4);
  const below = random.below(4) === 0 ? least + 1 + random.below(3) : undefined;
  return { least, below, always: copies.map(() => random.below(6) === 0), copies };
}

function compare<F extends Family>(random: Random, family: F): number {
  const { of, read, agreed, create } = OF_FAMILY[family] as unknown as (typeof OF_FAMILY)[4];
  const count = 1 + random.below(6);
  const ranges = randomRanges(random, family);
  // Some that begin where another ends.
  const next = ranges.flatMap(({ end }) => (end < 2n ** BITS[family] - 1n ? [{ start: end + 1n, end: end + 1n }] : []));
  const pool = [...ranges, ...next];
  const some = () => pool.filter(() => random.below(count) < 2);
  const quorum = randomQuorum(random, count);
  let slow = Array.from({ length: count }, some);
  let before: { slow: SlowRange[][]; sets: V4Ranges[]; ranges: V4Ranges } | undefined;
  let compared = 0;
  const most = 2n ** BITS[family] - 1n;
  for (let step = 0; step < 4; step += 1) {
    const sets = slow.map((each, i) => (each === before?.slow[i] ? before.sets[i]! : of(each)));
    const agree: V4Ranges = agreedAgain(sets, before, (all) => agreed(all, quorum), create);
    const found = read(agree);
    for (const [i, { start, end }] of found.entries()) assert.ok(start <= end && (i === 0 || found[i - 1]!.end + 1n < start));
    const ends = slow.flat().flatMap(({ start, end }) => [start - 1n, start, end, end + 1n]);
    for (const at of new Set(ends.filter((each) => each >= 0n && each <= most))) {
      const having = slow.flatMap((each, set) => (each.some(({ start, end }) => start <= at && at <= end) ? [set] : []));
      const isIn = found.some(({ start, end }) => start <= at && at <= end);
      assert.equal(isIn, isAgreed(having, quorum), `${at} of ${JSON.stringify(having)} with ${JSON.stringify(quorum)}, step ${step}`);
      compared += 1;
    }
    before = { slow, sets, ranges: agree };
    const changed = random.below(count);
    slow = slow.map((each, i) => (i === changed ? [...each.filter(() => random.below(20) > 0), random.pick(pool)] : each));
  }
  return compared;
}

test('D29.1 sets agree on exactly the addresses that enough independent ones have, and where little has changed too', (t) => {
  let compared = 0;
  for (let world = 0; world < WORLDS; world += 1) {
    const random = seededRandom(SEED + world);
    for (const family of [4, 6] as const) compared += compare(random, family);
  }
  t.diagnostic(`${compared} comparisons`);
  assert.ok(compared > WORLDS * 20);
});

test('D29.1 where one list begins right behind the end of another there is no address between', () => {
  const lists = [
    [0n, 5n],
    [0n, 9n],
    [6n, 9n],
  ].map(([start, end]) => [{ start: start!, end: end! }]);
  const quorum = { least: 1, below: 2, always: [false, false, false], copies: [[], [], []] };
  for (const family of [4, 6] as const) {
    const { of, read, agreed } = OF_FAMILY[family] as unknown as (typeof OF_FAMILY)[4];
    assert.deepEqual(read(agreed(lists.map(of), quorum)), []);
  }
});
