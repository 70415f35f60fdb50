import type { StoreReads, StoreWrites } from '../ports/store.ts';
import type { Stream } from '../ports/stream.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Rows that one slice deletes, so that no writer waits long. */
const SLICE = 1000;

interface Keeping {
  /** Landed messages of the embedded stream are kept this long. */
  readonly streamHours: number;
}

/** What is kept how long: rules after their expiry 7 days, dead letters and audit rows 90. Deletes one slice; true when there may be more. */
export async function sweepSlice(
  stream: Stream,
  store: Pick<StoreReads, 'position'> & Pick<StoreWrites, 'sweep'>,
  keeping: Keeping,
  now: number,
): Promise<boolean> {
  const removed = await store.sweep({ now, rulesExpiredBefore: now - 7 * DAY, auditBefore: now - 90 * DAY, limit: SLICE });
  const streamId = await stream.id();
  let trimmed = 0;
  for (let partition = 0; partition < (await stream.partitions()); partition += 1) {
    const landed = (await store.position(streamId, partition)) ?? 0;
    trimmed += await stream.trim(partition, now - keeping.streamHours * HOUR, landed, SLICE);
  }
  return removed > 0 || trimmed > 0;
}

/** Sweeps once a minute, slice after slice while there is something to delete. Returns the function that stops it. */
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
