import { type initProducerIdV5, type listOffsetsV9, NumericMap, ProduceAcks, type produceV11 } from '@platformatic/kafka';
import { within } from '../../clock.ts';
import type { Message, Stream } from '../../ports/stream.ts';
import { bufferedDraft } from '../buffered-draft.ts';
import { type Appender, openAppender, type PartitionLog } from './appender.ts';
import { type Cluster, connectCluster } from './cluster.ts';
import { reasonOf } from './fault.ts';
import type { KafkaOptions } from './options.ts';
import { openReader } from './reader.ts';
import { partitionOf, toKafkaRecord } from './record.ts';
import { openTopic } from './topic.ts';

/** Of ListOffsets: the oldest message, or the end of the log. */
const EARLIEST = -2n;
const LATEST = -1n;
/** Timeouts of broker requests, and of those for readiness, ms. */
const PATIENCE = 4000;
const PING_PATIENCE = 2000;
/** Of a broker for its replicas, ms: less than the client waits for the broker. */
const REPLICA_PATIENCE = 2500;

/** Creates the topic if it is missing; rejects if no broker answers within 10 s. */
export async function openKafkaStream(options: KafkaOptions): Promise<Stream> {
  const { topic, group = `weir-${topic}` } = options;
  const cluster = connectCluster(options);
  const appenders = new Map<number, Appender>();
  try {
    await openTopic(cluster, options);
  } catch (error) {
    cluster.close();
    throw error;
  }

  /** Rejects with one readable line. */
  async function ask<T>(question: Promise<T>, ms = PATIENCE): Promise<T> {
    try {
      return await within(question, ms, 'the broker');
    } catch (error) {
      cluster.doubt();
      throw new Error(`Kafka (topic ${topic}): ${reasonOf(error)}`);
    }
  }

  function append(partition: number, messages: readonly Message[]): Promise<void> {
    const appender = appenders.get(partition) ?? openAppender(partitionLog(cluster, partition));
    appenders.set(partition, appender);
    return appender.append(messages.map((message) => toKafkaRecord(message, topic, partition)));
  }

  async function publish(messages: readonly Message[]): Promise<void> {
    const shares = Map.groupBy(messages, (message) => partitionOf(message.key, cluster.partitions()));
    await Promise.all([...shares].map(([partition, share]) => append(partition, share)));
  }

  return {
    id: async () => (await ask(cluster.describe(true))).id,
    publish,
    draft: () => bufferedDraft(publish),
    async bounds(partition) {
      const [start, end] = await ask(Promise.all([EARLIEST, LATEST].map((which) => offsetOf(cluster, partition, which))));
      return { start, end };
    },
    partitions: async () => (await ask(cluster.describe(false))).partitions,
    join: () => openReader(cluster, group),
    trim: async () => 0,
    async ping() {
      await ask(cluster.describe(true), PING_PATIENCE);
    },
    async probe() {
      const { leaderless } = await ask(cluster.describe(true), PING_PATIENCE);
      if (leaderless.length > 0) throw new Error(`Kafka (topic ${topic}): no leader for the partitions ${leaderless.join(', ')}`);
    },
    async close() {
      for (const appender of appenders.values()) appender.close();
      cluster.close();
    },
  };
}

/** At EARLIEST or LATEST. */
async function offsetOf(cluster: Cluster, partition: number, timestamp: bigint): Promise<number> {
  const api = await cluster.request<listOffsetsV9.ListOffsetsRequest, listOffsetsV9.ListOffsetsResponse>('ListOffsets');
  const wanted = [{ partitionIndex: partition, currentLeaderEpoch: -1, timestamp }];
  const { topics } = await api.async(await cluster.leader(partition), -1, 0, [{ name: cluster.topic, partitions: wanted }]);
  return Number(topics[0].partitions[0].offset);
}

const partitionLog = (cluster: Cluster, partition: number): PartitionLog => ({
  async newProducer() {
    const api = await cluster.request<initProducerIdV5.InitProducerIdRequest, initProducerIdV5.InitProducerIdResponse>('InitProducerId');
    const { producerId, producerEpoch } = await api.async(await cluster.anyone(), null, 0, -1n, -1);
    return { id: producerId, epoch: producerEpoch };
  },
  async produce(records, { id, epoch }, sequence) {
    try {
      const api = await cluster.request<produceV11.ProduceRequest, produceV11.ProduceResponse>('Produce');
      await api.async(await cluster.leader(partition), ProduceAcks.ALL, REPLICA_PATIENCE, records, {
        producerId: id,
        producerEpoch: epoch,
        sequences: new NumericMap([[`${cluster.topic}:${partition}`, sequence]]),
      });
    } catch (error) {
      cluster.doubt();
      throw error;
    }
  },
});
