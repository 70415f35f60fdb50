import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../test/support/random.ts';
import { V4Ranges, V6Ranges } from './ranges.ts';

/** The last addresses of both families: what comes after them does not exist. */
const SPACE = 96;
const FIRST = 2 ** 32 - SPACE;
const random = seededRandom(37);

type Pair = readonly [first: number, last: number];

/** In any order, such as overlap and touch. */
function somePairs(): Pair[] {
  return Array.from({ length: random.below(12) }, () => {
    const first = random.below(SPACE);
    return [first, Math.min(SPACE - 1, first + random.pick([0, 0, 1, 2, 9]))];
  });
}

/** The ranges of the places that are set. */
function merged(isSet: (place: number) => boolean): Pair[] {
  const pairs: [number, number][] = [];
  for (let place = 0; place < SPACE; place++) {
    if (!isSet(place)) continue;
    const last = pairs.at(-1);
    if (last !== undefined && last[1] === place - 1) last[1] = place;
    else pairs.push([place, place]);
  }
  return pairs;
}

const has = (pairs: readonly Pair[]) => (place: number) => pairs.some(([first, last]) => first <= place && place <= last);
const inOrder = (pairs: readonly Pair[]) => pairs.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]);

/** The places of both families as their ranges: those of IPv6 lie across two words. */
const FAMILIES = {
  v4: {
    of(pairs: readonly Pair[]) {
      const ranges = new V4Ranges();
      for (const [first, last] of pairs) ranges.push(FIRST + first, FIRST + last);
      return ranges;
    },
    read: ({ pairs, length }: V4Ranges): Pair[] => Array.from({ length }, (_, i) => [pairs[2 * i]! - FIRST, pairs[2 * i + 1]! - FIRST]),
    overlaps: (ranges: V4Ranges, [first, last]: Pair) => ranges.overlaps(FIRST + first, FIRST + last),
  },
  v6: {
    of(pairs: readonly Pair[]) {
      const ranges = new V6Ranges();
      for (const [first, last] of pairs) ranges.push([...wordsOf(first), ...wordsOf(last)], 0);
      return ranges;
    },
    read: ({ words, length }: V6Ranges): Pair[] => Array.from({ length }, (_, i) => [placeOf(words, 8 * i), placeOf(words, 8 * i + 4)]),
    overlaps: (ranges: V6Ranges, [first, last]: Pair) => ranges.overlaps(Uint32Array.of(...wordsOf(first), ...wordsOf(last)), 0),
  },
};
const HALF = SPACE / 2;
const wordsOf = (place: number) => (place < HALF ? [7, 8, 9, 2 ** 32 - HALF + place] : [7, 8, 10, place - HALF]);
const placeOf = (words: Uint32Array, at: number) => (words[at + 2] === 9 ? words[at + 3]! - 2 ** 32 + HALF : words[at + 3]! + HALF);

for (const [name, family] of Object.entries(FAMILIES)) {
  const { of, read, overlaps } = family as unknown as (typeof FAMILIES)['v4'];

  test(`4.3.4 ranges that were pushed in any order are united, taken out of each other and compared as plain sets are: ${name}`, () => {
    for (let round = 0; round < 400; round++) {
      const [one, other, some] = [somePairs(), somePairs(), somePairs()];
      const all = merged(has(one));
      assert.deepEqual(read(of(one).united(of(other))), merged(has([...one, ...other])));
      assert.deepEqual(
        read(of(one).without(of(other))),
        merged((place) => has(one)(place) && !has(other)(place)),
      );
      const touching = (pairs: readonly Pair[], others: readonly Pair[]) =>
        pairs.filter((pair) => others.some((each) => each[0] <= pair[1] && pair[0] <= each[1]));
      const found = of(some);
      found.pushOverlapping(of(one), of(other));
      // A range that touches several is pushed once.
      assert.deepEqual(inOrder(read(found)), inOrder([...some, ...touching(all, merged(has(other)))]));
      for (const pair of other) assert.equal(overlaps(of(one), pair), touching(all, [pair]).length > 0);
      const [now, before] = [all, merged(has(other))].map((pairs) => new Set(pairs.map(String)));
      const differing = [
        ...all.filter((pair) => !before!.has(String(pair))),
        ...merged(has(other)).filter((pair) => !now!.has(String(pair))),
      ];
      assert.deepEqual(read(of(one).changedFrom(of(other))), merged(has(differing)));
    }
  });
}
