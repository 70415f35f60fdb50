/** At start-up (SPEC D14.6): bouncers may enforce all of it. */

import { readLog } from './decision-log-codec.ts';
import { type DecisionKey, keyAt, type NetworkKey, nameOf, networkKey, networksOf } from './network-key.ts';
import type { PublishedNetworks } from './published-networks.ts';

export interface RestoredLog {
  readonly networks: PublishedNetworks;
  /** Deletions, oldest first, whole seconds. */
  readonly deleted: Map<DecisionKey, number>;
  /** Earlier leases of some bouncers, whole seconds. */
  readonly reannounce: readonly (readonly [second: number, key: DecisionKey])[];
  readonly bytes: number;
}

/** Oldest first; `second` is now. */
export function restoreLog(records: Iterable<Uint8Array>, second: number): RestoredLog {
  const published = new Map<DecisionKey, number>();
  const deleted = new Map<DecisionKey, number>();
  const reannounce: [number, DecisionKey][] = [];
  let bytes = 0;
  for (const record of records) {
    bytes += record.length;
    for (const { key, isDeleted, second: at } of readLog(record)) {
      const before = published.get(key);
      deleted.delete(key);
      if (isDeleted) {
        published.delete(key);
        deleted.set(key, at);
      } else {
        published.set(key, at);
      }
      if (before !== undefined && before !== at && before > second) reannounce.push([before, key]);
    }
  }
  const names = [...new Set(published.keys().map(nameOf))].filter((name) => name !== '');
  const named = names.length === 0 ? undefined : withNames(published.keys(), (key) => deleted.set(key, second));
  const { v4, v6 } = networksOf(named?.values() ?? published.keys());
  const count = v4.length + v6.length;
  const networks: PublishedNetworks = { v4, v6, until: new Float64Array(count), lists: new Int32Array(count), names };
  const numbers = new Map(names.map((name, at) => [name, at + 1]));
  for (let i = 0; i < count; i++) {
    const network = keyAt(networks, i);
    const key = named?.get(network) ?? network;
    networks.until[i] = published.get(key)!;
    networks.lists[i] = numbers.get(nameOf(key)) ?? 0;
  }
  return { networks, deleted, reannounce, bytes };
}

/** If two processes announced different names, the first one counts as deleted. */
function withNames(keys: Iterable<DecisionKey>, onDuplicate: (key: DecisionKey) => void): Map<NetworkKey, DecisionKey> {
  const named = new Map<NetworkKey, DecisionKey>();
  for (const key of keys) {
    const network = networkKey(key);
    const other = named.get(network);
    if (other !== undefined) onDuplicate(other);
    named.set(network, key);
  }
  return named;
}
