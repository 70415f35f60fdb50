/** The pairwise overlap of lists, and their unique entries (SPEC D30.2). */
import { addressSet } from '@weir/network/address-set.ts';
import { orderV4, orderV6 } from '@weir/network/sets/merge.ts';
import { copyV6 } from '@weir/network/words.ts';
import { WeirError } from '../../../errors.ts';
import type { GeoRanges } from '../../../ports/geo.ts';
import type { Share } from './listed.ts';
import { type Ends, endsV4, endsV6, sweep } from './sweep.ts';

export interface Overlap extends Share {
  readonly unique: Share;
  /** By the other list's number; lists without overlap are missing. */
  readonly overlaps: ReadonlyMap<number, Share>;
}

type Counts = { -readonly [K in keyof Share]: Share[K] };
const nothing = (): Counts => ({ entries: 0, v4: 0, v6: 0 });

/** 200 bytes each. */
const MOST_PAIRS = 500_000;

/** Memory per range during the comparison, bytes: ends twice, sort index, owner. */
const BYTES = { v4: 32, v6: 80 };

/** Consecutive ranges of one list; with `isOne` a single entry, like the networks of a country. */
interface Group {
  readonly list: number;
  readonly isOne: boolean;
  readonly v4: number;
  readonly v6: number;
}

export class ListEntries {
  readonly #ranges = addressSet([]);
  readonly #groups: Group[] = [];
  readonly #lists: number;

  constructor(lists: number) {
    this.#lists = lists;
  }

  /** Each network added next is an entry. */
  begin(list: number): void {
    this.#group(list, false);
  }

  v4(start: number, end: number): void {
    this.#ranges.v4.push(start, end);
  }

  v6(words: Uint32Array): void {
    this.#ranges.v6.push(words, 0);
  }

  direct(list: number, v4: Uint32Array, v6: Uint32Array): void {
    this.begin(list);
    this.#ranges.v4.pushAll(v4);
    this.#ranges.v6.pushAll(v6);
  }

  geoEntry(list: number, { v4, v6 }: GeoRanges): void {
    this.#group(list, true);
    this.#ranges.v4.pushAll(v4);
    this.#ranges.v6.pushAll(v6);
  }

  get bytes(): number {
    const { v4, v6 } = this.#ranges;
    return BYTES.v4 * v4.length + BYTES.v6 * v6.length;
  }

  get last() {
    const { v4, v6 } = this.#ranges;
    const from = this.#groups.at(-1)!;
    return { v4: v4.pairs.subarray(2 * from.v4, 2 * v4.length), v6: v6.words.subarray(8 * from.v6, 8 * v6.length) };
  }

  /** Compares all lists; results by list number, the extra list last. Rejects with TOO_LARGE for too many overlapping pairs. */
  standings(): Overlap[] {
    const tally = new Tally(this.#groups, this.#lists);
    const { v4, v6 } = this.#ranges;
    const pairs = orderV4(v4.pairs, v4.length);
    const groupsV4 = tally.groupsOf('v4', v4.length, pairs);
    for (let i = 0; i < v4.length; i++) pairs[2 * i + 1] = v4.pairs[2 * pairs[2 * i + 1]! + 1]!;
    tally.count('v4', endsV4(pairs), groupsV4);
    const order = orderV6(v6.words, v6.length);
    const words = new Uint32Array(8 * v6.length);
    for (let i = 0; i < v6.length; i++) {
      copyV6(v6.words, 8 * order[2 * i + 1]!, words, 8 * i);
      copyV6(v6.words, 8 * order[2 * i + 1]! + 4, words, 8 * i + 4);
    }
    tally.count('v6', endsV6(words), tally.groupsOf('v6', v6.length, order));
    return tally.standings();
  }

  #group(list: number, isOne: boolean): void {
    this.#groups.push({ list, isOne, v4: this.#ranges.v4.length, v6: this.#ranges.v6.length });
  }
}

class Tally {
  readonly #groups: readonly Group[];
  readonly #aside: number;
  readonly #all: Counts[];
  readonly #unique: Counts[];
  readonly #overlaps: Map<number, Counts>[];
  #pairs = 0;
  readonly #met = new Map<number, Set<number>>();

  constructor(groups: readonly Group[], lists: number) {
    [this.#groups, this.#aside] = [groups, lists];
    this.#all = Array.from({ length: lists + 1 }, nothing);
    this.#unique = Array.from({ length: lists + 1 }, nothing);
    this.#overlaps = Array.from({ length: lists + 1 }, () => new Map());
    for (const [at, { isOne }] of groups.entries()) if (isOne) this.#met.set(at, new Set());
  }

  /** Group of each range, in the order given by the second numbers. */
  groupsOf(family: 'v4' | 'v6', length: number, order: Uint32Array): Uint32Array {
    const groupOf = new Uint32Array(length);
    for (const [at, group] of this.#groups.entries()) groupOf.fill(at, group[family], this.#groups[at + 1]?.[family] ?? length);
    const inOrder = new Uint32Array(length);
    for (let i = 0; i < length; i++) inOrder[i] = groupOf[order[2 * i + 1]!]!;
    return inOrder;
  }

  count(family: 'v4' | 'v6', ends: Ends, groupOf: Uint32Array): void {
    const groups = this.#groups;
    const { length } = groupOf;
    const isShared = new Uint8Array(length);
    sweep(ends, length, (range) => groups[groupOf[range]!]!.list, this.#aside, {
      met: (range, other) => {
        const group = groupOf[range]!;
        const { list, isOne } = groups[group]!;
        if (other !== this.#aside) isShared[range] = 1;
        if (isOne) this.#met.get(group)!.add(other);
        else this.#of(list, other).entries += 1;
      },
      owned: (list, count) => {
        this.#all[list]![family] += count;
      },
      common: (one, other, count) => {
        this.#of(one, other)[family] += count;
        this.#of(other, one)[family] += count;
      },
      alone: (list, count) => {
        this.#unique[list]![family] += count;
      },
    });
    for (let range = 0; range < length; range++) {
      const { list, isOne } = groups[groupOf[range]!]!;
      if (isOne) continue;
      this.#all[list]!.entries += 1;
      if (isShared[range] === 0) this.#unique[list]!.entries += 1;
    }
  }

  standings(): Overlap[] {
    for (const [group, met] of this.#met) {
      const { list } = this.#groups[group]!;
      this.#all[list]!.entries += 1;
      for (const other of met) this.#of(list, other).entries += 1;
      if ([...met].every((other) => other === this.#aside)) this.#unique[list]!.entries += 1;
    }
    return this.#all.map((all, list) => ({ ...all, unique: this.#unique[list]!, overlaps: this.#overlaps[list]! }));
  }

  #of(list: number, other: number): Counts {
    const known = this.#overlaps[list]!.get(other);
    if (known !== undefined) return known;
    this.#pairs += 1;
    if (this.#pairs > 2 * MOST_PAIRS) throw new WeirError('TOO_LARGE', `more than ${MOST_PAIRS} pairs of lists have addresses in common`);
    const counts = nothing();
    this.#overlaps[list]!.set(other, counts);
    return counts;
  }
}
