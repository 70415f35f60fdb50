/** A list's entries, additions and removals, from its history. */
import { addressSet } from '@weir/network/address-set.ts';
import { DAY, secondOf } from '../../../clock.ts';
import type { GeoDatabase } from '../../../ports/geo.ts';
import type { RuleSink } from '../../../ports/snapshot.ts';
import type { GeoTarget } from '../../../rule.ts';
import type { Widening } from '../../widening.ts';
import { type Stays, stays } from './intervals.ts';
import type { ListEntries } from './list-overlap.ts';

const NEW = DAY;

export class ListReading {
  readonly #entries: ListEntries;
  readonly #list: number;
  readonly #seen: Stays;
  /** ms; whole seconds */
  readonly #newSince: number;
  readonly #second: number;
  readonly #targets: GeoTarget[] = [];
  readonly #gone = new Set<number | string>();
  #added = 0;

  /** `seen` receives every interval; `at`: now, ms. */
  constructor(entries: ListEntries, list: number, seen: Stays, at: number) {
    [this.#entries, this.#list, this.#seen, this.#newSince, this.#second] = [entries, list, seen, at - NEW, secondOf(at)];
    entries.begin(list);
  }

  sinks(neverBlock: NeverBlock, widening: Widening | undefined): { readonly stored: RuleSink; readonly lost: RuleSink } {
    return {
      stored: stays({ block: this.#taking(), allow: neverBlock.taking(this.#second) }, widening),
      lost: stays({ block: this.#taking() }, widening),
    };
  }

  /** In the last 24 hours. Ends the list. */
  changes(geo: GeoDatabase): { readonly added: number; readonly gone: number } {
    const gone = this.#gone;
    if (gone.size > 0) {
      const { v4, v6 } = this.#entries.last;
      for (let at = 0; at < v4.length; at += 2) gone.delete(keyV4(v4[at]!, v4[at + 1]!));
      for (let at = 0; at < v6.length; at += 8) gone.delete(keyV6(v6.subarray(at, at + 8)));
      for (const target of this.#targets) gone.delete(keyOf(target));
    }
    for (const target of this.#targets) this.#entries.geoEntry(this.#list, geo.ranges(target));
    return { added: this.#added, gone: gone.size };
  }

  #taking(): Stays {
    const seen = this.#seen;
    const isThere = (from: number, until: number) => {
      if (until <= this.#second) return false;
      if (from >= this.#newSince) this.#added += 1;
      return true;
    };
    const isRecent = (until: number) => until > secondOf(this.#newSince);
    return {
      v4: (start, end, from, until) => {
        seen.v4(start, end, from, until);
        if (isThere(from, until)) this.#entries.v4(start, end);
        else if (isRecent(until)) this.#gone.add(keyV4(start, end));
      },
      v6: (words, from, until) => {
        seen.v6(words, from, until);
        if (isThere(from, until)) this.#entries.v6(words);
        else if (isRecent(until)) this.#gone.add(keyV6(words));
      },
      geo: (target, from, until) => {
        seen.geo(target, from, until);
        if (isThere(from, until)) this.#targets.push(target);
        else if (isRecent(until)) this.#gone.add(keyOf(target));
      },
    };
  }
}

export class NeverBlock {
  readonly #direct = addressSet([]);
  readonly #targets: GeoTarget[] = [];

  taking(second: number): Stays {
    return {
      v4: (start, end, _from, until) => {
        if (until > second) this.#direct.v4.push(start, end);
      },
      v6: (words, _from, until) => {
        if (until > second) this.#direct.v6.push(words, 0);
      },
      geo: (target, _from, until) => {
        if (until > second) this.#targets.push(target);
      },
    };
  }

  addTo(entries: ListEntries, list: number, geo: GeoDatabase): void {
    const { v4, v6 } = this.#direct;
    entries.direct(list, v4.pairs.subarray(0, 2 * v4.length), v6.words.subarray(0, 8 * v6.length));
    for (const target of this.#targets) entries.geoEntry(list, geo.ranges(target));
  }
}

/** Key of a network by first address and prefix length, numeric if possible: there may be very many. */
const keyV4 = (start: number, end: number) => start * 64 + Math.clz32(end - start);
const keyV6 = (words: Uint32Array) => words.join();
const keyOf = (target: GeoTarget) => (target.kind === 'asn' ? `AS${target.asn}` : target.country);
