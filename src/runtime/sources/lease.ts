/** What one process of many does: who holds its lease (SPEC D23.9, D23.14, D27.7). */
import type { Lease, SourceWrites } from '../../ports/stored/source-store.ts';

/** How long it is held without a word, ms; it is held for longer at a third of that. */
const HELD = 30_000;

export interface OwnedLease {
  /** The lease, claimed or held for longer where that is due; undefined: another process has it. */
  claim(): Promise<Lease | undefined>;
  /** Somebody else has it. */
  lost(): void;
  release(): Promise<void>;
}

/** `name`: of what is done; `holder`: of this process, which no other has. */
export function holdLease(
  store: Pick<SourceWrites, 'claimLease' | 'releaseLease'>,
  name: string,
  holder: string,
  monotonic: () => number,
): OwnedLease {
  let lease: Lease | undefined;
  let claimedAt = Number.NEGATIVE_INFINITY;
  return {
    async claim() {
      const at = monotonic();
      if (at - claimedAt < HELD / 3) return lease;
      // A store that does not answer leaves the lease to whoever is first when it does again.
      if (at - claimedAt >= HELD) lease = undefined;
      const fence = await store.claimLease(name, holder, HELD);
      claimedAt = at;
      // An answer that took as long as the lease is held tells of nothing any more.
      lease = fence === undefined || monotonic() - at >= HELD ? undefined : { name, fence };
      return lease;
    },
    lost() {
      lease = undefined;
    },
    async release() {
      if (lease !== undefined) await store.releaseLease(name, holder);
      lease = undefined;
    },
  };
}
