import { WIDE_MAPPED } from './faults.ts';
import type { Network } from './network.ts';
import { parseNetwork } from './parse.ts';
import { splitV4, splitV6 } from './split.ts';

/** Maximum networks per range. */
const MOST = 256;
/** Addresses of an IPv4 /8. */
const ADDRESSES_OF_8 = 2 ** 24;

/** The fewest networks that hold every address from `first` to `last`, in order, and no other; or the fault of the ends (D41.1 for IPv4-mapped ones). */
export function rangeNetworks(first: string, last: string): Network[] | string {
  const [start, end] = [addressOf(first), addressOf(last)];
  if (typeof start === 'string') return `${first}: ${start}`;
  if (typeof end === 'string') return `${last}: ${end}`;
  if (start.length !== end.length) return 'the ends of a range are of one family';
  const differs = start.findIndex((word, i) => word !== end[i]);
  if (differs >= 0 && start[differs] > end[differs]) return 'a range begins with its lower end';
  if (start.length === 1 && `${first}${last}`.includes(':') && end[0] - start[0] >= ADDRESSES_OF_8) return WIDE_MAPPED;
  const words = Uint32Array.of(...start, ...end);
  const prefixes = new Uint8Array(MOST);
  if (start.length === 1) {
    const addresses = new Uint32Array(MOST);
    const count = splitV4(words, 0, { addresses, prefixes }, 0);
    return Array.from({ length: count }, (_, i) => ({ family: 4, address: addresses[i], prefix: prefixes[i] }));
  }
  const sink = { words: new Uint32Array(4 * MOST), prefixes };
  const count = splitV6(words, 0, sink, 0);
  return Array.from({ length: count }, (_, i) => {
    const [a, b, c, d] = sink.words.subarray(4 * i, 4 * i + 4);
    return { family: 6, address: [a, b, c, d], prefix: prefixes[i] };
  });
}

/** Words of an address: one for IPv4, four for IPv6. */
function addressOf(text: string): readonly number[] | string {
  if (text.includes('/')) return 'the ends of a range are addresses';
  const network = parseNetwork(text);
  if (typeof network === 'string') return network;
  return network.family === 4 ? [network.address] : network.address;
}
