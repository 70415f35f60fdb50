import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../test/support/random.ts';
import { type AddressSet, addressCount, addressSet, difference, intersection, isEmpty, pushNetworks, union } from '../address-set.ts';
import { coalesceV4, coalesceV6 } from '../coalesce.ts';
import type { Network } from '../network.ts';
import { commonCount, Entries } from './common.ts';

/** The last addresses of both families: what comes after them does not exist. */
const SPACE = 512;
const random = seededRandom(31);

interface Entry {
  readonly family: 4 | 6;
  /** Place in the space, and how many addresses. */
  readonly from: number;
  readonly size: number;
}

function entry(): Entry {
  const size = 2 ** random.below(7);
  return { family: random.pick([4, 6]), from: Math.floor(random.below(SPACE) / size) * size, size };
}

function networkOf({ family, from, size }: Entry): Network {
  const [word, host] = [2 ** 32 - SPACE + from, Math.log2(size)];
  return family === 4 ? { family, address: word, prefix: 32 - host } : { family, address: [0x2001_0db8, 0, 7, word], prefix: 128 - host };
}

const setOf = (entries: readonly Entry[]) => addressSet(entries.map(networkOf));
const addressesOf = (entries: readonly Entry[], family: 4 | 6) =>
  new Set(entries.filter((each) => each.family === family).flatMap(({ from, size }) => Array.from({ length: size }, (_, i) => from + i)));
const sizes = (of: (family: 4 | 6) => number) => ({ v4: of(4), v6: of(6) });

test('D30.2 what two sets have in common, and how many entries of one have an address in the other, are those of plain sets', () => {
  for (let round = 0; round < 300; round++) {
    const [one, other] = [0, 0].map(() => Array.from({ length: random.below(14) }, entry)) as [Entry[], Entry[]];
    const both = (family: 4 | 6) => addressesOf(one, family).intersection(addressesOf(other, family)).size;
    assert.deepEqual(commonCount(setOf(one), setOf(other)), sizes(both));
    assert.deepEqual(addressCount(intersection(setOf(one), setOf(other))), sizes(both));
    assert.equal(isEmpty(intersection(setOf(one), setOf(other))), both(4) + both(6) === 0);
    const only = (family: 4 | 6) => addressesOf(one, family).difference(addressesOf(other, family)).size;
    assert.deepEqual(addressCount(difference(setOf(one), setOf(other))), sizes(only));
    const entries = new Entries(setOf(one));
    const touching = one.filter((each) => !addressesOf([each], each.family).isDisjointFrom(addressesOf(other, each.family)));
    assert.deepEqual([entries.length, entries.countIn(setOf(other))], [one.length, touching.length]);
    const again: AddressSet = addressSet([]);
    const all = union([setOf(one), setOf(other)]);
    pushNetworks(again, { v4: coalesceV4(all.v4), v6: coalesceV6(all.v6) });
    assert.deepEqual(
      addressCount(again),
      sizes((family) => addressesOf([...one, ...other], family).size),
    );
  }
});
