import { Consumer } from '@platformatic/kafka';
import { within } from '../../clock.ts';
import { type Cluster, hangUp, surviveErrors } from './cluster.ts';
import { reasonOf } from './fault.ts';

/** A member that is not heard of for this long, ms, loses its partitions: the least that brokers allow unless told otherwise. */
const SESSION = 6000;
/** How long the others are waited for when the partitions are divided anew, ms. */
const REBALANCE = 6000;
/** How often a member is heard of, ms. */
const HEARTBEAT = 1000;
/** How often the number of partitions is looked at, ms. */
const REVIEW = 5000;
/** How long leaving the group may take, ms. */
const LEAVE = 2000;

/**
 * Joins the group, which only divides the partitions of a topic with so many: positions are the store's, nothing is committed. `onAssigned` gets the partitions each time they were divided. Rejects
 * with a readable reason.
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
    // A join is held back until the others have joined too.
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
    /** The partitions that this member owns now. Throws when the membership is lost. */
    owned(): readonly number[] {
      if (lost !== undefined) throw lost;
      return owned;
    },
    /** Whether it owns the partition; unlike `owned` it never throws. */
    owns: (partition: number): boolean => owned.includes(partition),
    leave,
  };
}

/** The group cannot be joined, with the reason. */
export const joinRefused = (group: string, error: unknown): Error =>
  new Error(`the consumer group ${group} cannot be joined: ${reasonOf(error)}`);

/** Tells the topic's number of partitions now and then, whenever the brokers answer. Returns the function that stops it. */
function watchPartitions(cluster: Cluster, onCount: (partitions: number) => void): () => void {
  const look = () =>
    cluster.describe(false).then(
      ({ partitions }) => onCount(partitions),
      () => {},
    );
  const timer = setInterval(() => void look(), REVIEW);
  return () => clearInterval(timer);
}
