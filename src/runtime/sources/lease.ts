/** Leases for tasks of one process (SPEC D23.9, D23.14, D27.7). */
import type { Lease, SourceWrites } from '../../ports/stored/source-store.ts';

/** Lease time, ms; renewed after a third. */
const LEASE = 30_000;

export interface OwnedLease {
  /** Claims or renews; undefined: another process has it. */
  claim(): Promise<Lease | undefined>;
  /** Another process has it. */
  lost(): void;
  release(): Promise<void>;
}

/** `name`: the task; `holder`: unique per process. */
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
      if (at - claimedAt < LEASE / 3) return lease;
      // Without an answer from the store the lease ends.
      if (at - claimedAt >= LEASE) lease = undefined;
      const fence = await store.claimLease(name, holder, LEASE);
      claimedAt = at;
      // A response slower than the lease time is worthless.
      lease = fence === undefined || monotonic() - at >= LEASE ? undefined : { name, fence };
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
