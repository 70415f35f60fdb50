/** The addresses of a feed by network, from the content that is served (SPEC D53). */
import { type AddressSet, addressSet, union } from '@weir/network/address-set.ts';
import { lastAddressV4, lastAddressV6 } from '@weir/network/bounds.ts';
import { type CidrsV4, coalesceV4, coalesceV6 } from '@weir/network/coalesce.ts';
import { formatNetwork } from '@weir/network/format.ts';
import type { Network } from '@weir/network/network.ts';
import { V4Ranges, V6Ranges } from '@weir/network/ranges.ts';
import { firstReaching } from '@weir/network/search.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { AddressSpace, Block, MapNetwork } from '../builder.ts';
import { geoName } from '../geo-cost.ts';
import { activeParts, nextExpiryOf } from '../index/feed-ranges.ts';
import { rulesOfList, type Snapshot } from '../index/snapshot.ts';
import { storedVariant } from '../variant.ts';
import { addressesIn, subtractionsOf } from './content.ts';
import { servedContent } from './render-feed.ts';

const CHILDREN = 256;
const MOST_BLOCKS = 10;
const MOST_NAMED = 5;
/** IPv6 networks are summed by blocks of this prefix length. */
const V6_BLOCK = 32;

/**
 * `guarded`: addresses excluded from every block feed. Rules that expire at `asOf` (whole seconds) or before are excluded. `nextExpiry`: the
 * map is as it is until then.
 */
export function addressSpaceOf(
  snapshot: Snapshot,
  within: MapNetwork,
  asOf: number,
  geo: GeoDatabase,
  guarded: AddressSet | undefined,
): { readonly map: AddressSpace; readonly nextExpiry: number } {
  const variant = storedVariant(snapshot.head.profile);
  const { content, left } = servedContent(snapshot, variant, asOf, geo, guarded);
  const set = addressesIn(content);
  const [one, ...others] = content.classes;
  const networks = one !== undefined && others.length === 0 ? one : { v4: coalesceV4(set.v4), v6: coalesceV6(set.v6) };
  const excluded = subtractionsOf(snapshot, { ...variant, asOf, guarded }, geo);
  const blocks = [...widestV4(networks.v4, within), ...widestV6(networks.v6)];
  const parts = activeParts(snapshot.parts, { asOf, family: variant.family, guarded }, geo);
  const included = parts.filter((_, place) => !left.includes(place));
  const rules = nameRules(blocks, within, snapshot, included, variant.action, geo);
  const named = blocks.map(({ network, set: _, ...block }): Block => ({ network: formatNetwork(network), ...block }));
  const map = {
    name: snapshot.head.profile.name,
    action: variant.action,
    family: variant.family,
    addresses: childCounts(set.v4, within),
    rules,
    protected: childCounts(excluded.guarded?.v4, within),
    neverBlock: childCounts(excluded.allowed?.v4, within),
    widest: named.filter((_, i) => blocks[i]!.network.family === 4),
    v6: named.filter((_, i) => blocks[i]!.network.family === 6),
  };
  return { map, nextExpiry: nextExpiryOf(parts) };
}

function childCounts(ranges: V4Ranges | undefined, { address, prefix }: MapNetwork): number[] {
  const counts = new Array<number>(CHILDREN).fill(0);
  if (ranges === undefined) return counts;
  ranges.merge();
  const { pairs, length } = ranges;
  const size = 2 ** (24 - prefix);
  const last = lastAddressV4(address, prefix);
  for (let i = firstReaching(length, (each) => pairs[2 * each + 1] >= address); i < length && pairs[2 * i] <= last; i++) {
    const [start, end] = [Math.max(pairs[2 * i], address), Math.min(pairs[2 * i + 1], last)];
    for (let child = Math.floor((start - address) / size); child < CHILDREN && address + child * size <= end; child++) {
      const first = address + child * size;
      counts[child]! += Math.min(end, first + size - 1) - Math.max(start, first) + 1;
    }
  }
  return counts;
}

interface Found extends Omit<Block, 'network'> {
  readonly network: Network;
  readonly set: AddressSet;
  rules: number;
  readonly widest: Block['widest'][number][];
}

const found = (network: Network, addresses: number, networks: number): Found => ({
  ...{ network, addresses, networks, rules: 0, widest: [] },
  set: addressSet([network]),
});

/** In the order of their addresses. */
function widestV4({ addresses, prefixes, length }: CidrsV4, { address, prefix }: MapNetwork): Found[] {
  const last = lastAddressV4(address, prefix);
  const inside: number[] = [];
  let widest = 33;
  for (let i = firstReaching(length, (each) => lastAddressV4(addresses[each], prefixes[each]) >= address); i < length; i++) {
    if (addresses[i] > last) break;
    if (inside.length >= MOST_BLOCKS && prefixes[i] >= widest) continue;
    inside.push(i);
    inside.sort((a, b) => prefixes[a] - prefixes[b] || a - b);
    inside.splice(MOST_BLOCKS);
    widest = prefixes[inside.at(-1)!];
  }
  return inside.map((i) => found({ family: 4, address: addresses[i], prefix: prefixes[i] }, 2 ** (32 - prefixes[i]), 1));
}

/** Networks of at most 32 bits, and the /32s of longer ones by the sum of their addresses. */
function widestV6({ words, prefixes, length }: ReturnType<typeof coalesceV6>): Found[] {
  const blocks: { address: number; prefix: number; addresses: number; networks: number }[] = [];
  for (let i = 0; i < length; i++) {
    const [address, prefix] = [words[4 * i], Math.min(prefixes[i], V6_BLOCK)];
    const known = blocks.at(-1);
    const addresses = 2 ** (128 - prefixes[i]);
    if (known?.address === address && known.prefix === prefix) {
      known.addresses += addresses;
      known.networks += 1;
    } else blocks.push({ address, prefix, addresses, networks: 1 });
  }
  return blocks
    .sort((a, b) => b.addresses - a.addresses || a.address - b.address)
    .slice(0, MOST_BLOCKS)
    .map(({ address, prefix, addresses, networks }) => found({ family: 6, address: [address, 0, 0, 0], prefix }, addresses, networks));
}

/** Adds to each block the number of rules with an address of it, and the widest of these. Returns the rules within each child. */
function nameRules(
  blocks: readonly Found[],
  within: MapNetwork,
  snapshot: Snapshot,
  parts: ReturnType<typeof activeParts>,
  role: AddressSpace['action'],
  geo: GeoDatabase,
): number[] {
  const inside = new Array<number>(CHILDREN).fill(0);
  const size = 2 ** (24 - within.prefix);
  const all = union(blocks.map(({ set }) => set));
  const ends = new Uint32Array(8);
  for (const { active, rules } of parts) {
    const list = snapshot.head.lists.find(({ id }) => rulesOfList(snapshot, id) === rules)?.name ?? null;
    const add = (isIn: (set: AddressSet) => boolean, id: number, prefix: number, target: () => string) => {
      for (const block of blocks) {
        if (!isIn(block.set)) continue;
        block.rules += 1;
        const wider = block.widest.findLastIndex((each) => each.prefix <= prefix);
        if (wider + 1 < MOST_NAMED) block.widest.splice(wider + 1, 0, { id, target: target(), prefix, list });
        block.widest.splice(MOST_NAMED);
      }
    };
    const { v4, v6 } = active.tables;
    active.each(v4, role, (row) => {
      const [address, prefix] = [v4.words[row], v4.prefixes[row]];
      const last = lastAddressV4(address, prefix);
      const child = Math.floor((address - within.address) / size);
      if (child >= 0 && child < CHILDREN && last < within.address + (child + 1) * size) inside[child]! += 1;
      const isIn = (set: AddressSet) => set.v4.overlaps(address, last);
      if (isIn(all)) add(isIn, v4.ids[row], prefix, () => formatNetwork({ family: 4, address, prefix }));
    });
    active.each(v6, role, (row) => {
      for (let i = 0; i < 4; i++) ends[i] = v6.words[4 * row + i];
      const prefix = v6.prefixes[row];
      lastAddressV6(ends, 0, prefix, ends, 4);
      const isIn = (set: AddressSet) => set.v6.overlaps(ends, 0);
      const network = () => formatNetwork({ family: 6, address: [ends[0], ends[1], ends[2], ends[3]], prefix });
      if (isIn(all)) add(isIn, v6.ids[row], prefix, network);
    });
    active.eachTarget(role, (target, _tag, row) => {
      const place = { v4: new V4Ranges(), v6: new V6Ranges() };
      place.v4.pushAll(geo.ranges(target).v4);
      place.v6.pushAll(geo.ranges(target).v6);
      // A block is one range: any common address is enough.
      const isIn = ({ v4: one, v6: other }: AddressSet) =>
        (one.length > 0 && place.v4.overlaps(one.pairs[0], one.pairs[1])) || (other.length > 0 && place.v6.overlaps(other.words, 0));
      add(isIn, active.tables.geo.ids[row], -1, () => geoName(target));
    });
  }
  return inside;
}
