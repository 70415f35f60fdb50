import type { HttpCounts } from '../../ports/http-counts.ts';

type BodyCounts = Pick<HttpCounts, 'bodies' | 'bodyBytes'>;

/** How many bytes of request bodies may be in memory at one time, in all and for one key. */
export interface BodyBudget {
  /** A holding of nothing yet, on the account of a key. */
  open(key: string): BodyHolding;
}

/** What one request holds. */
export interface BodyHolding {
  /** Holds this many bytes in all; false, and nothing changes, where the budget or the key's share does not allow it. */
  hold(bytes: number): boolean;
  /** Gives everything back. */
  release(): void;
}

/**
 * A budget of `total` bytes. A key's share is an eighth of it, but never less than `least` bytes, so that a whole body fits. What is held
 * is counted in `counts`.
 */
export function bodyBudget(total: number, least: number, counts: BodyCounts = { bodies: 0, bodyBytes: 0 }): BodyBudget {
  const share = Math.min(total, Math.max(total / 8, least));
  const ofKeys = new Map<string, number>();

  return {
    open(key) {
      let held = 0;
      const hold = (bytes: number): boolean => {
        const ofKey = (ofKeys.get(key) ?? 0) + bytes - held;
        if (bytes > held && (counts.bodyBytes + bytes - held > total || ofKey > share)) return false;
        counts.bodyBytes += bytes - held;
        counts.bodies += Number(bytes > 0) - Number(held > 0);
        held = bytes;
        if (ofKey > 0) ofKeys.set(key, ofKey);
        else ofKeys.delete(key);
        return true;
      };
      return { hold, release: () => void hold(0) };
    },
  };
}
