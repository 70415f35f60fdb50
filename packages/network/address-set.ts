import { lastAddressV4, lastAddressV6 } from './bounds.ts';
import type { CidrsV4, CidrsV6 } from './coalesce.ts';
import type { Network } from './network.ts';
import { V4Ranges, V6Ranges } from './ranges.ts';
import { sizeV6 } from './words.ts';

export interface AddressSet {
  readonly v4: V4Ranges;
  readonly v6: V6Ranges;
}

export function addressSet(networks: Iterable<Network>): AddressSet {
  const set = { v4: new V4Ranges(), v6: new V6Ranges() };
  for (const network of networks) pushNetwork(set, network);
  return set;
}

export function pushNetwork(set: AddressSet, network: Network): void {
  if (network.family === 4) set.v4.pushNetwork(network.address, network.prefix);
  else set.v6.pushNetwork(network.address, 0, network.prefix);
}

export function pushNetworks(set: AddressSet, { v4, v6 }: { readonly v4: CidrsV4; readonly v6: CidrsV6 }): void {
  for (let i = 0; i < v4.length; i++) set.v4.pushNetwork(v4.addresses[i], v4.prefixes[i]);
  for (let i = 0; i < v6.length; i++) set.v6.pushNetwork(v6.words, 4 * i, v6.prefixes[i]);
}

export function union(sets: Iterable<AddressSet>): AddressSet {
  const all = addressSet([]);
  for (const { v4, v6 } of sets) {
    all.v4.pushAll(v4.pairs.subarray(0, 2 * v4.length));
    all.v6.pushAll(v6.words.subarray(0, 8 * v6.length));
  }
  return all;
}

/** Result is merged. Merges both in place. */
export const united = (one: AddressSet, other: AddressSet): AddressSet => ({ v4: one.v4.united(other.v4), v6: one.v6.united(other.v6) });

/** Result is merged. Merges both in place. */
export const difference = (set: AddressSet, other: AddressSet): AddressSet => ({
  v4: set.v4.without(other.v4),
  v6: set.v6.without(other.v6),
});

export const intersection = (one: AddressSet, other: AddressSet): AddressSet => difference(one, difference(one, other));

export const isEmpty = ({ v4, v6 }: AddressSet): boolean => v4.length + v6.length === 0;

export function overlaps(set: AddressSet, network: Network): boolean {
  if (network.family === 4) return set.v4.overlaps(network.address, lastAddressV4(network.address, network.prefix));
  const ends = new Uint32Array(8);
  ends.set(network.address);
  lastAddressV6(network.address, 0, network.prefix, ends, 4);
  return set.v6.overlaps(ends, 0);
}

/** By family; IPv6 with the precision of a double. Merges the set in place. */
export function addressCount({ v4, v6 }: AddressSet): { readonly v4: number; readonly v6: number } {
  v4.merge();
  v6.merge();
  const count = { v4: 0, v6: 0 };
  for (let i = 0; i < v4.length; i += 1) count.v4 += v4.pairs[2 * i + 1] - v4.pairs[2 * i] + 1;
  for (let i = 0; i < v6.length; i += 1) count.v6 += sizeV6(v6.words, 8 * i, v6.words, 8 * i + 4);
  return count;
}
