import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Random, seededRandom } from '../../../test/support/random.ts';
import { V4Ranges } from '../ranges.ts';

/** The last addresses of all. */
const SPACE = 1 << 14;
const FIRST = 2 ** 32 - SPACE;

/** The ranges of the addresses that are set. */
function rangesOf(isSet: Uint8Array): V4Ranges {
  const ranges = new V4Ranges();
  for (let at = isSet.indexOf(1); at >= 0; ) {
    const end = isSet.indexOf(0, at);
    ranges.push(FIRST + at, FIRST + (end < 0 ? SPACE : end) - 1);
    at = end < 0 ? -1 : isSet.indexOf(1, end);
  }
  ranges.merge();
  return ranges;
}

const pairsOf = (ranges: V4Ranges) => [...ranges.pairs.subarray(0, 2 * ranges.length)];

/** Stretches of addresses, short ones and long ones, with gaps of one address and more. */
function stretches(random: Random, longest: number): Uint8Array {
  const isSet = new Uint8Array(SPACE);
  for (let at = random.below(9); at < SPACE; ) {
    const length = random.below(4) === 0 ? 1 + random.below(longest) : 1 + random.below(3);
    isSet.fill(1, at, at + length);
    at += length + 1 + random.below(8);
  }
  return isSet;
}

test('4.3.4 few ranges within, across and beside long ones: what both have, and what the one has without the other', () => {
  const random = seededRandom(2961);
  for (let round = 0; round < 60; round++) {
    const many = stretches(random, 300);
    const few = new Uint8Array(SPACE);
    // Close to each other, so that several lie in one long range, or reach from one into the next.
    const place = random.below(SPACE);
    for (let n = 1 + random.below(6); n > 0; n--) {
      const at = Math.max(0, Math.min(SPACE - 1, place + random.below(600) - 300));
      few.fill(1, at, at + random.pick([1, 1, 2, 40, 400]));
    }
    const [one, other] = [rangesOf(many), rangesOf(few)];
    const both = many.map((isSet, i) => isSet | few[i]!);
    assert.deepEqual(pairsOf(one.united(other)), pairsOf(rangesOf(both)));
    assert.deepEqual(pairsOf(other.united(one)), pairsOf(rangesOf(both)));
    assert.deepEqual(pairsOf(one.without(other)), pairsOf(rangesOf(many.map((isSet, i) => isSet & ~few[i]!))));
    assert.deepEqual(pairsOf(other.without(one)), pairsOf(rangesOf(few.map((isSet, i) => isSet & ~many[i]!))));
  }
});

test('4.3.4 of two few ranges the first lies in a long one, and the other begins where that ends', () => {
  const [many, few] = [new Uint8Array(SPACE), new Uint8Array(SPACE)];
  for (let at = 0; at < SPACE; at += 100) many.fill(1, at, at + 10);
  few.fill(1, 305, 308);
  few.fill(1, 310, 313);
  assert.deepEqual(pairsOf(rangesOf(many).united(rangesOf(few))).slice(6, 8), [FIRST + 300, FIRST + 312]);
});
