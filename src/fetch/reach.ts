/** Addresses allowed for downloads: an address set by a tenant must not lead into private networks. */
import { addressSet, overlaps } from '@weir/network/address-set.ts';
import { formatAddress } from '@weir/network/format.ts';
import type { Network } from '@weir/network/network.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import { NOT_GLOBALLY_REACHABLE } from '@weir/network/special-purpose.ts';

/** Returns why an address is not allowed (sentence fragment after the address); undefined if it is. */
export type Reach = (address: string) => string | undefined;

/** For addresses set by the operator of the service. */
export const ANYWHERE: Reach = () => undefined;

/**
 * Not a single receiver on the Internet: special purposes, multicast (RFC 1112, RFC 4291), and two deprecated networks: 6to4 relays (RFC
 * 7526), site-local addresses (RFC 3879).
 */
const FORBIDDEN = [...NOT_GLOBALLY_REACHABLE, '224.0.0.0/4', 'ff00::/8', '192.88.99.0/24', 'fec0::/10'];

/** Prefix usable by every NAT64 (RFC 6052), and prefix lengths of others. */
const WELL_KNOWN_NAT64 = '64:ff9b::/96';
export const NAT64_LENGTHS: readonly number[] = [32, 40, 48, 56, 64, 96];

/**
 * Addresses allowed for sources and webhooks: the public Internet except this machine's own addresses, and exceptions allowed by the
 * operator (SPEC D20.1, D47.4, D47.5). Within a NAT64 prefix the embedded IPv4 address is checked; in other forms with an embedded address,
 * both are. `own`: addresses of this machine. Invalid networks are ignored.
 */
export function sourceReach(allowed: readonly string[], nat64: readonly string[], own: readonly string[] = []): Reach {
  const [allowedSet, forbidden] = [addressSet(networksOf(allowed)), addressSet(networksOf([...FORBIDDEN, ...own]))];
  const prefixes = networksOf([WELL_KNOWN_NAT64, ...nat64]).sort((a, b) => b.prefix - a.prefix);
  return (address) => {
    const network = parseNetwork(address);
    if (typeof network === 'string') return 'is not a valid address';
    const prefix = prefixes.find((each) => overlaps(addressSet([each]), network));
    const reached = prefix === undefined ? network : translated(network, prefix.prefix);
    if (overlaps(allowedSet, network) || overlaps(allowedSet, reached)) return undefined;
    const wrong = [reached, ...carried(reached)].find((each) => overlaps(forbidden, each));
    return wrong && `is in a private, special or own network (${formatAddress(wrong)})`;
  };
}

const networksOf = (texts: readonly string[]): Network[] => texts.map(parseNetwork).filter((network) => typeof network !== 'string');

const v4 = (address: number): Network => ({ family: 4, address: address >>> 0, prefix: 32 });

/** The IPv4 address behind a NAT64 prefix of this length (RFC 6052 2.2); skips the ninth byte, always zero. */
function translated(network: Network, length: number): Network {
  if (network.family === 4) return network;
  const bytes = Buffer.alloc(16);
  for (const [i, word] of network.address.entries()) bytes.writeUInt32BE(word, 4 * i);
  const behind = [...bytes.subarray(length / 8)].filter((_, i) => length / 8 + i !== 8);
  return v4(Buffer.from(behind).readUInt32BE(0));
}

/**
 * IPv4 addresses embedded in 6to4 (RFC 3056), ISATAP (RFC 5214), IPv4-compatible (RFC 4291) and IPv4-translated (RFC 2765) addresses.
 * Teredo is special anyway.
 */
function carried(network: Network): Network[] {
  if (network.family === 4) return [];
  const [a, b, c, d] = network.address;
  if (a >>> 16 === 0x2002) return [v4((a << 16) | (b >>> 16)), ...(isIsatap(c) ? [v4(d)] : [])];
  return isIsatap(c) || ((a | b) === 0 && (c === 0 || c === 0xffff0000)) ? [v4(d)] : [];
}

/** Ignores the "universal" and "group" bits of the interface identifier. */
const isIsatap = (word: number) => (word & ~0x03000000) === 0x5efe;
