import { countV4, countV6 } from '@weir/network/coalesce.ts';
import { V4Ranges, V6Ranges } from '@weir/network/ranges.ts';
import type { GeoDatabase, GeoRanges } from '../ports/geo.ts';
import type { GeoTarget } from '../rule.ts';
import type { Family } from './variant.ts';

export const geoName = (target: GeoTarget): string => (target.kind === 'asn' ? `AS${target.asn}` : `country ${target.country}`);

export function countNetworks(ranges: GeoRanges, family: Family): number {
  const [v4, v6] = [new V4Ranges(), new V6Ranges()];
  if (family !== 'v6') v4.pushAll(ranges.v4);
  if (family !== 'v4') v6.pushAll(ranges.v6);
  return countV4(v4) + countV6(v6);
}

export interface GeoCost {
  readonly name: string;
  readonly networks: number;
}

export const geoCost = (target: GeoTarget, geo: GeoDatabase): GeoCost => ({
  name: geoName(target),
  networks: countNetworks(geo.ranges(target), 'both'),
});
