/** Waiting until what is on the stream has landed in the store. */

import { setTimeout as sleep } from 'node:timers/promises';
import { WeirError } from '../errors.ts';
import type { StoreReads } from '../ports/store.ts';
import type { Stream } from '../ports/stream.ts';
import type { Context } from './context.ts';
import { startProgress } from './progress.ts';

const LOOK = 50;
/** Landing that stands still for so long counts as not running, ms; in Kafka partitions change hands meanwhile. */
const PATIENCE = { embedded: 5000, kafka: 30_000 };

const OUTSIDE = "the store's position is outside the stream, so landing has stopped; /readyz of a consumer says what to do";

type Landing = Pick<StoreReads, 'position' | 'positionStreams'>;

/**
 * Waits until landing has reached the stream's end as it is now. Returns how many messages are left when landing stands still:
 * 0 when it got there.
 */
export async function untilLanded(context: Context, stream: Stream, store: Landing): Promise<number> {
  const streamId = await knownStream(stream, store);
  const partitions = Array.from({ length: await stream.partitions() }, (_, partition) => partition);
  const ends = await Promise.all(
    partitions.map(async (partition) => {
      const { start, end } = await stream.bounds(partition);
      const position = (await store.position(streamId, partition)) ?? start;
      // What was appended and landed since the bounds were read lies behind their end, and not outside the stream.
      if (position < start || position > (await stream.bounds(partition)).end) throw new WeirError('USAGE', OUTSIDE);
      return { partition, start, end };
    }),
  );
  const count = async () => {
    let left = 0;
    for (const { partition, start, end } of ends) left += Math.max(0, end - ((await store.position(streamId, partition)) ?? start));
    return left;
  };
  let left = await count();
  if (left === 0) return 0;
  const total = left;
  const patience = context.config.kafkaBrokers === undefined ? PATIENCE.embedded : PATIENCE.kafka;
  const progress = startProgress(context, 'landing', total);
  try {
    for (let moved = performance.now(); left > 0 && performance.now() - moved < patience; ) {
      await sleep(LOOK);
      const now = await count();
      if (now < left) moved = performance.now();
      left = now;
      progress.update(total - left);
    }
    return left;
  } finally {
    progress.stop();
  }
}

/** The stream's id; refuses a stream that is not the one which the store lands. */
async function knownStream(stream: Stream, store: Landing): Promise<string> {
  const [streamId, known] = [await stream.id(), await store.positionStreams()];
  if (known.length > 0 && !known.includes(streamId)) {
    throw new WeirError(
      'USAGE',
      `the store lands the stream ${known.join(', ')}, but these settings name the stream ${streamId}: set DATA_DIR or KAFKA_BROKERS as the server has them`,
    );
  }
  return streamId;
}
