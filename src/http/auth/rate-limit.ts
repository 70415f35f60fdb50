/** Token buckets, one per key: a minute's quota may come at once; tokens refill evenly. */
export interface RateLimiter {
  /** Takes at `now` (ms, monotonic). 0 admits; else takes nothing and returns the seconds to wait, at least 1. */
  take(key: string, now: number, count?: number): number;
}

const UNLIMITED: RateLimiter = { take: () => 0 };
const MINUTE = 60_000;

/** No call may exceed `perMinute`; 0 = unlimited. */
export function rateLimiter(perMinute: number): RateLimiter {
  if (perMinute === 0) return UNLIMITED;
  const buckets = new Map<string, { tokens: number; at: number }>();
  const perMs = perMinute / MINUTE;
  let sweepAt = 0;

  // A bucket unused for a minute is full, like a new one.
  function sweep(now: number): void {
    if (now < sweepAt) return;
    sweepAt = now + MINUTE;
    for (const [key, bucket] of buckets) if (now - bucket.at > MINUTE) buckets.delete(key);
  }

  return {
    take(key, now, count = 1) {
      sweep(now);
      const bucket = buckets.get(key);
      if (bucket === undefined) {
        buckets.set(key, { tokens: perMinute - count, at: now });
        return 0;
      }
      // A clock set back changes no tokens.
      bucket.tokens = Math.min(perMinute, bucket.tokens + Math.max(0, now - bucket.at) * perMs);
      bucket.at = now;
      if (bucket.tokens < count) return Math.max(1, Math.ceil((count - bucket.tokens) / perMs / 1000));
      bucket.tokens -= count;
      return 0;
    },
  };
}
