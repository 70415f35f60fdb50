import type { Failures } from '../../ports/http-counts.ts';
import { sourceOf } from '../source.ts';

/** Failed authentications of one source in one second before it gets 429. */
const PER_SECOND = 20;
/** Sources that are counted at a time; failures of further ones are counted together. */
const MOST_SOURCES = 10_000;
/** Who stands for all further sources. */
const OTHERS = 'other addresses';

/** Counts failed authentications by source and second (SPEC D2.7), and for the log since it was last asked. */
export function failureLimiter() {
  let second = 0;
  const inSecond = new Map<string, number>();
  const sinceTaken = new Map<string, number>();

  return {
    /** Counts one failure at `now` (ms, monotonic); true when the source of the address has had more than 20 in this second. */
    count(address: string, now: number): boolean {
      if (Math.floor(now / 1000) !== second) {
        second = Math.floor(now / 1000);
        inSecond.clear();
      }
      const source = sourceOf(address);
      add(sinceTaken, source);
      return add(inSecond, source) > PER_SECOND;
    },
    /** Whether the source of the address has used up the failures of this second. */
    isUsedUp: (address: string, now: number): boolean =>
      Math.floor(now / 1000) === second && (inSecond.get(sourceOf(address)) ?? 0) >= PER_SECOND,
    /** The failures since the last call, most first. */
    take(): Failures[] {
      const taken = [...sinceTaken].map(([source, count]) => ({ source, count })).sort((a, b) => b.count - a.count);
      sinceTaken.clear();
      return taken;
    },
  };
}

/** Counts one more of a source; returns its count, 1 for a source that no longer fits in. */
function add(counts: Map<string, number>, source: string): number {
  const isCounted = counts.has(source) || counts.size < MOST_SOURCES;
  const counted = isCounted ? source : OTHERS;
  const count = (counts.get(counted) ?? 0) + 1;
  counts.set(counted, count);
  return isCounted ? count : 1;
}
