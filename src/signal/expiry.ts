import type { AccessAction, Kind } from '../rule.ts';

const DAY = 86_400;
/** The shortest life of an access rule, seconds. */
export const FLOOR = 60;

/**
 * How long a rule lives, in seconds; null = without end (spec 2.1 rule 2, 2.2).
 * A block without expiry gets one day, access rules live 60 s at least; applying it twice changes nothing.
 */
export function lifetime(kind: Kind, action: AccessAction | string, seconds: number | undefined): number | null {
  if (!seconds) return kind === 'access_rule' && action === 'block' ? DAY : null;
  return kind === 'access_rule' ? Math.max(seconds, FLOOR) : seconds;
}

/** The instant (ms, a whole second, rounded up) at which a rule accepted at `receivedAt` (ms) expires; null = never. */
export const expiresAt = (receivedAt: number, seconds: number | null): number | null =>
  seconds === null ? null : Math.ceil(receivedAt / 1000 + seconds) * 1000;
