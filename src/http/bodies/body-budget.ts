import type { HttpCounts } from '../../ports/http-counts.ts';

type BodyCounts = Pick<HttpCounts, 'bodies' | 'bodyBytes'>;

export interface BodyBudget {
  open(key: string, workspace?: string): BodyReservation;
}

export interface BodyReservation {
  /** Sets the reservation to `bytes`. Returns false and changes nothing above a limit. */
  reserve(bytes: number): boolean;
  release(): void;
}

/** `total` bytes. A key may use an eighth, a workspace a half, but at least `least` bytes: one full body. Usage is in `counts`. */
export function bodyBudget(total: number, least: number, counts: BodyCounts = { bodies: 0, bodyBytes: 0 }): BodyBudget {
  const shareOf = (part: number) => Math.min(total, Math.max(total / part, least));
  const ofKeys = new Map<string, number>();
  const ofWorkspaces = new Map<string, number>();

  return {
    open(key, workspace) {
      const accounts = [{ used: ofKeys, of: key, share: shareOf(8) }];
      if (workspace !== undefined) accounts.push({ used: ofWorkspaces, of: workspace, share: shareOf(2) });
      let used = 0;
      const reserve = (bytes: number): boolean => {
        const more = bytes - used;
        const isOver = accounts.some((account) => (account.used.get(account.of) ?? 0) + more > account.share);
        if (more > 0 && (counts.bodyBytes + more > total || isOver)) return false;
        counts.bodyBytes += more;
        counts.bodies += Number(bytes > 0) - Number(used > 0);
        used = bytes;
        for (const account of accounts) {
          const now = (account.used.get(account.of) ?? 0) + more;
          if (now > 0) account.used.set(account.of, now);
          else account.used.delete(account.of);
        }
        return true;
      };
      return { reserve, release: () => void reserve(0) };
    },
  };
}
