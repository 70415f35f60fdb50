/** Which country and ASN one address belongs to, found by going through the ranges once: a millisecond or two, and nothing is kept. */
import type { Network } from '@weir/network/network.ts';
import type { Locate } from '../ports/geo.ts';
import type { Target } from '../rule.ts';
import type { GeoData } from './data.ts';
import { countryText } from './kind.ts';
import { nameOf } from './names.ts';
import { attributionOf } from './status.ts';
import { type FamilyTable, familyTables } from './table.ts';

/** Where a target is: of a network its first address, and where ranges overlap the smallest; of an ASN itself; null: of a country. */
export function locate(data: GeoData, target: Target): Locate | null {
  if (target.kind === 'country') return null;
  const { country, asn } = target.kind === 'asn' ? { country: null, asn: target.asn } : addressIn(data, target.network);
  const asnName = asn === null ? null : nameOf(data.asn.names, asn);
  return { country, asn, asnName, attribution: asn === null ? null : attributionOf(data.asn) };
}

function addressIn({ country, asn }: GeoData, network: Network): Pick<Locate, 'country' | 'asn'> {
  const family = network.family === 4 ? 'v4' : 'v6';
  const words = wordsOf(network);
  const code = keyAt(familyTables(country.table)[family], words);
  return { country: code === undefined ? null : countryText(code), asn: keyAt(familyTables(asn.table)[family], words) ?? null };
}

const wordsOf = (network: Network): readonly number[] => (network.family === 4 ? [network.address >>> 0] : [...network.address]);

function keyAt({ keys, offsets, ranges }: FamilyTable, address: readonly number[]): number | undefined {
  const width = address.length;
  let found = -1;
  for (let at = 0; at < ranges.length; at += 2 * width) {
    if (compare(ranges, at, address) > 0 || compare(ranges, at + width, address) < 0) continue;
    // Of ranges around it the one that begins last.
    if (found < 0 || compare(ranges, found, wordsAt(ranges, at, width)) < 0) found = at;
  }
  if (found < 0) return undefined;
  const range = found / (2 * width);
  let low = 0;
  for (let high = keys.length; low < high; ) {
    const middle = (low + high) >>> 1;
    if (offsets[middle + 1]! <= range) low = middle + 1;
    else high = middle;
  }
  return keys[low];
}

const wordsAt = (words: Uint32Array, at: number, width: number): number[] => [...words.subarray(at, at + width)];

function compare(words: Uint32Array, at: number, address: readonly number[]): number {
  for (let i = 0; i < address.length; i++) if (words[at + i] !== address[i]) return words[at + i]! < address[i]! ? -1 : 1;
  return 0;
}
