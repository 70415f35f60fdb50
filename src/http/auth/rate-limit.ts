/** Token buckets, one per key: a minute's worth of requests may come at once, then they trickle in. */
export interface RateLimiter {
  /** Seconds to wait (whole, at least 1) when the key has used up its requests; 0 lets the request through. */
  take(key: string, now: number): number;
}

const UNLIMITED: RateLimiter = { take: () => 0 };
const MINUTE = 60_000;

/** `perMinute` requests per key and minute; 0 = no limit. Times are ms. */
export function rateLimiter(perMinute: number): RateLimiter {
  if (perMinute === 0) return UNLIMITED;
  const buckets = new Map<string, { tokens: number; at: number }>();
  const perMs = perMinute / MINUTE;
  let sweepAt = 0;

  // A bucket that nobody took from for a minute is full again: as good as none.
  function sweep(now: number): void {
    if (now < sweepAt) return;
    sweepAt = now + MINUTE;
    for (const [key, bucket] of buckets) if (now - bucket.at > MINUTE) buckets.delete(key);
  }

  return {
    take(key, now) {
      sweep(now);
      const bucket = buckets.get(key);
      if (bucket === undefined) {
        buckets.set(key, { tokens: perMinute - 1, at: now });
        return 0;
      }
      // A clock that was set back gives nothing and takes nothing.
      bucket.tokens = Math.min(perMinute, bucket.tokens + Math.max(0, now - bucket.at) * perMs);
      bucket.at = now;
      if (bucket.tokens < 1) return Math.max(1, Math.ceil((1 - bucket.tokens) / perMs / 1000));
      bucket.tokens -= 1;
      return 0;
    },
  };
}
