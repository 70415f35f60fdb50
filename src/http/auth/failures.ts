import type { Failures } from '../../ports/http-counts.ts';
import { sourceOf } from '../source.ts';

/** Failures per source; then 429. */
const PER_SECOND = 20;
const MOST_SOURCES = 10_000;
const OTHERS = 'other addresses';

/** Counts failed authentications per source and second (SPEC D2.7), and per source for the log. */
export function failureLimiter() {
  let second = 0;
  const inSecond = new Map<string, number>();
  const unreported = new Map<string, number>();

  return {
    /** At `now` (ms, monotonic); true above 20 in this second. */
    count(address: string, now: number): boolean {
      if (Math.floor(now / 1000) !== second) {
        second = Math.floor(now / 1000);
        inSecond.clear();
      }
      const source = sourceOf(address);
      add(unreported, source);
      return add(inSecond, source) > PER_SECOND;
    },
    isUsedUp: (address: string, now: number): boolean =>
      Math.floor(now / 1000) === second && (inSecond.get(sourceOf(address)) ?? 0) >= PER_SECOND,
    /** Since the last call, most first. */
    take(): Failures[] {
      const failures = [...unreported].map(([source, count]) => ({ source, count })).sort((a, b) => b.count - a.count);
      unreported.clear();
      return failures;
    },
  };
}

/** Returns the new count; 1 for a source beyond the limit. */
function add(counts: Map<string, number>, source: string): number {
  const isCounted = counts.has(source) || counts.size < MOST_SOURCES;
  const counted = isCounted ? source : OTHERS;
  const count = (counts.get(counted) ?? 0) + 1;
  counts.set(counted, count);
  return isCounted ? count : 1;
}
