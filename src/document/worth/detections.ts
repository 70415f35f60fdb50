/** What a workspace has detected itself, and whether a list had it before (SPEC D30.3). */
import { lastAddressV4, lastAddressV6 } from '@weir/network/bounds.ts';
import { sortPairs } from '@weir/network/radix.ts';
import { firstReaching } from '@weir/network/search.ts';
import { orderV6 } from '@weir/network/sets/merge.ts';
import { compareV6 } from '@weir/network/words.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import { ROLE_MASK, type RuleTable, type RuleTables, roleTag } from '../held/rule-table.ts';

/** Detections by when a list had them. Each rule is one. */
export interface Witness {
  /** Detections of other lists than this one. */
  readonly of: number;
  readonly before: number;
  readonly after: number;
  readonly never: number;
  /** How long before: the median, s; null where there is none. */
  readonly lead: number | null;
}

/** Tables whose ids are instants, ms, since which the rule is there (`listHistory`). */
export type History = RuleTables;

/** Words of a range: of IPv4 two, of IPv6 eight. */
type Find = (words: Uint32Array, at: number, take: (detection: number) => void) => void;

/** The detections of a workspace. */
export class Detections {
  /** Of each: when (ms), and the list that it is of. */
  readonly #at: number[] = [];
  readonly #lists: number[] = [];
  #v4: number[] = [];
  #v6: number[] = [];
  readonly #numbers: { readonly v4: number[]; readonly v6: number[] } = { v4: [], v6: [] };
  #finds: { readonly v4: Find; readonly v6: Find } | undefined;

  /** Adds the networks that a list of the workspace's own blocks or blocked since an instant (ms); `list`: its number. */
  add(history: History, list: number, since: number): void {
    const { v4, v6 } = history;
    const ends = new Uint32Array(8);
    eachBlocked(v4, since, (row) => {
      this.#numbers.v4.push(this.#take(v4.ids[row], list));
      this.#v4.push(v4.words[row], lastAddressV4(v4.words[row], v4.prefixes[row]));
    });
    eachBlocked(v6, since, (row) => {
      this.#numbers.v6.push(this.#take(v6.ids[row], list));
      ends.set(v6.words.subarray(4 * row, 4 * row + 4));
      lastAddressV6(v6.words, 4 * row, v6.prefixes[row], ends, 4);
      this.#v6.push(...ends);
    });
  }

  get count(): number {
    return this.#at.length;
  }

  /** The first of them, ms; null where there is none. */
  get first(): number | null {
    return this.#at.reduce<number | null>((first, at) => (first === null || at < first ? at : first), null);
  }

  /** Whether a list had them. `parts`: what it has stored and what it lost. Nothing may be added any more. */
  seenBy(parts: readonly History[], list: number, geo: GeoDatabase): Witness {
    this.#finds ??= this.#sorted();
    const { v4: findV4, v6: findV6 } = this.#finds;
    /** Since when the list has had each that it had when or after it was detected; Infinity: never. */
    const since = new Float64Array(this.#at.length).fill(Number.POSITIVE_INFINITY);
    const [range, words] = [new Uint32Array(2), new Uint32Array(8)];
    let [from, until] = [0, 0];
    const noting = (table: RuleTable, row: number) => {
      from = table.ids[row];
      until = (table.expires[row] || Number.POSITIVE_INFINITY) * 1000;
      return note;
    };
    const note = (detection: number) => {
      if (until > this.#at[detection] && from < since[detection]) since[detection] = from;
    };
    for (const { v4, v6, geo: wide, geoTargets } of parts) {
      eachBlocked(v4, 0, (row) => {
        range[0] = v4.words[row];
        range[1] = lastAddressV4(range[0], v4.prefixes[row]);
        findV4(range, 0, noting(v4, row));
      });
      eachBlocked(v6, 0, (row) => {
        words.set(v6.words.subarray(4 * row, 4 * row + 4));
        lastAddressV6(words, 0, v6.prefixes[row], words, 4);
        findV6(words, 0, noting(v6, row));
      });
      eachBlocked(wide, 0, (row) => {
        const ranges = geo.ranges(geoTargets[row]);
        for (let at = 0; at < ranges.v4.length; at += 2) findV4(ranges.v4, at, noting(wide, row));
        for (let at = 0; at < ranges.v6.length; at += 8) findV6(ranges.v6, at, noting(wide, row));
      });
    }
    return this.#witness(since, list);
  }

  #take(at: number, list: number): number {
    this.#lists.push(list);
    return this.#at.push(at) - 1;
  }

  #witness(since: Float64Array, list: number): Witness {
    const leads: number[] = [];
    let [of, after] = [0, 0];
    for (const [detection, from] of since.entries()) {
      if (this.#lists[detection] === list) continue;
      of += 1;
      const at = this.#at[detection];
      if (from <= at) leads.push((at - from) / 1000);
      else if (from !== Number.POSITIVE_INFINITY) after += 1;
    }
    const before = leads.length;
    leads.sort((a, b) => a - b);
    const lead = before === 0 ? null : Math.round((leads[(before - 1) >> 1] + leads[before >> 1]) / 2);
    return { of, before, after, never: of - before - after, lead };
  }

  /** Finds the detections that lie in a range. */
  #sorted(): { readonly v4: Find; readonly v6: Find } {
    const v4 = Uint32Array.from(this.#v4);
    const pairs = Uint32Array.from({ length: v4.length }, (_, i) => (i % 2 === 0 ? v4[i] : i >> 1));
    sortPairs(pairs, pairs.length / 2);
    const v6 = Uint32Array.from(this.#v6);
    const order = orderV6(v6, v6.length / 8);
    const { v4: numbersV4, v6: numbersV6 } = this.#numbers;
    [this.#v4, this.#v6] = [[], []];
    return {
      v4(words, at, take) {
        const [start, end] = [words[at], words[at + 1]];
        // Without a call for each step: it is asked for every rule of every list.
        let [low, high] = [0, pairs.length / 2];
        while (low < high) {
          const middle = (low + high) >>> 1;
          if (pairs[2 * middle] >= start) high = middle;
          else low = middle + 1;
        }
        let i = 2 * low;
        for (; i < pairs.length && pairs[i] <= end; i += 2) if (v4[2 * pairs[i + 1] + 1] <= end) take(numbersV4[pairs[i + 1]]);
      },
      v6(words, at, take) {
        let i = firstReaching(order.length / 2, (each) => compareV6(v6, 8 * order[2 * each + 1], words, at) >= 0);
        for (; 2 * i < order.length; i += 1) {
          const found = order[2 * i + 1];
          if (compareV6(v6, 8 * found, words, at + 4) > 0) return;
          if (compareV6(v6, 8 * found + 4, words, at + 4) <= 0) take(numbersV6[found]);
        }
      },
    };
  }
}

/** The rows of a table that block, or blocked, and are there since an instant (ms) or later. */
function eachBlocked({ tags, ids, length }: RuleTable, since: number, take: (row: number) => void): void {
  const wanted = roleTag('block');
  for (let row = 0; row < length; row++) if ((tags[row] & ROLE_MASK) === wanted && ids[row] >= since) take(row);
}
