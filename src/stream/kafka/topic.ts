import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigResourceTypes } from '@platformatic/kafka';
import { hasCode, WeirError } from '../../errors.ts';
import type { Cluster } from './cluster.ts';
import { isAnswer, mayPass, reasonOf } from './fault.ts';
import type { KafkaOptions } from './options.ts';

/** Wait for the brokers at start, ms. */
const START = 10_000;
const PAUSE = 100;

/** STREAM_UNAVAILABLE: the brokers are down; REFUSED: the topic is unusable: it cannot be created, or would lose messages. */
export async function openTopic(cluster: Cluster, options: KafkaOptions): Promise<void> {
  const deadline = Date.now() + START;
  for (let fault: unknown; ; await sleep(PAUSE)) {
    try {
      const names = await cluster.admin.listTopics();
      if (names.includes(options.topic)) {
        await hearLeaders(cluster);
        return await refuseCompaction(cluster);
      }
      await createTopic(cluster, options);
    } catch (error) {
      if (hasCode(error, 'REFUSED')) throw error;
      if (!mayPass(error)) throw unreachable(options, error);
      fault = error;
    }
    if (Date.now() > deadline) throw unreachable(options, fault);
  }
}

const unreachable = ({ brokers }: KafkaOptions, fault: unknown): WeirError =>
  new WeirError('STREAM_UNAVAILABLE', `Kafka at ${brokers.join(', ')}: ${reasonOf(fault ?? 'the created topic does not appear')}`);

async function createTopic({ admin }: Cluster, { topic, partitions, replication, retentionHours }: KafkaOptions): Promise<void> {
  const retention = String(retentionHours * 3_600_000);
  const configs = [
    { name: 'cleanup.policy', value: 'delete' },
    { name: 'retention.ms', value: retention },
  ];
  try {
    await admin.createTopics({ topics: [topic], partitions, replicas: replication ?? -1, configs });
  } catch (error) {
    if (isAnswer(error, 'TOPIC_ALREADY_EXISTS')) return;
    if (mayPass(error)) throw error;
    throw new WeirError(
      'REFUSED',
      `the Kafka topic ${topic} does not exist or is not visible, and cannot be created (${reasonOf(error)}): ` +
        `create it with ${partitions} partitions, cleanup.policy=delete and retention.ms=${retention}, or grant the rights named in docs/kafka.md`,
    );
  }
}

/** A new topic has none at first. */
async function hearLeaders({ admin, topic, describe }: Cluster): Promise<void> {
  const { partitions } = await describe(true);
  const ends = Array.from({ length: partitions }, (_, partitionIndex) => ({ partitionIndex, timestamp: -1n }));
  await admin.listOffsets({ topics: [{ name: topic, partitions: ends }] });
}

/** Compaction keeps only the last message per key, and the key is the workspace. */
async function refuseCompaction({ admin, topic }: Cluster): Promise<void> {
  const resource = { resourceType: ConfigResourceTypes.TOPIC, resourceName: topic, configurationKeys: ['cleanup.policy'] };
  try {
    const [{ configs }] = await admin.describeConfigs({ resources: [resource] });
    const policy = configs.find(({ name }) => name === 'cleanup.policy')?.value ?? '';
    if (policy.includes('compact')) {
      throw new WeirError('REFUSED', `the Kafka topic ${topic} has cleanup.policy=${policy} and would lose messages: set it to delete`);
    }
  } catch (error) {
    if (!isAnswer(error, 'TOPIC_AUTHORIZATION_FAILED')) throw error;
  }
}
