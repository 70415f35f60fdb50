/** Guard rails (SPEC D7): protected networks and the shortest prefix of a block. */
import { type AddressSet, addressSet, difference, intersection, isEmpty, overlaps, union } from '@weir/network/address-set.ts';
import { formatNetwork } from '@weir/network/format.ts';
import type { Network } from '@weir/network/network.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import { NOT_GLOBALLY_REACHABLE, PRIVATE_USE, REACHABLE_EXCEPTIONS } from '@weir/network/special-purpose.ts';

/** Named sets. `self`: the addresses of this machine and its proxies. */
export const NETWORK_SETS = ['private', 'special', 'self'] as const;
type NetworkSet = (typeof NETWORK_SETS)[number];

export interface GuardRails {
  /** Canonical networks and names of NETWORK_SETS. */
  readonly protect: readonly string[];
  /** 0 = any. */
  readonly minPrefixV4: number;
  readonly minPrefixV6: number;
}

/** With the networks of `self`. Can be sent to a thread. */
export interface ServiceGuardRails extends GuardRails {
  readonly self: readonly string[];
}

export const NO_GUARD_RAILS: GuardRails = { protect: [], minPrefixV4: 0, minPrefixV6: 0 };

export const areOff = ({ protect, minPrefixV4, minPrefixV6 }: GuardRails): boolean =>
  protect.length === 0 && minPrefixV4 === 0 && minPrefixV6 === 0;

export const MOST_PROTECTED = 1000;

export const PROTECT_RULE = `a list of networks such as 10.0.0.0/8 and of the names ${NETWORK_SETS.join(', ')}, separated by commas`;

export function protectedWord(text: string): string | undefined {
  if (isNetworkSet(text)) return text;
  const network = parseNetwork(text);
  return typeof network === 'string' ? undefined : formatNetwork(network);
}

export interface BlockGuard {
  readonly protected: AddressSet | undefined;
  /** Why a network must not be blocked (SPEC D7.2, D7.3); empty: permitted. */
  faults(network: Network): string[];
  /** Protected networks that overlap the set, as text for people. */
  within(addresses: AddressSet): string[];
}

/** The networks of a named set, or those given as networks (`name` undefined). */
interface Part {
  readonly name: NetworkSet | undefined;
  readonly networks: readonly Network[];
  readonly addresses: AddressSet;
}

/** Combines workspace and service: the union of networks, the longer prefix. */
export function blockGuards(service: ServiceGuardRails): (own: GuardRails) => BlockGuard {
  const alone = blockGuard(service, service.self);
  // Callers and snapshots reuse the object.
  const known = new WeakMap<GuardRails, BlockGuard>();
  return (own) => {
    if (areOff(own)) return alone;
    let guard = known.get(own);
    if (guard === undefined) {
      const protect = [...new Set([...service.protect, ...own.protect])];
      const minPrefixV4 = Math.max(service.minPrefixV4, own.minPrefixV4);
      const minPrefixV6 = Math.max(service.minPrefixV6, own.minPrefixV6);
      guard = blockGuard({ protect, minPrefixV4, minPrefixV6 }, service.self);
      known.set(own, guard);
    }
    return guard;
  };
}

export function mayBlock(service: ServiceGuardRails): (address: string) => boolean {
  const { faults } = blockGuard(service, service.self);
  return (address) => faults(networkOf(address)).length === 0;
}

function blockGuard({ protect, minPrefixV4, minPrefixV6 }: GuardRails, self: readonly string[]): BlockGuard {
  const names = protect.filter(isNetworkSet);
  const given = protect.filter((word) => !isNetworkSet(word));
  const parts = [...names.map((name) => namedPart(name, self)), ...(given.length > 0 ? [partOf(undefined, given)] : [])];
  return {
    protected: parts.length === 0 ? undefined : union(parts.map(({ addresses }) => addresses)),
    faults(network) {
      const least = network.family === 4 ? minPrefixV4 : minPrefixV6;
      const faults = network.prefix < least ? [`is wider than /${least}, the widest network that may be blocked`] : [];
      const part = parts.find(({ addresses }) => overlaps(addresses, network));
      return part === undefined ? faults : [...faults, `overlaps the protected network ${nameIn(part, network)}`];
    },
    within: (addresses) =>
      parts.flatMap((part) => {
        const common = intersection(addresses, part.addresses);
        return isEmpty(common) ? [] : part.networks.filter((network) => overlaps(common, network)).map((network) => named(part, network));
      }),
  };
}

const isNetworkSet = (word: string): word is NetworkSet => NETWORK_SETS.some((name) => name === word);

function namedPart(name: NetworkSet, self: readonly string[]): Part {
  if (name === 'self') return partOf(name, self);
  if (name === 'private') return partOf(name, PRIVATE_USE);
  const part = partOf(name, NOT_GLOBALLY_REACHABLE);
  return { ...part, addresses: difference(part.addresses, addressSet(REACHABLE_EXCEPTIONS.map(networkOf))) };
}

function partOf(name: NetworkSet | undefined, words: readonly string[]): Part {
  const networks = words.map(networkOf);
  return { name, networks, addresses: addressSet(networks) };
}

function networkOf(text: string): Network {
  const network = parseNetwork(text);
  if (typeof network === 'string') throw new Error(`no network: ${text}`);
  return network;
}

const nameIn = (part: Part, network: Network): string =>
  named(
    part,
    part.networks.find((each) => overlaps(addressSet([each]), network)),
  );

const named = ({ name }: Part, network: Network | undefined): string =>
  `${network === undefined ? '' : formatNetwork(network)}${name === undefined ? '' : ` (${name})`}`;
