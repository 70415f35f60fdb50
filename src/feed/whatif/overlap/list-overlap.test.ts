import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../../test/support/random.ts';
import { ListEntries } from './list-overlap.ts';

const LISTS = 5;
const SPACE = 256;
const random = seededRandom(302);

type Range = readonly [start: number, end: number];

/** A network, or a range of a country: anywhere, small as a rule. */
const someRange = (): Range => {
  const size = 2 ** random.pick([0, 0, 0, 1, 2, 3, 6]);
  const start = random.below(SPACE / size) * size;
  return [start, start + size - 1];
};
const wordsV6 = ([start, end]: Range) => [0x20010db8, 0, 0, start, 0x20010db8, 0, 0, end];

/** A random world: entries of one network each, and such of several. */
function someEntries() {
  const entries = new ListEntries(LISTS);
  const model = Array.from({ length: LISTS + 1 }, (): { readonly v4: Range[]; readonly v6: Range[] }[] => []);
  for (const [list, had] of model.entries()) {
    entries.begin(list);
    for (let i = random.below(20); i > 0; i -= 1) {
      const range = someRange();
      if (random.below(3) > 0) {
        entries.v4(...range);
        had.push({ v4: [range], v6: [] });
      } else {
        entries.v6(Uint32Array.from(wordsV6(range)));
        had.push({ v4: [], v6: [range] });
      }
    }
    for (let i = random.below(3); i > 0; i -= 1) {
      const geoEntry = {
        v4: Array.from({ length: random.below(4) }, someRange),
        v6: Array.from({ length: random.below(3) }, someRange),
      };
      had.push(geoEntry);
      entries.geoEntry(list, { v4: Uint32Array.from(geoEntry.v4.flat()), v6: Uint32Array.from(geoEntry.v6.flatMap(wordsV6)) });
    }
  }
  return { entries, model };
}

test('D30.2 what lists have in common, and what only one has, is what sets of their addresses have; countries count as one entry', () => {
  for (let round = 0; round < 15; round += 1) {
    const { entries, model } = someEntries();
    const addresses = (of: (typeof model)[number][number]) =>
      (['v4', 'v6'] as const).flatMap((family) =>
        of[family].flatMap(([start, end]) => Array.from({ length: end - start + 1 }, (_, i) => `${family} ${start + i}`)),
      );
    const sets = model.map((had) => new Set(had.flatMap(addresses)));
    const shareIn = (list: number, has: (address: string) => boolean) => {
      const common = [...sets[list]!].filter(has);
      const v4 = common.filter((each) => each.startsWith('v4')).length;
      return { entries: model[list]!.filter((each) => addresses(each).some(has)).length, v4, v6: common.length - v4 };
    };
    const standings = entries.standings();
    for (let list = 0; list < LISTS; list += 1) {
      const { unique, overlaps, ...all } = standings[list]!;
      const whole = shareIn(list, () => true);
      assert.deepEqual(all, { ...whole, entries: model[list]!.length });
      const common = shareIn(list, (address) => sets.some((set, other) => other !== list && other < LISTS && set.has(address)));
      assert.deepEqual(unique, { entries: all.entries - common.entries, v4: all.v4 - common.v4, v6: all.v6 - common.v6 });
      for (let other = 0; other <= LISTS; other += 1) {
        if (other === list) continue;
        const share = shareIn(list, (address) => sets[other]!.has(address));
        assert.deepEqual(overlaps.get(other) ?? { entries: 0, v4: 0, v6: 0 }, share, `round ${round}, ${list} in ${other}`);
      }
      const aside = shareIn(LISTS, (address) => sets[list]!.has(address));
      assert.deepEqual(standings[LISTS]!.overlaps.get(list) ?? { entries: 0, v4: 0, v6: 0 }, aside, 'of the one more');
    }
  }
});

test('D30.2 the whole space, and the last address, are counted as any other', () => {
  const entries = new ListEntries(2);
  const ones = 0xffff_ffff;
  entries.begin(0);
  entries.v4(0, ones);
  entries.v4(ones, ones);
  entries.v6(new Uint32Array([0, 0, 0, 0, ones, ones, ones, ones]));
  entries.begin(1);
  entries.v4(ones, ones);
  entries.v6(new Uint32Array([ones, ones, ones, ones, ones, ones, ones, ones]));
  const [one, other] = entries.standings();
  assert.deepEqual([one!.v4, one!.unique.v4, one!.overlaps.get(1)], [2 ** 32, 2 ** 32 - 1, { entries: 3, v4: 1, v6: 1 }]);
  assert.deepEqual([other!.unique, one!.v6], [{ entries: 0, v4: 0, v6: 0 }, 2 ** 128]);
});
