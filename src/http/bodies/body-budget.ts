import type { HttpCounts } from '../../ports/http-counts.ts';

type BodyCounts = Pick<HttpCounts, 'bodies' | 'bodyBytes'>;

export interface BodyBudget {
  /** Opens an empty reservation for a key and its workspace. */
  open(key: string, workspace?: string): BodyHolding;
}

export interface BodyHolding {
  /** Sets the reservation to `bytes`. Returns false and changes nothing above a limit. */
  hold(bytes: number): boolean;
  release(): void;
}

/** `total` bytes. A key may use an eighth, a workspace a half, but at least `least` bytes: one full body. Usage is in `counts`. */
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
