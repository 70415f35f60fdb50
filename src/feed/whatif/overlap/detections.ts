/** The workspace's own detections, and whether a list had them earlier (SPEC D30.3). */

import { V4Ranges, V6Ranges } from '@weir/network/ranges.ts';
import { firstReaching } from '@weir/network/search.ts';
import { orderV4, orderV6 } from '@weir/network/sets/merge.ts';
import { compareV6 } from '@weir/network/words.ts';
import type { GeoDatabase } from '../../../ports/geo.ts';
import type { Stays } from './intervals.ts';

/** Detections by the time of their listing. Each rule counts once. */
export interface Witness {
  readonly of: number;
  readonly before: number;
  readonly after: number;
  readonly never: number;
  /** Seconds; null: none. */
  readonly lead: number | null;
}

class Family {
  readonly at: number[] = [];
  /** [from, to). */
  readonly #lists = new Map<number, { readonly from: number; to: number }>();
  /** Start of the current list's entry covering each detection, if it existed at detection or later, ms; Infinity: never. */
  #since = new Float64Array(0);
  #seen: number[] = [];

  begin(list: number): void {
    this.#lists.set(list, { from: this.at.length, to: this.at.length });
  }

  add(list: number, at: number): void {
    this.#lists.get(list)!.to = this.at.push(at);
  }

  end(): void {
    this.#since = new Float64Array(this.at.length).fill(Number.POSITIVE_INFINITY);
  }

  /** The current list covered the detection, from an instant (ms) until a second. */
  saw(detection: number, from: number, until: number): void {
    const since = this.#since[detection]!;
    if (from >= since || until * 1000 <= this.at[detection]!) return;
    if (since === Number.POSITIVE_INFINITY) this.#seen.push(detection);
    this.#since[detection] = from;
  }

  /**
   * Visits detections covered by the current list, except its own, then resets for the next list. Returns the number of others' detections.
   */
  seen(list: number, take: (at: number, since: number) => void): number {
    const { from, to } = this.#lists.get(list) ?? { from: 0, to: 0 };
    for (const detection of this.#seen) {
      if (detection < from || detection >= to) take(this.at[detection]!, this.#since[detection]!);
      this.#since[detection] = Number.POSITIVE_INFINITY;
    }
    this.#seen = [];
    return this.at.length - (to - from);
  }
}

/** Memory per detection, bytes: times, ends and sort index. */
const BYTES = { v4: 32, v6: 56 };

/** First add each list's detections, then check each list against them. */
export class Detections {
  readonly #v4 = new Family();
  readonly #v6 = new Family();
  readonly #rangesV4 = new V4Ranges();
  readonly #rangesV6 = new V6Ranges();
  #order: { readonly v4: Uint32Array; readonly v6: Uint32Array } | undefined;

  /** Blocks since an instant (ms); `list`: its number. */
  adding(list: number, since: number): Stays {
    for (const family of [this.#v4, this.#v6]) family.begin(list);
    return {
      v4: (start, end, from) => {
        if (from < since) return;
        this.#v4.add(list, from);
        this.#rangesV4.push(start, end);
      },
      v6: (words, from) => {
        if (from < since) return;
        this.#v6.add(list, from);
        this.#rangesV6.push(words, 0);
      },
      geo: () => {},
    };
  }

  get count(): number {
    return this.#v4.at.length + this.#v6.at.length;
  }

  get bytes(): number {
    return BYTES.v4 * this.#v4.at.length + BYTES.v6 * this.#v6.at.length;
  }

  /** The earliest, ms; null: none. */
  get first(): number | null {
    let first = Number.POSITIVE_INFINITY;
    for (const { at } of [this.#v4, this.#v6]) for (const each of at) if (each < first) first = each;
    return first === Number.POSITIVE_INFINITY ? null : first;
  }

  /** Collects a list's current and past entries. No additions of detections afterwards. */
  seeing(geo: GeoDatabase): Stays {
    this.#order = { v4: orderV4(this.#rangesV4.pairs, this.#rangesV4.length), v6: orderV6(this.#rangesV6.words, this.#rangesV6.length) };
    for (const family of [this.#v4, this.#v6]) family.end();
    return {
      v4: (start, end, from, until) => this.#sawV4(start, end, from, until),
      v6: (words, from, until) => this.#sawV6(words, 0, from, until),
      geo: (target, from, until) => {
        const { v4, v6 } = geo.ranges(target);
        for (let at = 0; at < v4.length; at += 2) this.#sawV4(v4[at]!, v4[at + 1]!, from, until);
        for (let at = 0; at < v6.length; at += 8) this.#sawV6(v6, at, from, until);
      },
    };
  }

  witness(list: number): Witness {
    const leads: number[] = [];
    let [of, after] = [0, 0];
    for (const family of [this.#v4, this.#v6])
      of += family.seen(list, (at, since) => {
        if (since <= at) leads.push((at - since) / 1000);
        else after += 1;
      });
    const before = leads.length;
    const sorted = Float64Array.from(leads).sort();
    const lead = before === 0 ? null : Math.round((sorted[(before - 1) >> 1]! + sorted[before >> 1]!) / 2);
    return { of, before, after, never: of - before - after, lead };
  }

  #sawV4(start: number, end: number, from: number, until: number): void {
    const order = this.#order!.v4;
    const { pairs } = this.#rangesV4;
    // Inlined for speed: called for every rule of every list.
    let [low, high] = [0, order.length / 2];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (order[2 * middle]! >= start) high = middle;
      else low = middle + 1;
    }
    for (let i = 2 * low; i < order.length && order[i]! <= end; i += 2) {
      const detection = order[i + 1]!;
      if (pairs[2 * detection + 1]! <= end) this.#v4.saw(detection, from, until);
    }
  }

  #sawV6(words: Uint32Array, at: number, from: number, until: number): void {
    const order = this.#order!.v6;
    const ranges = this.#rangesV6.words;
    const first = firstReaching(order.length / 2, (each) => compareV6(ranges, 8 * order[2 * each + 1]!, words, at) >= 0);
    for (let i = 2 * first; i < order.length; i += 2) {
      const detection = order[i + 1]!;
      if (compareV6(ranges, 8 * detection, words, at + 4) > 0) return;
      if (compareV6(ranges, 8 * detection + 4, words, at + 4) <= 0) this.#v6.saw(detection, from, until);
    }
  }
}
