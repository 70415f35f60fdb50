import type { HttpCounts } from '../../ports/http-counts.ts';

type BodyCounts = Pick<HttpCounts, 'bodies' | 'bodyBytes'>;

/** How many bytes of request bodies may be in memory at one time, in all and for one key. */
export interface BodyBudget {
  /** A holding of nothing yet, on the account of a key and, where it is one of a workspace, of that. */
  open(key: string, workspace?: string): BodyHolding;
}

/** What one request holds. */
export interface BodyHolding {
  /** Holds this many bytes in all; false, and nothing changes, where the budget or the key's share does not allow it. */
  hold(bytes: number): boolean;
  /** Gives everything back. */
  release(): void;
}

/**
 * A budget of `total` bytes. A key's share is an eighth of it, that of all keys of a workspace together a half, but never less than `least`
 * bytes, so that a whole body fits: whoever makes many keys leaves room for others. What is held is counted in `counts`.
 */
export function bodyBudget(total: number, least: number, counts: BodyCounts = { bodies: 0, bodyBytes: 0 }): BodyBudget {
  const shareOf = (part: number) => Math.min(total, Math.max(total / part, least));
  const ofKeys = new Map<string, number>();
  const ofWorkspaces = new Map<string, number>();

  return {
    open(key, workspace) {
      const accounts = [{ held: ofKeys, of: key, share: shareOf(8) }];
      if (workspace !== undefined) accounts.push({ held: ofWorkspaces, of: workspace, share: shareOf(2) });
      let held = 0;
      const hold = (bytes: number): boolean => {
        const more = bytes - held;
        const isOver = accounts.some((account) => (account.held.get(account.of) ?? 0) + more > account.share);
        if (more > 0 && (counts.bodyBytes + more > total || isOver)) return false;
        counts.bodyBytes += more;
        counts.bodies += Number(bytes > 0) - Number(held > 0);
        held = bytes;
        for (const account of accounts) {
          const now = (account.held.get(account.of) ?? 0) + more;
          if (now > 0) account.held.set(account.of, now);
          else account.held.delete(account.of);
        }
        return true;
      };
      return { hold, release: () => void hold(0) };
    },
  };
}
