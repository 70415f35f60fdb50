/** What a rule for a country or an ASN costs a feed. */
import { countV4, countV6 } from '@weir/network/coalesce.ts';
import { V4Ranges, V6Ranges } from '@weir/network/ranges.ts';
import type { GeoDatabase, GeoRanges } from '../ports/geo.ts';
import type { GeoTarget } from '../rule.ts';
import type { Family } from './variant.ts';

/** What people call it. */
export const geoName = (target: GeoTarget): string => (target.kind === 'asn' ? `AS${target.asn}` : `country ${target.country}`);

/** How many networks these ranges have in a family. */
export function countNetworks(ranges: GeoRanges, family: Family): number {
  const [v4, v6] = [new V4Ranges(), new V6Ranges()];
  if (family !== 'v6') v4.pushAll(ranges.v4);
  if (family !== 'v4') v6.pushAll(ranges.v6);
  return countV4(v4) + countV6(v6);
}

/** A country or an ASN, and how many networks it has. */
export interface GeoCost {
  readonly name: string;
  readonly networks: number;
}

/** What a country or an ASN costs a feed of both families. */
export const geoCost = (target: GeoTarget, geo: GeoDatabase): GeoCost => ({
  name: geoName(target),
  networks: countNetworks(geo.ranges(target), 'both'),
});
