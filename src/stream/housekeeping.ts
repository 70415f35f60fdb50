import type { StoreReads, StoreWrites } from '../ports/store.ts';
import { AUDIT_RETENTION, RULE_RETENTION } from '../ports/stored/account-store.ts';
import type { Stream } from '../ports/stream.ts';

/** ms. */
const HOUR = 3_600_000;
/** Rows per delete, so no writer waits long. */
const SLICE = 1000;

/** Configurable retention. */
export interface Keeping {
  /** Landed messages of the embedded stream, hours. */
  readonly streamHours: number;
  /** Limit of these, bytes; 0 = unlimited. */
  readonly streamBytes: number;
  /** Limit of a workspace's audit log, bytes; 0 = unlimited. */
  readonly auditBytes: number;
}

/** Sweeps at `now` (ms): RULE_RETENTION, AUDIT_RETENTION, landed messages as configured. Resolves with true if there may be more. */
export async function sweepSlice(
  stream: Stream,
  store: Pick<StoreReads, 'position'> & Pick<StoreWrites, 'sweep' | 'shrink'>,
  keeping: Keeping,
  now: number,
): Promise<boolean> {
  const { streamHours, streamBytes, auditBytes } = keeping;
  const removed = await store.sweep({
    now,
    rulesExpiredBefore: now - RULE_RETENTION,
    auditBefore: now - AUDIT_RETENTION,
    limit: SLICE,
    auditBytes,
  });
  // New rows reuse freed pages; only what remains free is returned to the file system.
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

/** Once a minute, slice by slice. Returns a stop function. */
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
