import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Random, seededRandom } from '../../test/support/random.ts';
import { coalesceV4 } from './coalesce.ts';
import { V4Ranges } from './ranges.ts';
import { type CoalescedV4, recoalesceV4 } from './recoalesce.ts';

/** The last addresses of all: what comes after them does not exist. */
const SPACE = 4096;
const FIRST = 2 ** 32 - SPACE;

/** The ranges of the addresses that are set. */
function rangesOf(isSet: Uint8Array): V4Ranges {
  const ranges = new V4Ranges();
  for (let i = 0; i < SPACE; i += 1) if (isSet[i]) ranges.pushNetwork(FIRST + i, 32);
  ranges.merge();
  return ranges;
}

const pairsOf = (ranges: V4Ranges) => [...ranges.pairs.subarray(0, 2 * ranges.length)];

/** A few ranges that may touch, also at both ends of the space. */
function few(random: Random): Uint8Array {
  const isSet = new Uint8Array(SPACE);
  for (let n = random.below(5); n > 0; n -= 1) {
    const from = random.pick([0, SPACE - 1, random.below(SPACE), random.below(SPACE), random.below(SPACE)]);
    isSet.fill(1, from, from + random.pick([1, 1, 2, 40, SPACE]));
  }
  return isSet;
}

test('many ranges with few others, or without them, are those of a sweep over both; so are their networks', () => {
  const random = seededRandom(11);
  for (let round = 0; round < 40; round += 1) {
    const many = Uint8Array.from({ length: SPACE }, () => Number(random.below(3) === 0));
    let before: CoalescedV4 = { ranges: rangesOf(many), networks: coalesceV4(rangesOf(many)) };
    for (let step = 0; step < 6; step += 1) {
      const others = few(random);
      const isAdded = random.below(2) === 0;
      for (let i = 0; i < SPACE; i += 1) if (others[i]) many[i] = Number(isAdded);
      const ranges = isAdded ? before.ranges.united(rangesOf(others)) : before.ranges.without(rangesOf(others));
      assert.deepEqual(pairsOf(ranges), pairsOf(rangesOf(many)));
      assert.deepEqual(pairsOf(rangesOf(others).united(ranges)), pairsOf(isAdded ? ranges : ranges.united(rangesOf(others))));
      const networks = recoalesceV4(ranges, before);
      assert.deepEqual(networks, coalesceV4(ranges));
      before = { ranges, networks };
    }
  }
});
