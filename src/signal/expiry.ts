import type { AccessAction, Kind } from '../rule.ts';

/** Default of blocks and minimum of access rules, seconds. */
export const DEFAULT_EXPIRY = 86_400;
export const LEAST_EXPIRY = 60;

/** Seconds; null = permanent (SPEC D3.5). Idempotent. */
export function lifetime(kind: Kind, action: AccessAction | string, seconds: number | undefined): number | null {
  if (!seconds) return kind === 'access_rule' && action === 'block' ? DEFAULT_EXPIRY : null;
  return kind === 'access_rule' ? Math.max(seconds, LEAST_EXPIRY) : seconds;
}

/** ms, rounded up to a whole second; null = never. */
export const expiresAt = (receivedAt: number, seconds: number | null): number | null =>
  seconds === null ? null : Math.ceil(receivedAt / 1000 + seconds) * 1000;
