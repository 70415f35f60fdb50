import type { GeoDatabase, GeoRanges } from '../ports/geo.ts';
import type { GeoData } from './data.ts';
import { countryKey } from './kind.ts';
import { type FamilyTable, familyTables } from './table.ts';

/** Creates views of the data: no range is copied. */
export function geoDatabase(data: GeoData): GeoDatabase {
  const country = familyTables(data.country.table);
  const asn = familyTables(data.asn.table);
  return {
    version: data.version,
    hasAsn: (number) => indexOfKey(asn.v4.keys, number) >= 0 || indexOfKey(asn.v6.keys, number) >= 0,
    ranges: (target) => (target.kind === 'asn' ? rangesOf(asn, target.asn) : rangesOf(country, countryKey(target.country))),
  };
}

const rangesOf = ({ v4, v6 }: { v4: FamilyTable; v6: FamilyTable }, key: number): GeoRanges => ({
  v4: familyRanges(v4, key, 2),
  v6: familyRanges(v6, key, 8),
});

function familyRanges({ keys, offsets, ranges }: FamilyTable, key: number, wordsPerRange: number): Uint32Array {
  const index = indexOfKey(keys, key);
  return index < 0 ? ranges.subarray(0, 0) : ranges.subarray(offsets[index] * wordsPerRange, offsets[index + 1] * wordsPerRange);
}

/** Binary search; -1 if missing. */
function indexOfKey(keys: Uint32Array, key: number): number {
  let low = 0;
  let high = keys.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    if (keys[middle] === key) return middle;
    if (keys[middle] < key) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
