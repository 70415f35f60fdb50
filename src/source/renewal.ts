import { expiresAt, lifetime } from '../signal/expiry.ts';
import { LIMITS } from '../signal/limits.ts';
import type { ListEntry } from './readers/entry.ts';

/** Renew below this fraction of the requested lifetime. */
const RENEWED = 3 / 4;

export function expiryOf({ expiry, action }: ListEntry, now: number): number {
  if (expiry !== undefined && 'at' in expiry) {
    const seconds = Math.min(Math.ceil(expiry.at / 1000) - Math.ceil(now / 1000), LIMITS.expirySeconds);
    return expiresAt(now, lifetime('access_rule', action, Math.max(seconds, 1))) ?? 0;
  }
  return expiresAt(now, lifetime('access_rule', action, expiry?.seconds)) ?? 0;
}

/** Whether a rule expiring at `stored` (ms; 0: never) needs another expiry. */
export function isOutlived(entry: ListEntry, stored: number, now: number): boolean {
  const wanted = expiryOf(entry, now);
  if (wanted === 0 || stored === 0) return wanted !== stored;
  const { expiry } = entry;
  if (expiry !== undefined && 'at' in expiry && expiry.at - now < LIMITS.expirySeconds * 1000) return stored !== wanted;
  return stored - now < (wanted - now) * RENEWED || (expiry !== undefined && stored > wanted + 1000);
}
