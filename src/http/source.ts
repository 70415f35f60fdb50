import { formatNetwork } from '../network/format.ts';
import { parseNetwork } from '../network/parse.ts';

/** What counts as one client: an IPv4 address, or an IPv6 /64. IPv4-mapped IPv6 is IPv4. */
export function sourceOf(address: string): string {
  const bare = address.replace(/%.*$/, '');
  const host = parseNetwork(bare);
  const network = typeof host === 'string' || host.family === 4 ? host : parseNetwork(`${bare}/64`);
  return typeof network === 'string' ? bare : formatNetwork(network);
}
