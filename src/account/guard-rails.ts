/** Guard rails (SPEC D7, D62): protected networks and the shortest prefix of a block. */
import { type AddressSet, addressSet, difference, intersection, isEmpty, overlaps, union } from '@weir/network/address-set.ts';
import { formatNetwork } from '@weir/network/format.ts';
import type { Network } from '@weir/network/network.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import { NOT_GLOBALLY_REACHABLE, PRIVATE_USE, REACHABLE_EXCEPTIONS } from '@weir/network/special-purpose.ts';
import { DAY } from '../clock.ts';

/** Named sets. `self`: the addresses of this machine and its proxies; `peers`: those of the workspace's own clients. */
export const NETWORK_SETS = ['private', 'special', 'self', 'peers'] as const;
type NetworkSet = (typeof NETWORK_SETS)[number];

/** An address from which the workspace's own keys or people use weir (SPEC D62.1). */
export interface Peer {
  readonly address: string;
  /** The key, or a person. */
  readonly name: string;
  /** Day, UTC. */
  readonly lastSeen: string;
}

/** Protected after the last use, ms. */
export const PEER_RETENTION = 30 * DAY;
/** Per workspace, pairs of a key and an address. */
export const MOST_PEERS = 500;
/** An address in more workspaces is a shared proxy. */
export const MOST_SHARING = 10;

/** As stored in the workspace; empty: none. */
export const writePeers = (peers: readonly Peer[]): string =>
  peers.length === 0 ? '' : JSON.stringify(peers.map(({ address, name, lastSeen }) => [address, name, lastSeen]));

export const readPeers = (text = ''): Peer[] =>
  text === '' ? [] : (JSON.parse(text) as [string, string, string][]).map(([address, name, lastSeen]) => ({ address, name, lastSeen }));

export interface GuardRails {
  /** Canonical networks and names of NETWORK_SETS; after WARN: only reported. */
  readonly protect: readonly string[];
  /** 0 = any. */
  readonly minPrefixV4: number;
  readonly minPrefixV6: number;
  /** Of a workspace (`readPeers`). */
  readonly peers?: string;
  /** Signals over the workspace's limit wait for approval (SPEC D67.2). */
  readonly signalsWait?: true;
}

/** Before a word: its networks may be blocked, which is reported (SPEC D62.6). */
const WARN = 'warn:';

/** With the networks of `self`. Can be sent to a thread. */
export interface ServiceGuardRails extends GuardRails {
  readonly self: readonly string[];
}

export const NO_GUARD_RAILS: GuardRails = { protect: [], minPrefixV4: 0, minPrefixV6: 0 };

export const areOff = ({ protect, minPrefixV4, minPrefixV6 }: GuardRails): boolean =>
  protect.length === 0 && minPrefixV4 === 0 && minPrefixV6 === 0;

export const MOST_PROTECTED = 1000;

export const PROTECT_RULE = `a list of networks such as 10.0.0.0/8 and of the names ${NETWORK_SETS.join(', ')}, separated by commas; ${WARN} before one only reports blocks`;

export const protectsPeers = ({ protect }: GuardRails): boolean => protect.includes('peers') || protect.includes(`${WARN}peers`);

export function protectedWord(text: string): string | undefined {
  if (text.startsWith(WARN)) {
    const word = text.slice(WARN.length);
    const rest = word.startsWith(WARN) ? undefined : protectedWord(word);
    return rest && WARN + rest;
  }
  if (isNetworkSet(text)) return text;
  const network = parseNetwork(text);
  return typeof network === 'string' ? undefined : formatNetwork(network);
}

/** Addresses excluded from block feeds. */
export interface Guarded extends AddressSet {
  /** Prefix lengths of the widest networks that may be blocked; missing: any. */
  readonly least?: { readonly v4: number; readonly v6: number };
}

export interface BlockGuard {
  readonly protected: Guarded | undefined;
  /** Why a network must not be blocked (SPEC D7.2, D7.3); empty: permitted. */
  faults(network: Network): string[];
  /** Protected networks that overlap the set, as text for people. */
  within(addresses: AddressSet): string[];
  /** `overlaps …`, once at most. */
  hits(network: Network): string[];
  /** Networks whose blocks are only reported (SPEC D62.6). */
  readonly warned: Pick<BlockGuard, 'protected' | 'within' | 'hits'>;
}

/** undefined: no block is only reported. */
export const warningsOf = ({ warned }: BlockGuard) => (warned.protected === undefined ? undefined : warned.hits);

/** The networks of a named set, or those given as networks (`name` undefined). */
interface Part {
  readonly name: NetworkSet | undefined;
  readonly networks: readonly Network[];
  readonly addresses: AddressSet;
  /** Of `peers`: the client of an address. */
  readonly clients?: ReadonlyMap<string, string>;
}

/** Combines workspace and service: the union of networks, the longer prefix. */
export function blockGuards(service: ServiceGuardRails): (own: GuardRails) => BlockGuard {
  const alone = blockGuard(service, service.self);
  // Callers and snapshots reuse the object.
  const known = new WeakMap<GuardRails, BlockGuard>();
  return (own) => {
    if (areOff(own) && !own.peers) return alone;
    let guard = known.get(own);
    if (guard === undefined) {
      const protect = [...new Set([...service.protect, ...own.protect])];
      const minPrefixV4 = Math.max(service.minPrefixV4, own.minPrefixV4);
      const minPrefixV6 = Math.max(service.minPrefixV6, own.minPrefixV6);
      guard = blockGuard({ protect, minPrefixV4, minPrefixV6, ...(own.peers && { peers: own.peers }) }, service.self);
      known.set(own, guard);
    }
    return guard;
  };
}

export function mayBlock(service: ServiceGuardRails): (address: string) => boolean {
  const { faults } = blockGuard(service, service.self);
  return (address) => faults(networkOf(address)).length === 0;
}

function blockGuard({ protect, minPrefixV4, minPrefixV6, peers }: GuardRails, self: readonly string[]): BlockGuard {
  const parts = partsOf(
    protect.filter((word) => !word.startsWith(WARN)),
    { self, peers },
  );
  const warned = partsOf(
    protect.flatMap((word) => (word.startsWith(WARN) ? word.slice(WARN.length) : [])),
    { self, peers },
  );
  const refused = setOf(parts);
  const isLimited = minPrefixV4 > 0 || minPrefixV6 > 0;
  return {
    ...refused,
    protected: isLimited ? { ...(refused.protected ?? addressSet([])), least: { v4: minPrefixV4, v6: minPrefixV6 } } : refused.protected,
    faults(network) {
      const least = network.family === 4 ? minPrefixV4 : minPrefixV6;
      const faults = network.prefix < least ? [`is wider than /${least}, the widest network that may be blocked`] : [];
      return [...faults, ...refused.hits(network)];
    },
    warned: setOf(warned),
  };
}

interface Known {
  readonly self: readonly string[];
  readonly peers: string | undefined;
}

function partsOf(words: readonly string[], known: Known): Part[] {
  const given = words.filter((word) => !isNetworkSet(word));
  const named = words.filter(isNetworkSet).map((name) => namedPart(name, known));
  return given.length === 0 ? named : [...named, partOf(undefined, given)];
}

const setOf = (parts: readonly Part[]): BlockGuard['warned'] => ({
  hits(network) {
    const part = parts.find(({ addresses }) => overlaps(addresses, network));
    return part === undefined ? [] : [`overlaps the protected network ${nameIn(part, network)}`];
  },
  protected: parts.length === 0 ? undefined : union(parts.map(({ addresses }) => addresses)),
  within: (addresses) =>
    parts.flatMap((part) => {
      const common = intersection(addresses, part.addresses);
      return isEmpty(common) ? [] : part.networks.filter((network) => overlaps(common, network)).map((network) => named(part, network));
    }),
});

const isNetworkSet = (word: string): word is NetworkSet => NETWORK_SETS.some((name) => name === word);

function namedPart(name: NetworkSet, { self, peers }: Known): Part {
  if (name === 'self') return partOf(name, self);
  if (name === 'peers') return peersPart(peers);
  if (name === 'private') return partOf(name, PRIVATE_USE);
  const part = partOf(name, NOT_GLOBALLY_REACHABLE);
  return { ...part, addresses: difference(part.addresses, addressSet(REACHABLE_EXCEPTIONS.map(networkOf))) };
}

function peersPart(text: string | undefined): Part {
  const peers = readPeers(text);
  const clients = peers.map(({ address, name, lastSeen }) => [address, `${name}, last used on ${lastSeen}`] as const);
  return {
    ...partOf(
      'peers',
      peers.map(({ address }) => address),
    ),
    clients: new Map(clients),
  };
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

function named({ name, clients }: Part, network: Network | undefined): string {
  const text = network === undefined ? '' : formatNetwork(network);
  const client = clients?.get(text);
  return `${text}${name === undefined ? '' : ` (${name}${client === undefined ? '' : `: ${client}`})`}`;
}
