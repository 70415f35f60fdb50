import { Consumer } from '@platformatic/kafka';
import { within } from '../../clock.ts';
import { type Cluster, hangUp, surviveErrors } from './cluster.ts';
import { reasonOf } from './fault.ts';

/** Silent for this long, a member loses its partitions, ms: the default minimum of brokers. */
const SESSION = 6000;
/** Wait for the other members, ms. */
const REBALANCE = 6000;
/** ms */
const HEARTBEAT = 1000;
/** Checks of the number of partitions, ms. */
const REVIEW = 5000;
/** Limit, ms. */
const LEAVE = 2000;

/**
 * The group only assigns partitions: positions are in the store, nothing is committed. `onAssigned` gets the partitions after each
 * rebalance. Rejects with a readable reason.
 */
export async function joinGroup(cluster: Cluster, group: string, partitions: number, onAssigned: (owned: readonly number[]) => void) {
  const { topic } = cluster;
  let owned: readonly number[] = [];
  let lost: Error | undefined;

  const client = new Consumer({
    ...cluster.connecting,
    groupId: group,
    sessionTimeout: SESSION,
    rebalanceTimeout: REBALANCE,
    heartbeatInterval: HEARTBEAT,
    // The broker answers a join only after the others have joined too.
    requestTimeout: REBALANCE + 4000,
  });
  surviveErrors(client.connections);
  client.topics.track(topic);
  client.on('consumer:group:rebalance', () => {
    owned = [];
  });
  client.on('consumer:group:join', ({ assignments = [] }) => {
    owned = assignments.flatMap((assignment) => assignment.partitions);
    onAssigned(owned);
  });
  client.on('error', (error) => {
    lost = new Error(`the consumer group ${group} is left: ${reasonOf(error)}`);
  });
  const stopReview = watchPartitions(cluster, (count) => {
    if (count !== partitions) lost = new Error(`the topic ${topic} has ${count} partitions now: joining again`);
  });

  async function leave(): Promise<void> {
    stopReview();
    await within(client.close(true), LEAVE, 'the consumer group').catch(() => {});
    hangUp(client.connections);
  }

  try {
    await client.joinGroup({});
  } catch (error) {
    await leave();
    throw joinRefused(group, error);
  }
  return {
    /** Throws if the membership is lost. */
    owned(): readonly number[] {
      if (lost !== undefined) throw lost;
      return owned;
    },
    /** Unlike `owned`, never throws. */
    owns: (partition: number): boolean => owned.includes(partition),
    leave,
  };
}

export const joinRefused = (group: string, error: unknown): Error =>
  new Error(`the consumer group ${group} cannot be joined: ${reasonOf(error)}`);

/** At intervals. Returns a stop function. */
function watchPartitions(cluster: Cluster, onCount: (partitions: number) => void): () => void {
  const look = () =>
    cluster.describe(false).then(
      ({ partitions }) => onCount(partitions),
      () => {},
    );
  const timer = setInterval(() => void look(), REVIEW);
  return () => clearInterval(timer);
}
