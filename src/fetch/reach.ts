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

/** No single receiver on the Internet: special purposes, and multicast (RFC 1112, RFC 4291). */
const FORBIDDEN = [...NOT_GLOBALLY_REACHABLE, '224.0.0.0/4', 'ff00::/8'];

/**
 * Allows the public Internet, except this machine's own addresses, plus the operator's networks. `own`: addresses of this machine as text.
 * IPv6 addresses with an embedded IPv4 address are checked for both.
 */
export function publicInternet(allowed: readonly Network[], own: readonly string[]): Reach {
  const allowedSet = addressSet(allowed);
  const forbidden = addressSet([...FORBIDDEN, ...own].map(parseNetwork).filter((network) => typeof network !== 'string'));
  return (address) => {
    const network = parseNetwork(address);
    if (typeof network === 'string') return 'is no address that can be judged';
    if (overlaps(allowedSet, network)) return undefined;
    for (const each of [network, ...carried(network)]) {
      if (overlaps(forbidden, each)) return `is in a private, special or own network (${formatAddress(each)})`;
    }
    return undefined;
  };
}

/** The same for networks as text. */
export const sourceReach = (allowed: readonly string[], own: readonly string[] = []): Reach =>
  publicInternet(
    allowed.map(parseNetwork).filter((network) => typeof network !== 'string'),
    own,
  );

/** IPv4 addresses embedded in an IPv6 address: of translators (RFC 6052), 6to4 (RFC 3056), Teredo (RFC 4380), and compatible ones. */
function carried(network: Network): Network[] {
  if (network.family === 4) return [];
  const [a, b, c, d] = network.address;
  const v4 = (address: number): Network => ({ family: 4, address: address >>> 0, prefix: 32 });
  if (a === 0x0064ff9b && b === 0 && c === 0) return [v4(d)];
  if (a >>> 16 === 0x2002) return [v4((a << 16) | (b >>> 16))];
  if (a === 0x20010000) return [v4(~d)];
  if (a === 0 && b === 0 && c === 0) return [v4(d)];
  return [];
}
