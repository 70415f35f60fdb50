/** Blocked hosts that block feeds serve as networks (SPEC D55). */
import { firstAddressV4, lastAddressV4, lastAddressV6, maskHostBits } from '@weir/network/bounds.ts';
import type { Network } from '@weir/network/network.ts';
import type { Guarded } from '../account/guard-rails.ts';
import type { ListSettings } from '../account/list.ts';

const HOST = { v4: 32, v6: 128 } as const;

/** Prefix lengths at which blocked hosts are served; 32 and 128: as sent. */
export interface HostPrefixes {
  readonly v4: number;
  readonly v6: number;
}

type WidenSettings = Pick<ListSettings, 'widenV4' | 'widenV6'>;

/** The settings of the list, else of the feed; undefined: hosts are served as sent. */
export function hostPrefixes(list: WidenSettings, feed: WidenSettings = list): HostPrefixes | undefined {
  const v4 = list.widenV4 ?? feed.widenV4 ?? HOST.v4;
  const v6 = list.widenV6 ?? feed.widenV6 ?? HOST.v6;
  return v4 === HOST.v4 && v6 === HOST.v6 ? undefined : { v4, v6 };
}

/** Whether the rules of each list are needed separately: for a quorum, or because hosts of a list are widened. */
export const needsLists = (head: { readonly quorum: unknown; readonly lists: readonly { readonly hosts?: HostPrefixes | undefined }[] }) =>
  head.quorum !== undefined || head.lists.some(({ hosts }) => hosts !== undefined);

/** Widens the blocked hosts of a list, except those whose network has a protected address or is wider than blocks may be. */
export class Widening {
  readonly hosts: HostPrefixes;
  readonly #guarded: Guarded | undefined;
  readonly #ends = new Uint32Array(8);

  constructor({ v4, v6 }: HostPrefixes, guarded: Guarded | undefined) {
    const { least = { v4: 0, v6: 0 } } = guarded ?? {};
    this.hosts = { v4: v4 < least.v4 ? HOST.v4 : v4, v6: v6 < least.v6 ? HOST.v6 : v6 };
    this.#guarded = guarded;
  }

  /** The prefix length at which a blocked network is served. */
  v4(address: number, prefix: number): number {
    const { v4 } = this.hosts;
    if (prefix !== HOST.v4 || v4 === HOST.v4) return prefix;
    return this.#guarded?.v4.overlaps(firstAddressV4(address, v4), lastAddressV4(address, v4)) ? prefix : v4;
  }

  /** As `v4`, for the address at `words[at]`. */
  v6(words: ArrayLike<number>, at: number, prefix: number): number {
    const { v6 } = this.hosts;
    if (prefix !== HOST.v6 || v6 === HOST.v6) return prefix;
    if (this.#guarded === undefined) return v6;
    const ends = this.#ends;
    for (let word = 0; word < 4; word++) ends[word] = words[at + word];
    maskHostBits(ends, 0, v6);
    lastAddressV6(ends, 0, v6, ends, 4);
    return this.#guarded.v6.overlaps(ends, 0) ? prefix : v6;
  }

  /** The network as block feeds serve it. */
  served(network: Network): Network {
    const prefix = network.family === 4 ? this.v4(network.address, network.prefix) : this.v6(network.address, 0, network.prefix);
    return prefix === network.prefix ? network : networkAround(network, prefix);
  }

  equals(other: Widening | undefined): boolean {
    if (other === undefined || other.hosts.v4 !== this.hosts.v4 || other.hosts.v6 !== this.hosts.v6) return false;
    const [own, others] = [this.#guarded, other.#guarded];
    if (own === undefined || others === undefined) return own === others;
    return own === others || (own.v4.changedFrom(others.v4).length === 0 && own.v6.changedFrom(others.v6).length === 0);
  }
}

/** The network with this prefix length around the first address of another. */
export function networkAround(network: Network, prefix: number): Network {
  if (network.family === 4) return { family: 4, address: firstAddressV4(network.address, prefix), prefix };
  const words = Uint32Array.from(network.address);
  maskHostBits(words, 0, prefix);
  const [a, b, c, d] = words;
  return { family: 6, address: [a!, b!, c!, d!], prefix };
}

export const isHostNetwork = ({ family, prefix }: Network): boolean => prefix === (family === 4 ? HOST.v4 : HOST.v6);
