/**
 * One IP network: a family, a first address, a prefix length. Host bits are always zero.
 * IPv4 addresses are unsigned 32-bit numbers; IPv6 addresses four of them, most significant first.
 */
export type Network =
  | { readonly family: 4; readonly address: number; readonly prefix: number }
  | { readonly family: 6; readonly address: readonly [number, number, number, number]; readonly prefix: number };
