/** Expiries that are said as instants (SPEC D3.30): a signal's message has durations, which count from its acceptance. */

import { readInstant } from '../clock.ts';
import { LIMITS } from './limits.ts';
import type { Fields } from './normalize.ts';

/** Where each version says how long a rule lives, and what asks for none. */
const DURATIONS = { 1: 'expiration', 2: 'expires_in' } as const;

const isGiven = (value: unknown) => value !== undefined && value !== null;

/**
 * An entry that names its expiry as an instant with the seconds until then in its place, as of `receivedAt` (ms): its rule expires at exactly
 * this second. Ignored where nothing is made. An instant that has passed is as one within a second, one that is too far away as the longest expiry.
 * A text says what is wrong with `expires_at`.
 */
export function withDuration(version: 1 | 2, entry: Fields, receivedAt: number): Fields | string {
  const { expires_at: said, ...others } = entry;
  if (!isGiven(said) || entry.action === 'unblock' || entry.op === 'delete') return others;
  const field = DURATIONS[version];
  if (isGiven(entry[field])) return `is given beside ${field}: one of them is enough`;
  const at = readInstant(said);
  if (at === undefined) return 'must be an instant in ISO 8601, such as 2027-01-31T12:00:00Z';
  const seconds = Math.ceil(at / 1000) - Math.ceil(receivedAt / 1000);
  return { ...others, [field]: Math.min(Math.max(seconds, 1), LIMITS.expirySeconds) };
}
