import { timeUntil } from '../../clock.ts';
import type { StreamReader, StreamRecord } from '../../ports/stream.ts';
import type { Cluster } from './cluster.ts';
import { fetchFault, topicFetcher } from './fetcher.ts';
import { joinGroup, joinRefused } from './group-member.ts';

/** A broker holds a fetch request open without records, ms. */
const LONGEST_WAIT = 1000;

/** Reads the assigned partitions of exactly the current topic. */
export async function openReader(cluster: Cluster, group: string): Promise<StreamReader> {
  const { topic } = cluster;
  const { id: topicId, partitions } = await cluster.describe(true).catch((error: unknown) => {
    throw joinRefused(group, error);
  });
  const fetcher = topicFetcher(cluster, topicId);
  /** By partition. */
  const ahead = new Map<number, StreamRecord[]>();
  let closed = false;

  const member = await joinGroup(cluster, group, partitions, (owned) => {
    fetcher.keep(owned);
    for (const partition of ahead.keys()) if (!owned.includes(partition)) ahead.delete(partition);
  });

  return {
    owned: () => (closed ? [] : member.owned()),
    async read(partition, offset, max, waitMs) {
      const deadline = performance.now() + waitMs;
      const known = ahead.get(partition);
      if (known?.[0]?.offset === offset) return known.splice(0, max);
      for (let at = offset; !closed; ) {
        const left = timeUntil(deadline, performance.now());
        try {
          const { records, next } = await fetcher.fetch(partition, at, Math.min(LONGEST_WAIT, Math.ceil(left)));
          if (records.length > 0) {
            ahead.set(partition, records);
            return records.splice(0, max);
          }
          at = next;
        } catch (error) {
          if (closed || !member.owns(partition)) break;
          cluster.doubt();
          throw fetchFault(error, topic, topicId, partition, offset);
        }
        if (left === 0) break;
      }
      return [];
    },
    async close() {
      closed = true;
      fetcher.close();
      await member.leave();
    },
  };
}
