import type { Stream, StreamReader } from '../ports/stream.ts';
import { replacedStream } from './fatal-landing.ts';
import { landingFaults } from './landing-status.ts';
import { type LandingParts, type LandingStore, landPartition, partitionName } from './partition.ts';
import { pause, retrying } from './retry.ts';

/** How often the stream's identity and the owned partitions are looked at again, ms. */
const REVIEW = 1000;
/** The name of the part whose faults concern every partition. */
const STREAM = 'stream';

/** What the consumer lands, and where. */
export interface ConsumerOptions extends LandingParts {
  readonly stream: Stream;
}

/**
 * Lands the stream in the store (spec 6): reads from the store's own position, writes rules and position in one fenced
 * transaction, keeps what cannot be understood as dead letters. Trouble with an engine is retried; another stream than the store
 * knows, or a position outside the stream, halts landing until a person has acted. Nothing is ever skipped.
 */
export function startConsumer({ stream, store, clock, log, debug, onTraced }: ConsumerOptions) {
  const stop = new AbortController();
  const faults = landingFaults(log);
  /** When the oldest message of each partition was appended that was read and has not landed, ms since 1970. */
  const oldest = new Map<number, number>();
  let landed = 0;
  const done = retrying(STREAM, joinAndLand, faults, clock, stop.signal);

  /** One membership of the group: lands the partitions that it owns, each by itself, until the consumer stops or the membership is lost. */
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
              // Whoever owns it now tells what waits.
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

  /** Whether the stream is still the one that was joined. Also false while that cannot be told: nothing more is started then. */
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
    const work = () =>
      landPartition({ streamId, partition, stream, reader, store, clock, log, debug, onTraced, ...signs, stop: stop.signal });
    return retrying(part, work, faults, clock, stop.signal);
  }

  return {
    /** How landing goes. */
    status: faults.status,
    /** When the oldest message was appended that was read and has not landed, ms since 1970; undefined when there is none. */
    oldest: () => (oldest.size === 0 ? undefined : Math.min(...oldest.values())),
    /** How many messages it has landed, dead letters included. */
    landed: () => landed,
    /** Ends after the transaction that runs now. */
    async close() {
      stop.abort();
      await done;
    },
  };
}

/** The id of the stream. Throws a Halt when the store has landed other streams only. */
async function identify(stream: Stream, store: LandingStore): Promise<string> {
  const [streamId, known] = [await stream.id(), await store.positionStreams()];
  if (known.length > 0 && !known.includes(streamId)) throw replacedStream(known.join(', '), streamId);
  return streamId;
}
