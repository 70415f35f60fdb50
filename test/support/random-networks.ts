import { formatNetwork } from '@weir/network/format.ts';
import type { Random } from './random.ts';

/** The text of a random network. */
type NetworkSource = (random: Random) => string;

const v4 = (address: number, prefix: number) => formatNetwork({ family: 4, address, prefix });

/** Any IPv4 host. */
export const randomV4Host: NetworkSource = (random) => v4(random.bits(), 32);

/** Hosts of one /11, so that with a million of them two in five addresses are listed. */
export const denseV4Host: NetworkSource = (random) => v4(0x0a00_0000 + random.below(2 ** 21), 32);

/** /8 to /32: three in ten are hosts, and each shorter prefix is 0.7 times as frequent as the next longer one. */
export const mixedV4: NetworkSource = (random) => {
  let prefix = 32;
  while (prefix > 8 && random.below(10) < 7) prefix--;
  return v4(random.bits(), prefix);
};

/** Hosts, /64s, sites from /48 to /56 and, one in 200, a whole /32, of 65,536 providers. */
export const mixedV6: NetworkSource = (random) => {
  const address = [0x2000_0000 + random.below(0x10000) * 0x1000, random.bits(), random.bits(), random.bits()] as const;
  const prefix = random.below(200) === 0 ? 32 : random.pick([128, 128, 128, 128, 128, 64, 64, 64, 56, 48]);
  return formatNetwork({ family: 6, address, prefix });
};

/** One network a line. */
export function networkText(source: NetworkSource, random: Random, count: number): string {
  return Array.from({ length: count }, () => `${source(random)}\n`).join('');
}
