import type { StoreReads, StoreWrites } from '../ports/store.ts';
import { AUDIT_KEPT, RULES_KEPT } from '../ports/stored/account-store.ts';
import type { Stream } from '../ports/stream.ts';

/** ms. */
const HOUR = 3_600_000;
/** Rows that one slice deletes at most, so that no writer waits long. */
const SLICE = 1000;

/** Keeping times that are settings. */
export interface Keeping {
  /** How long landed messages of the embedded stream are kept, hours. */
  readonly streamHours: number;
  /** Bytes that these may take; 0 = no limit. */
  readonly streamBytes: number;
  /** Bytes that the audit log of a workspace may take; 0 = no limit. */
  readonly auditBytes: number;
}

/**
 * Deletes one slice of what is past its keeping time at `now` (ms): RULES_KEPT, AUDIT_KEPT, landed messages as set. Resolves with true
 * when there may be more.
 */
export async function sweepSlice(
  stream: Stream,
  store: Pick<StoreReads, 'position'> & Pick<StoreWrites, 'sweep' | 'shrink'>,
  keeping: Keeping,
  now: number,
): Promise<boolean> {
  const { streamHours, streamBytes, auditBytes } = keeping;
  const removed = await store.sweep({ now, rulesExpiredBefore: now - RULES_KEPT, auditBefore: now - AUDIT_KEPT, limit: SLICE, auditBytes });
  // What is freed while rows go is taken by those that come; the rest goes back to the disk behind the last of them.
  const mayShrink = removed === 0 && (await store.shrink());
  const streamId = await stream.id();
  let trimmed = 0;
  for (let partition = 0; partition < (await stream.partitions()); partition += 1) {
    const landed = (await store.position(streamId, partition)) ?? 0;
    const most = streamBytes === 0 ? undefined : streamBytes;
    trimmed += await stream.trim(partition, now - streamHours * HOUR, landed, SLICE, most);
  }
  return removed > 0 || trimmed > 0 || mayShrink;
}

/** Sweeps once a minute, slice after slice while there is more to delete. Returns the function that stops it. */
export function startHousekeeping(sweep: () => Promise<boolean>, onError: (error: Error) => void): () => void {
  let timer: NodeJS.Timeout;
  let stopped = false;
  const schedule = (ms: number) => {
    timer = setTimeout(() => void turn(), ms);
    timer.unref();
  };
  const turn = async () => {
    let more = false;
    try {
      more = await sweep();
    } catch (error) {
      onError(error as Error);
    }
    if (!stopped) schedule(more ? 10 : 60_000);
  };
  schedule(1000);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
