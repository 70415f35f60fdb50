/** Host bits are always zero. An IPv4 address is an unsigned 32-bit number; an IPv6 address is four of them, most significant first. */
export type Network =
  | { readonly family: 4; readonly address: number; readonly prefix: number }
  | { readonly family: 6; readonly address: readonly [number, number, number, number]; readonly prefix: number };
