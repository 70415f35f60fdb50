import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { formatNetwork } from '@weir/network/format.ts';
import { parseNetwork } from '@weir/network/parse.ts';

/** An IPv4 address, or an IPv6 /64. IPv4-mapped IPv6 is IPv4. */
export function sourceOf(address: string): string {
  const bare = address.replace(/%.*$/, '');
  const host = parseNetwork(bare);
  const network = typeof host === 'string' || host.family === 4 ? host : parseNetwork(`${bare}/64`);
  return typeof network === 'string' ? bare : formatNetwork(network);
}

/** IPv4-mapped IPv6 counts as IPv4. */
export function networks(list: readonly string[]): (address: string) => boolean {
  const known = new BlockList();
  for (const network of list) {
    const [address, prefix] = network.split('/');
    const family = isIPv6(address!) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) known.addAddress(address!, family);
    else known.addSubnet(address!, Number(prefix), family);
  }
  return (address) => {
    const bare = address.replace(/%.*$/, '');
    const family = isIP(bare);
    return family !== 0 && known.check(bare, family === 6 ? 'ipv6' : 'ipv4');
  };
}

/** The peer address or, from a trusted proxy, the last address in X-Forwarded-For that is not trusted. IPv4-mapped IPv6 is IPv4. */
export function clientAddress(trusted: readonly string[]): (request: IncomingMessage) => string {
  if (trusted.length === 0) return ({ socket }) => plain(socket.remoteAddress);
  const isTrusted = networks(trusted);
  return ({ socket, headers }) => {
    let address = plain(socket.remoteAddress);
    const forwarded = String(headers['x-forwarded-for'] ?? '').split(',');
    while (forwarded.length > 0 && isIP(address) !== 0 && isTrusted(address)) {
      const before = plain(forwarded.pop()!.trim());
      if (isIP(before) === 0) break;
      address = before;
    }
    return address;
  };
}

const MAPPED = '::ffff:';
const plain = (address = ''): string => (address.startsWith(MAPPED) && address.includes('.') ? address.slice(MAPPED.length) : address);
