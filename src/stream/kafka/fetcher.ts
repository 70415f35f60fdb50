import type { ConnectionPool, fetchV17 } from '@platformatic/kafka';
import type { StreamRecord } from '../../ports/stream.ts';
import { type Cluster, connectionPool, hangUp } from './cluster.ts';
import { isAnswer, reasonOf } from './fault.ts';
import { decodeBatches } from './record.ts';

/** Per partition, bytes. */
const ANSWER_BYTES = 1_048_576;
/** The first version of Fetch that names a topic by its id. */
const FETCH_BY_ID = 13;

/**
 * A topic created again under the same name has another id and is not read. Each partition has its own connection: a broker answers the
 * requests of a connection in turn, and these are long polls.
 */
export function topicFetcher(cluster: Cluster, topicId: string) {
  const pools = new Map<number, ConnectionPool>();
  let closed = false;

  function poolOf(partition: number): ConnectionPool {
    if (closed) throw new Error('the reader is closed');
    const pool = pools.get(partition) ?? connectionPool(cluster.connecting);
    pools.set(partition, pool);
    return pool;
  }

  /** Closes the connections of all others; their waiting requests reject. */
  function keep(partitions: readonly number[]): void {
    for (const [partition, pool] of pools) {
      if (partitions.includes(partition)) continue;
      hangUp(pool);
      pools.delete(partition);
    }
  }

  return {
    /** From `offset` on, after at most `waitMs`; `next` is the offset after them. */
    async fetch(partition: number, offset: number, waitMs: number): Promise<{ records: StreamRecord[]; next: number }> {
      const api = await cluster.request<fetchV17.FetchRequest, fetchV17.FetchResponse>('Fetch');
      if (api.version < FETCH_BY_ID) throw new Error('the brokers are too old: Kafka 3.5 or newer is needed');
      const connection = await cluster.leader(partition, poolOf(partition));
      const wanted = {
        partition,
        currentLeaderEpoch: -1,
        fetchOffset: BigInt(offset),
        lastFetchedEpoch: -1,
        partitionMaxBytes: ANSWER_BYTES,
      };
      const answer = await api.async(connection, waitMs, 1, ANSWER_BYTES, 0, 0, -1, [{ topicId, partitions: [wanted] }], [], '');
      return decodeBatches(answer.responses[0]?.partitions[0]?.records ?? [], offset);
    },
    keep,
    close(): void {
      closed = true;
      keep([]);
    },
  };
}

/** For the operator of the brokers. */
export function fetchFault(error: unknown, topic: string, topicId: string, partition: number, offset: number): Error {
  if (isAnswer(error, 'OFFSET_OUT_OF_RANGE')) return new Error(`partition ${partition} of the topic ${topic} has no offset ${offset}`);
  if (isAnswer(error, 'UNKNOWN_TOPIC_ID', 'INCONSISTENT_TOPIC_ID')) {
    return new Error(`the topic ${topic} with the id ${topicId} was deleted`);
  }
  return new Error(`partition ${partition} of the topic ${topic} cannot be read: ${reasonOf(error)}`);
}
