import type { AccessAction, Kind } from '../rule.ts';

/** What a block lives that names no expiry, and the least that an access rule does, seconds. */
export const DEFAULT_EXPIRY = 86_400;
export const LEAST_EXPIRY = 60;

/**
 * How long a rule lives, in seconds; null = without end (spec 2.1 rule 2, 2.2).
 * Applying it twice changes nothing.
 */
export function lifetime(kind: Kind, action: AccessAction | string, seconds: number | undefined): number | null {
  if (!seconds) return kind === 'access_rule' && action === 'block' ? DEFAULT_EXPIRY : null;
  return kind === 'access_rule' ? Math.max(seconds, LEAST_EXPIRY) : seconds;
}

/** The instant (ms, a whole second, rounded up) at which a rule accepted at `receivedAt` (ms) expires; null = never. */
export const expiresAt = (receivedAt: number, seconds: number | null): number | null =>
  seconds === null ? null : Math.ceil(receivedAt / 1000 + seconds) * 1000;
