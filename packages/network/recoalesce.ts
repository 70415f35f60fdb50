/** Coalesces mostly unchanged ranges: copies the networks of unchanged ones. */
import { type CidrsV4, coalesceV4 } from './coalesce.ts';
import type { V4Ranges } from './ranges.ts';
import { firstReaching } from './search.ts';
import { commonRun } from './sets/same.ts';
import { splitV4 } from './split.ts';

/** Ranges and their networks. */
export interface CoalescedV4 {
  readonly ranges: V4Ranges;
  readonly networks: CidrsV4;
}

/** Returns the same as `coalesceV4`. Merges the ranges in place; the ranges of `before` must be unchanged. */
export function recoalesceV4(ranges: V4Ranges, before: CoalescedV4 | undefined): CidrsV4 {
  if (before === undefined) return coalesceV4(ranges);
  if (ranges === before.ranges) return before.networks;
  const { addresses, prefixes } = before.networks;
  const runs = runsOf(ranges, before);
  const length = runs.reduce((sum, { networks, split }) => sum + networks.to - networks.from + countOf(ranges, split), 0);
  const cidrs = { length, addresses: new Uint32Array(length), prefixes: new Uint8Array(length) };
  let at = 0;
  for (const { networks, split } of runs) {
    cidrs.addresses.set(addresses.subarray(networks.from, networks.to), at);
    cidrs.prefixes.set(prefixes.subarray(networks.from, networks.to), at);
    at += networks.to - networks.from;
    for (let i = split.from; i < split.to; i++) at = splitV4(ranges.pairs, 2 * i, cidrs, at);
  }
  return cidrs;
}

/** Copied networks, followed by new ranges; `to` is exclusive. */
interface Run {
  readonly networks: Span;
  readonly split: Span;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

function runsOf(ranges: V4Ranges, before: CoalescedV4): Run[] {
  ranges.merge();
  const [pairs, old] = [ranges.pairs, before.ranges.pairs];
  const [ends, oldEnds] = [2 * ranges.length, 2 * before.ranges.length];
  const runs: Run[] = [];
  for (let i = 0, j = 0; i < ends; ) {
    const first = j;
    const words = commonRun(pairs, i, old, j, Math.min(ends - i, oldEnds - j));
    i += words - (words % 2);
    j += words - (words % 2);
    const networks = j === first ? NONE : networksOf(before.networks, old[first], old[j - 1]);
    const from = i / 2;
    // Ranges other than the next previous one, which may be deleted.
    while (i < ends && !(j < oldEnds && pairs[i] === old[j] && pairs[i + 1] === old[j + 1])) {
      if (j < oldEnds && old[j] <= pairs[i]) j += 2;
      else i += 2;
    }
    runs.push({ networks, split: { from, to: i / 2 } });
  }
  return runs;
}

const NONE: Span = { from: 0, to: 0 };

/** Networks between two addresses. */
function networksOf({ length, addresses }: CidrsV4, first: number, last: number): Span {
  const from = firstReaching(length, (i) => addresses[i] >= first);
  return { from, to: firstReaching(length, (i) => addresses[i] > last, from) };
}

function countOf(ranges: V4Ranges, { from, to }: Span): number {
  let count = 0;
  for (let i = from; i < to; i++) count = splitV4(ranges.pairs, 2 * i, null, count);
  return count;
}
