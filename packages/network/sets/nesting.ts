import { firstAddressV4, lastAddressV4, lastAddressV6, maskHostBits } from '../bounds.ts';
import type { Network } from '../network.ts';

/** All supernets, /0 first, the network itself last. */
export function networksAround(network: Network): Network[] {
  return Array.from({ length: network.prefix + 1 }, (_, prefix): Network => {
    if (network.family === 4) return { family: 4, address: firstAddressV4(network.address, prefix), prefix };
    const words = Uint32Array.from(network.address);
    maskHostBits(words, 0, prefix);
    return v6(words, prefix);
  });
}

export function lastHost(network: Network): Network {
  if (network.family === 4) return { family: 4, address: lastAddressV4(network.address, network.prefix), prefix: 32 };
  const words = new Uint32Array(4);
  lastAddressV6(network.address, 0, network.prefix, words);
  return v6(words, 128);
}

const v6 = (words: Uint32Array, prefix: number): Network => ({ family: 6, address: [words[0], words[1], words[2], words[3]], prefix });
