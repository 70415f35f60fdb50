/** Addresses as text and as networks. */
import { formatAddress } from '../../address.ts';
import type { ByteString } from '../../bytes.ts';

/** An address as text: IPv6 in the form of RFC 5952, mapped IPv4 as `::ffff:1.2.3.4`. */
export function addressText(address: ByteString): ByteString {
  if (address.length === 4) return formatAddress(address);
  if (address.startsWith('\0\0\0\0\0\0\0\0\0\0\xff\xff')) return `::ffff:${formatAddress(address.slice(12))}`;
  const groups = formatAddress(address).split(':');
  const [at, length] = longestZeros(groups);
  if (length < 2) return groups.join(':');
  return `${groups.slice(0, at).join(':')}::${groups.slice(at + length).join(':')}`;
}

/** The first longest run of groups that are zero. */
function longestZeros(groups: readonly string[]): [at: number, length: number] {
  let best: [number, number] = [0, 0];
  for (let at = 0; at < groups.length; at++) {
    let end = at;
    while (groups[end] === '0') end++;
    if (end - at > best[1]) best = [at, end - at];
    at = Math.max(at, end);
  }
  return best;
}

/** The network of an address. Lengths are unsigned 32-bit and may be too long, which the engine does not check. */
export function networkAddress(address: ByteString, bits4: number, bits6: number): ByteString {
  if (address.length === 4) return mask(address, bits4 === 0 ? 0 : 32 - ((32 - bits4) & 31));
  return mask(address, bits6 > 128 ? 0 : bits6);
}

function mask(address: ByteString, bits: number): ByteString {
  let network = '';
  for (let i = 0; i < address.length; i++) {
    const kept = Math.max(0, Math.min(8, bits - i * 8));
    network += String.fromCharCode(address.charCodeAt(i) & (0xff << (8 - kept)));
  }
  return network;
}
