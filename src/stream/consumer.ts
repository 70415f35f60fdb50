import type { Stream, StreamReader } from '../ports/stream.ts';
import { replacedStream } from './fatal-landing.ts';
import { landingFaults } from './landing-status.ts';
import { type LandingParts, type LandingStore, landPartition, partitionName } from './partition.ts';
import { pause, retrying } from './retry.ts';

/** Checks of the stream's identity and the owned partitions, ms. */
const REVIEW = 1000;
/** Part name of faults that concern every partition. */
const STREAM = 'stream';

export interface ConsumerOptions extends LandingParts {
  readonly stream: Stream;
}

/**
 * Reads from the store's position and writes rules and position in one fenced transaction (spec 6). Undecodable messages become dead
 * letters. Engine failures are retried; a foreign stream, or a position outside of the stream, halts landing until a person acts. Nothing
 * is ever skipped.
 */
export function startConsumer({ stream, ...parts }: ConsumerOptions) {
  const { store, clock, log } = parts;
  const stop = new AbortController();
  const faults = landingFaults(log);
  /** By partition: the oldest message read but not landed, ms since 1970. */
  const oldest = new Map<number, number>();
  let landed = 0;
  const done = retrying(STREAM, joinAndLand, faults, clock, stop.signal);

  /** Lands each owned partition on its own until the consumer stops or the membership is lost. */
  async function joinAndLand(): Promise<void> {
    const streamId = await identify(stream, store);
    const reader = await stream.join();
    const running = new Map<number, Promise<void>>();
    try {
      for (; !stop.signal.aborted; await pause(REVIEW, clock, stop.signal)) {
        if (!(await isSameStream(streamId))) continue;
        for (const partition of reader.owned()) {
          if (running.has(partition)) continue;
          const landing = startLanding(streamId, reader, partition);
          running.set(
            partition,
            landing.finally(() => {
              running.delete(partition);
              // The new owner reports its lag.
              oldest.delete(partition);
            }),
          );
        }
      }
    } finally {
      await reader.close();
      await Promise.all(running.values());
    }
  }

  /** False if unknown, so nothing more is started. */
  async function isSameStream(streamId: string): Promise<boolean> {
    let present: string;
    try {
      present = await stream.id();
    } catch (error) {
      faults.report(STREAM, { state: 'retrying', reason: (error as Error).message });
      return false;
    }
    if (present !== streamId) throw replacedStream(streamId, present);
    faults.clear(STREAM);
    return true;
  }

  function startLanding(streamId: string, reader: StreamReader, partition: number): Promise<void> {
    const part = partitionName(partition);
    const onProgress = () => faults.clear(part);
    const onRead = (timestamp: number | undefined) => {
      if (timestamp === undefined) oldest.delete(partition);
      else oldest.set(partition, timestamp);
    };
    const onLanded = (messages: number) => {
      landed += messages;
    };
    const signs = { onProgress, onRead, onLanded };
    const work = () => landPartition({ ...parts, streamId, partition, stream, reader, ...signs, stop: stop.signal });
    return retrying(part, work, faults, clock, stop.signal);
  }

  return {
    status: faults.status,
    /** Of the oldest message read but not landed, ms since 1970. */
    oldest: () => (oldest.size === 0 ? undefined : Math.min(...oldest.values())),
    /** Including dead letters. */
    landed: () => landed,
    /** Waits for the current transaction. */
    async close() {
      stop.abort();
      await done;
    },
  };
}

/** Throws FatalLanding if the store holds positions of other streams only. */
async function identify(stream: Stream, store: LandingStore): Promise<string> {
  const [streamId, known] = [await stream.id(), await store.positionStreams()];
  if (known.length > 0 && !known.includes(streamId)) throw replacedStream(known.join(', '), streamId);
  return streamId;
}
