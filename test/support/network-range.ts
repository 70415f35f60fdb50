import ipaddr from 'ipaddr.js';
import { BITS, type Family, type SlowRange } from '../network/slow-networks.ts';

/** The family and range of a network's or an address's text, read by another library than weir's own code. */
export function rangeOf(text: string): SlowRange & { readonly family: Family } {
  const [address, prefix] = text.includes('/') ? ipaddr.parseCIDR(text) : [ipaddr.parse(text), undefined];
  const family = address.kind() === 'ipv4' ? 4 : 6;
  const start = BigInt(`0x${Buffer.from(address.toByteArray()).toString('hex')}`);
  const hostBits = prefix === undefined ? 0n : BITS[family] - BigInt(prefix);
  return { family, start, end: start + 2n ** hostBits - 1n };
}
