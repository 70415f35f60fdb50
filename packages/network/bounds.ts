/** First and last address of a network. IPv6 addresses are four 32-bit words, most significant first. */

const ONES = 0xffff_ffff;

/** Host bits of each prefix length in the four words of an IPv6 address. IPv4 uses the first word. */
const HOST_MASKS = Uint32Array.from({ length: 4 * 129 }, (_, i) => {
  const bits = (i >> 2) - 32 * (i & 3);
  if (bits <= 0) return ONES;
  // JavaScript treats a shift by 32 as a shift by 0.
  return bits >= 32 ? 0 : ONES >>> bits;
});

export function firstAddressV4(address: number, prefix: number): number {
  return (address & ~HOST_MASKS[4 * prefix]) >>> 0;
}

export function lastAddressV4(address: number, prefix: number): number {
  return (address | HOST_MASKS[4 * prefix]) >>> 0;
}

export function maskHostBits(words: Uint32Array, at: number, prefix: number): void {
  for (let i = 0; i < 4; i++) words[at + i] &= ~HOST_MASKS[4 * prefix + i];
}

/** The last address of the network at `words[at]`, into `into[to]`. */
export function lastAddressV6(words: ArrayLike<number>, at: number, prefix: number, into: Uint32Array, to = 0): void {
  for (let i = 0; i < 4; i++) into[to + i] = words[at + i] | HOST_MASKS[4 * prefix + i];
}
