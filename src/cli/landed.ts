import { setTimeout as sleep } from 'node:timers/promises';
import { WeirError } from '../errors.ts';
import type { StoreReads } from '../ports/store.ts';
import type { Stream } from '../ports/stream.ts';
import type { Context } from './context.ts';
import { startProgress } from './progress.ts';

const LOOK = 50;
/** Landing without progress for this long counts as stopped, ms. Kafka may reassign partitions meanwhile. */
const PATIENCE = { embedded: 5000, kafka: 30_000 };

const OUTSIDE = "the store's position is outside the stream, so landing has stopped; /readyz of a consumer says what to do";

type Landing = Pick<StoreReads, 'position' | 'positionStreams'>;

/** Waits until landing reaches the current end of the stream. Returns the number of messages left when landing stops; 0: done. */
export async function untilLanded(context: Context, stream: Stream, store: Landing): Promise<number> {
  const streamId = await knownStream(stream, store);
  const partitions = Array.from({ length: await stream.partitions() }, (_, partition) => partition);
  const ends = await Promise.all(
    partitions.map(async (partition) => {
      const { start, end } = await stream.bounds(partition);
      const position = (await store.position(streamId, partition)) ?? start;
      // Messages may have been appended and landed since the bounds were read.
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

/** Rejects a stream that the store does not land. */
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
