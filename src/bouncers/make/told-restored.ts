/** What the store holds of what bouncers were told before a start (SPEC D14.6): they may hold all of it. */
import { keyAt, type NetworkKey, nameOf, networkKey, networksOf, type ToldKey } from './network-key.ts';
import { readTold } from './told-log.ts';
import type { ToldNetworks } from './told-networks.ts';

export interface RestoredTold {
  readonly networks: ToldNetworks;
  /** When networks went, oldest first, whole seconds. */
  readonly gone: Map<ToldKey, number>;
  /** Earlier instants until which some bouncers hold a network, whole seconds. */
  readonly dues: readonly (readonly [second: number, key: ToldKey])[];
  readonly bytes: number;
}

/** Reads all records, oldest first; `second` is now. */
export function restoredTold(records: Iterable<Uint8Array>, second: number): RestoredTold {
  const told = new Map<ToldKey, number>();
  const gone = new Map<ToldKey, number>();
  const dues: [number, ToldKey][] = [];
  let bytes = 0;
  for (const record of records) {
    bytes += record.length;
    for (const { key, isGone, second: at } of readTold(record)) {
      const before = told.get(key);
      gone.delete(key);
      if (isGone) {
        told.delete(key);
        gone.set(key, at);
      } else {
        told.set(key, at);
      }
      if (before !== undefined && before !== at && before > second) dues.push([before, key]);
    }
  }
  const names = [...new Set(told.keys().map(nameOf))].filter((name) => name !== '');
  const named = names.length === 0 ? undefined : withNames(told.keys(), (key) => gone.set(key, second));
  const { v4, v6 } = networksOf(named?.values() ?? told.keys());
  const count = v4.length + v6.length;
  const networks: ToldNetworks = { v4, v6, until: new Float64Array(count), lists: new Int32Array(count), names };
  const numbers = new Map(names.map((name, at) => [name, at + 1]));
  for (let i = 0; i < count; i++) {
    const network = keyAt(networks, i);
    const key = named?.get(network) ?? network;
    networks.until[i] = told.get(key)!;
    networks.lists[i] = numbers.get(nameOf(key)) ?? 0;
  }
  return { networks, gone, dues, bytes };
}

/** The name of each network. Two processes may have told one with different names: the other one goes. */
function withNames(keys: Iterable<ToldKey>, goes: (key: ToldKey) => void): Map<NetworkKey, ToldKey> {
  const named = new Map<NetworkKey, ToldKey>();
  for (const key of keys) {
    const network = networkKey(key);
    const other = named.get(network);
    if (other !== undefined) goes(other);
    named.set(network, key);
  }
  return named;
}
