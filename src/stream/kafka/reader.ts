import { type ConnectionPool, Consumer, type fetchV17 } from '@platformatic/kafka';
import { within } from '../../clock.ts';
import type { StreamReader, StreamRecord } from '../../ports/stream.ts';
import { type Cluster, connectionPool, hangUp, surviveErrors } from './cluster.ts';
import { isAnswer, reasonOf } from './fault.ts';
import { decodeBatches } from './record.ts';

/** A member that is not heard of for this long, ms, loses its partitions: the least that brokers allow unless told otherwise. */
const SESSION = 6000;
/** How long the others are waited for when the partitions are divided anew, ms. */
const REBALANCE = 6000;
const HEARTBEAT = 1000;
/** How often the number of partitions is looked at, ms. */
const REVIEW = 5000;
const LEAVE = 2000;
/** What one answer holds of a partition, bytes. */
const ANSWER_BYTES = 1_048_576;
/** How long a broker holds a request for records that are not there yet, ms. */
const LONGEST_WAIT = 1000;
/** The first version of Fetch that names a topic by its id. */
const FETCH_BY_ID = 13;

/**
 * Joins the consumer group, which only divides the partitions: positions are the store's, nothing is committed.
 * Reads the very topic that is there now: one made anew under the same name has another id, and its records are not read.
 */
export async function joinGroup(cluster: Cluster, group: string): Promise<StreamReader> {
  const { topic } = cluster;
  const refused = (error: unknown) => new Error(`the consumer group ${group} cannot be joined: ${reasonOf(error)}`);
  const { id: topicId, partitions } = await cluster.describe(true).catch((error: unknown) => {
    throw refused(error);
  });
  const pools = new Map<number, ConnectionPool>();
  const ahead = new Map<number, StreamRecord[]>();
  let assigned: readonly number[] = [];
  let lost: Error | undefined;
  let closed = false;

  const member = new Consumer({
    ...cluster.connecting,
    groupId: group,
    sessionTimeout: SESSION,
    rebalanceTimeout: REBALANCE,
    heartbeatInterval: HEARTBEAT,
    // A join is held back until the others have joined too.
    requestTimeout: REBALANCE + 4000,
  });
  surviveErrors(member.connections);
  member.topics.track(topic);
  member.on('consumer:group:rebalance', () => {
    assigned = [];
  });
  member.on('consumer:group:join', ({ assignments = [] }) => {
    assigned = assignments.flatMap((assignment) => assignment.partitions);
    for (const partition of pools.keys()) if (!assigned.includes(partition)) release(partition);
  });
  member.on('error', (error) => {
    lost = new Error(`the consumer group ${group} is left: ${reasonOf(error)}`);
  });
  const review = setInterval(() => {
    cluster.describe(false).then(
      (now) => {
        if (now.partitions !== partitions) lost = new Error(`the topic ${topic} has ${now.partitions} partitions now: joining again`);
      },
      () => {},
    );
  }, REVIEW);

  function release(partition: number): void {
    const pool = pools.get(partition);
    if (pool !== undefined) hangUp(pool);
    pools.delete(partition);
    ahead.delete(partition);
  }

  /** A connection of the partition's own: a broker answers the requests of one connection in turn, and these wait. */
  function poolOf(partition: number): ConnectionPool {
    if (closed) throw new Error('the reader is closed');
    const pool = pools.get(partition) ?? connectionPool(cluster.connecting);
    pools.set(partition, pool);
    return pool;
  }

  async function fetch(partition: number, offset: number, waitMs: number): Promise<{ records: StreamRecord[]; next: number }> {
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
  }

  function explain(error: unknown, partition: number, offset: number): Error {
    if (isAnswer(error, 'OFFSET_OUT_OF_RANGE')) return new Error(`partition ${partition} of the topic ${topic} has no offset ${offset}`);
    if (isAnswer(error, 'UNKNOWN_TOPIC_ID', 'INCONSISTENT_TOPIC_ID')) {
      return new Error(`the topic ${topic} with the id ${topicId} is not there any more: it was deleted`);
    }
    return new Error(`partition ${partition} of the topic ${topic} cannot be read: ${reasonOf(error)}`);
  }

  try {
    await member.joinGroup({});
  } catch (error) {
    await close();
    throw refused(error);
  }

  async function close(): Promise<void> {
    closed = true;
    clearInterval(review);
    for (const partition of [...pools.keys()]) release(partition);
    await within(member.close(true), LEAVE, 'the consumer group').catch(() => {});
    hangUp(member.connections);
  }

  return {
    owned() {
      if (closed) return [];
      if (lost !== undefined) throw lost;
      return assigned;
    },
    async read(partition, offset, max, waitMs) {
      const deadline = performance.now() + waitMs;
      const known = ahead.get(partition);
      if (known?.[0]?.offset === offset) return known.splice(0, max);
      for (let at = offset; !closed; ) {
        const left = Math.max(0, deadline - performance.now());
        try {
          const { records, next } = await fetch(partition, at, Math.min(LONGEST_WAIT, Math.ceil(left)));
          if (records.length > 0) {
            ahead.set(partition, records);
            return records.splice(0, max);
          }
          at = next;
        } catch (error) {
          if (closed || !assigned.includes(partition)) break;
          cluster.doubt();
          throw explain(error, partition, offset);
        }
        if (left === 0) break;
      }
      return [];
    },
    close,
  };
}
