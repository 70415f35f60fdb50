/** An address with a mask, prefix length, size or last address in another column (SPEC D40.4). */
import { formatAddress } from '@weir/network/format.ts';
import type { Network } from '@weir/network/network.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import { rangeNetworks } from '@weir/network/range.ts';

export interface Span {
  readonly family: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
}

const bitsOf = (family: 4 | 6): number => (family === 4 ? 32 : 128);

/** Requires consecutive networks. */
export function spanOf(networks: readonly Network[]): Span {
  const [start, end] = [networks[0], networks.at(-1)!];
  return { family: start.family, first: numberOf(start), last: numberOf(end) + (1n << BigInt(bitsOf(end.family) - end.prefix)) - 1n };
}
const numberOf = ({ address }: Network): bigint =>
  typeof address === 'number' ? BigInt(address) : address.reduce((sum, word) => (sum << 32n) | BigInt(word), 0n);

export const isSame = (one: Span, other: Span): boolean => contains(one, other) && contains(other, one);
export const contains = (outer: Span, inner: Span): boolean =>
  outer.family === inner.family && outer.first <= inner.first && inner.last <= outer.last;

export function networksOf({ family, first, last }: Span): Network[] {
  const text = (value: bigint) => {
    if (family === 4) return formatAddress({ family, address: Number(value), prefix: 32 });
    const word = (i: number) => Number((value >> BigInt(96 - 32 * i)) & 0xffff_ffffn);
    return formatAddress({ family, address: [word(0), word(1), word(2), word(3)], prefix: 128 });
  };
  return rangeNetworks(text(first), text(last)) as Network[];
}

/** Beginning at `start`; or the fault, as the end of a sentence about the cell. */
export type ReadExtent = (text: string, start: Pick<Span, 'family' | 'first'>) => Span | string;

const LENGTH = /^\/?(0|[1-9]\d{0,2})$/;
/** A prefix length, or a mask of /8 or longer: not an address. */
export const isLengthOrMask = (text: string): boolean => LENGTH.test(text) || /^255(\.\d{1,3}){3}$/.test(text);

export const readLength: ReadExtent = (text, { family, first }) => {
  const [, digits] = LENGTH.exec(text) ?? [];
  const prefix = Number(digits);
  if (digits === undefined || prefix > bitsOf(family)) return `is no prefix length from 1 to ${bitsOf(family)}`;
  // Unset columns contain 0 too.
  if (prefix === 0) return 'would be all addresses: write ADDRESS/0 if you mean them';
  return spanOfLength(family, first, prefix);
};

function spanOfLength(family: 4 | 6, first: bigint, prefix: number): Span | string {
  const size = 1n << BigInt(bitsOf(family) - prefix);
  return first % size === 0n ? { family, first, last: first + size - 1n } : 'does not make a network of its address: write ADDRESS/LENGTH';
}

/** Mask written as an address, or prefix length. */
export const readMask: ReadExtent = (text, start) => (LENGTH.test(text) ? readLength(text, start) : ofMask(text, start, false));

/** Mask with inverted bits, written as an address. */
export const readWildcard: ReadExtent = (text, start) => ofMask(text, start, true);

function ofMask(text: string, { family, first }: Pick<Span, 'family' | 'first'>, isInverted: boolean): Span | string {
  const mask = text.includes('/') ? 'none' : parseNetwork(text);
  if (typeof mask === 'string' || mask.family !== family) return 'is no mask of this address';
  const all = (1n << BigInt(bitsOf(family))) - 1n;
  const hosts = isInverted ? numberOf(mask) : numberOf(mask) ^ all;
  if ((hosts & (hosts + 1n)) !== 0n) return 'is no mask: its ones do not stand together';
  if (hosts === all) return 'would be all addresses: write ADDRESS/0 if you mean them';
  return spanOfLength(family, first, bitsOf(family) - (hosts === 0n ? 0 : hosts.toString(2).length));
}

/** Ambiguous with a prefix length: fault. */
export const readSize: ReadExtent = (text, { family, first }) => {
  const size = /^[1-9]\d{0,39}$/.test(text) ? BigInt(text) : 0n;
  if (size === 0n) return 'is no number of addresses';
  if (size <= BigInt(bitsOf(family)))
    return 'may be a prefix length or a number of addresses: call its column prefix_length, or write the last address';
  const last = first + size - 1n;
  return last < 1n << BigInt(bitsOf(family)) ? { family, first, last } : 'goes beyond the last address that there is';
};

export const readLast: ReadExtent = (text, { family, first }) => {
  const found = text.includes('/') ? 'must be an address' : parseNetwork(text);
  if (typeof found === 'string') return `is no last address: ${found}`;
  const last = numberOf(found);
  if (found.family !== family) return 'is of another family than the first address';
  return last < first ? 'is lower than the first address' : { family, first, last };
};
