import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { StoreReads } from '../ports/store.ts';
import type { Stream } from '../ports/stream.ts';
import { gathered } from '../serial.ts';

/** Interval of position reads while waiting, ms. */
const LOOK = 5;
/** Longest wait for landing, ms. */
const PATIENCE = 2000;

type Log = Pick<Stream, 'id' | 'partitions' | 'bounds'>;
type Positions = Pick<StoreReads, 'position'>;

/** Hundreds of callers may wait for landing at once and poll. */
export function sharedPositions(store: Positions): Positions {
  const read = gathered<readonly [streamId: string, partition: number], number | undefined>(
    async (asked) => {
      // The embedded store answers in the same turn of the event loop; let other callers join first.
      await turn();
      const reads = new Map<string, Promise<number | undefined>>();
      for (const [streamId, partition] of asked) {
        const place = `${streamId} ${partition}`;
        if (!reads.has(place)) reads.set(place, store.position(streamId, partition));
      }
      return Promise.all(asked.map(([streamId, partition]) => reads.get(`${streamId} ${partition}`)));
    },
    1,
    Number.POSITIVE_INFINITY,
  );
  return { position: (streamId, partition) => read([streamId, partition]) };
}

/** Messages of the whole stream. */
export async function unlanded(stream: Log, store: Positions): Promise<number> {
  const streamId = await stream.id();
  const counts = Array.from({ length: await stream.partitions() }, async (_, partition) => {
    const { start, end } = await stream.bounds(partition);
    return Math.max(0, end - ((await store.position(streamId, partition)) ?? start));
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

/**
 * When landing has reached the stream's current end, after `patience` ms (2 s) at the latest, with the number of messages left: a client
 * that posts a signal and then reads the feed expects to find it.
 */
export async function caughtUp(stream: Log, store: Positions, patience = PATIENCE): Promise<number> {
  const deadline = performance.now() + patience;
  const streamId = await stream.id();
  const ends = await Promise.all(Array.from({ length: await stream.partitions() }, (_, partition) => stream.bounds(partition)));
  let left = 0;
  for (const [partition, { start, end }] of ends.entries()) {
    const missing = async () => (end > start ? Math.max(0, end - ((await store.position(streamId, partition)) ?? start)) : 0);
    let count = await missing();
    for (; count > 0 && performance.now() < deadline; count = await missing()) await sleep(LOOK);
    left += count;
  }
  return left;
}
