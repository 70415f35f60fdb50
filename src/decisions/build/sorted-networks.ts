/** Networks sorted, IPv4 first. */
import { firstAddressV4, maskHostBits } from '@weir/network/bounds.ts';
import { type CidrsV4, type CidrsV6, compareCidrsV4, compareCidrsV6 } from '@weir/network/coalesce.ts';
import type { Network } from '@weir/network/network.ts';
import { firstReaching } from '@weir/network/search.ts';
import { lastHost } from '@weir/network/sets/nesting.ts';
import { compareV6 } from '@weir/network/words.ts';

export interface SortedNetworks {
  readonly v4: CidrsV4;
  readonly v6: CidrsV6;
}

/** Per network its index in `others`, or -1. One pass over both. */
export function placesIn(others: SortedNetworks, { v4, v6 }: SortedNetworks): Int32Array {
  const places = new Int32Array(v4.length + v6.length).fill(-1);
  for (let i = 0, j = 0; i < others.v4.length && j < v4.length; ) {
    const sign = compareCidrsV4(others.v4, i, v4, j);
    if (sign === 0) places[j] = i;
    if (sign <= 0) i++;
    if (sign >= 0) j++;
  }
  for (let i = 0, j = 0; i < others.v6.length && j < v6.length; ) {
    const sign = compareCidrsV6(others.v6, i, v6, j);
    if (sign === 0) places[v4.length + j] = others.v4.length + i;
    if (sign <= 0) i++;
    if (sign >= 0) j++;
  }
  return places;
}

/** `to` exclusive. The networks must be disjoint. */
export function placesOverlapping(networks: SortedNetworks, network: Network): { readonly from: number; readonly to: number } {
  const before = placeBefore(networks, network);
  const offset = network.family === 4 ? 0 : networks.v4.length;
  const from =
    before === undefined
      ? offset
      : prefixAt(networks, before) <= network.prefix && isWithin(networks, before, network)
        ? before
        : before + 1;
  const last = placeBefore(networks, lastHost(network));
  return { from, to: Math.max(from, last === undefined ? offset : last + 1) };
}

export function placeOf(networks: SortedNetworks, network: Network): number | undefined {
  const at = placeBefore(networks, network);
  return at !== undefined && prefixAt(networks, at) === network.prefix && isWithin(networks, at, network) ? at : undefined;
}

/** The network around this one. The networks must be disjoint. */
export function placeAround(networks: SortedNetworks, network: Network): number | undefined {
  const at = placeBefore(networks, network);
  return at !== undefined && prefixAt(networks, at) <= network.prefix && isWithin(networks, at, network) ? at : undefined;
}

/** The last network of the same family that starts at or before this one. */
function placeBefore({ v4, v6 }: SortedNetworks, network: Network): number | undefined {
  if (network.family === 4) {
    const above = firstReaching(v4.length, (i) => (v4.addresses[i] - network.address || v4.prefixes[i] - network.prefix) > 0);
    return above === 0 ? undefined : above - 1;
  }
  const words = Uint32Array.from(network.address);
  const above = firstReaching(v6.length, (i) => (compareV6(v6.words, 4 * i, words, 0) || v6.prefixes[i] - network.prefix) > 0);
  return above === 0 ? undefined : v4.length + above - 1;
}

const prefixAt = ({ v4, v6 }: SortedNetworks, at: number) => (at < v4.length ? v4.prefixes[at] : v6.prefixes[at - v4.length]);

function isWithin({ v4, v6 }: SortedNetworks, at: number, network: Network): boolean {
  if (network.family === 4) return firstAddressV4(network.address, v4.prefixes[at]) === v4.addresses[at];
  const first = Uint32Array.from(network.address);
  maskHostBits(first, 0, v6.prefixes[at - v4.length]);
  return compareV6(first, 0, v6.words, 4 * (at - v4.length)) === 0;
}
