/** A list's entries as time intervals, from `listHistory` of the store. */
import { lastAddressV4, lastAddressV6 } from '@weir/network/bounds.ts';
import { readV6 } from '@weir/network/words.ts';
import type { RuleSink } from '../../../ports/snapshot.ts';
import type { GeoTarget, RuleRole } from '../../../rule.ts';

/** Receives intervals. `from`: ms; `until`: whole seconds, Infinity: no end. */
export interface Stays {
  v4(start: number, end: number, from: number, until: number): void;
  /** Eight words: first and last address; valid only during the call. */
  v6(words: Uint32Array, from: number, until: number): void;
  geo(target: GeoTarget, from: number, until: number): void;
}

export function stays(takers: { readonly [R in RuleRole]?: Stays }): RuleSink {
  const words = new Uint32Array(8);
  const end = (expires: number) => expires || Number.POSITIVE_INFINITY;
  return {
    v4: (from, role, address, prefix, expires) => takers[role]?.v4(address, lastAddressV4(address, prefix), from, end(expires)),
    v6(from, role, bytes, at, prefix, expires) {
      const taker = takers[role];
      if (taker === undefined) return;
      readV6(bytes, at, words, 0);
      lastAddressV6(words, 0, prefix, words, 4);
      taker.v6(words, from, end(expires));
    },
    geo: (from, role, target, expires) => takers[role]?.geo(target, from, end(expires)),
  };
}
