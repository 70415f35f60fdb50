/** Expiries given as instants (SPEC D3.30). Messages have durations, relative to acceptance. */

import { readInstant } from '../clock.ts';
import { LIMITS } from './limits.ts';
import type { Fields } from './normalize.ts';

const DURATIONS = { 1: 'expiration', 2: 'expires_in' } as const;

const isGiven = (value: unknown) => value !== undefined && value !== null;

/**
 * Replaces an instant by the remaining seconds at `receivedAt` (ms): the rule expires exactly then. Ignored in deletions. Past instants
 * become one second, distant ones the longest expiry. A text names the fault in `expires_at`.
 */
export function withDuration(version: 1 | 2, entry: Fields, receivedAt: number): Fields | string {
  const { expires_at: instant, ...others } = entry;
  if (!isGiven(instant) || entry.action === 'unblock' || entry.op === 'delete') return others;
  const field = DURATIONS[version];
  if (isGiven(entry[field])) return `conflicts with ${field}: give only one of them`;
  const at = readInstant(instant);
  if (at === undefined) return 'must be an instant in ISO 8601, such as 2027-01-31T12:00:00Z';
  const seconds = Math.ceil(at / 1000) - Math.ceil(receivedAt / 1000);
  return { ...others, [field]: Math.min(Math.max(seconds, 1), LIMITS.expirySeconds) };
}
