/** A list's entries as time intervals, from `listHistory` of the store. */
import { firstAddressV4, lastAddressV4, lastAddressV6, maskHostBits } from '@weir/network/bounds.ts';
import { readV6 } from '@weir/network/words.ts';
import type { RuleSink } from '../../../ports/snapshot.ts';
import type { GeoTarget, RuleRole } from '../../../rule.ts';
import type { Widening } from '../../widening.ts';

/** Receives intervals. `from`: ms; `until`: whole seconds, Infinity: no end. */
export interface Stays {
  v4(start: number, end: number, from: number, until: number): void;
  /** Eight words: first and last address; valid only during the call. */
  v6(words: Uint32Array, from: number, until: number): void;
  geo(target: GeoTarget, from: number, until: number): void;
}

/** `widening`: blocked hosts count as the networks that feeds serve for them. */
export function stays(takers: { readonly [R in RuleRole]?: Stays }, widening?: Widening): RuleSink {
  const words = new Uint32Array(8);
  const end = (expires: number) => expires || Number.POSITIVE_INFINITY;
  return {
    v4(from, role, address, prefix, expires) {
      const served = role === 'block' ? (widening?.v4(address, prefix) ?? prefix) : prefix;
      takers[role]?.v4(firstAddressV4(address, served), lastAddressV4(address, served), from, end(expires));
    },
    v6(from, role, bytes, at, prefix, expires) {
      const taker = takers[role];
      if (taker === undefined) return;
      readV6(bytes, at, words, 0);
      const served = role === 'block' ? (widening?.v6(words, 0, prefix) ?? prefix) : prefix;
      maskHostBits(words, 0, served);
      lastAddressV6(words, 0, served, words, 4);
      taker.v6(words, from, end(expires));
    },
    geo: (from, role, target, expires) => takers[role]?.geo(target, from, end(expires)),
  };
}
