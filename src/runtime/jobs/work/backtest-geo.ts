import type { GeoFields } from '../../../backtest/rule.ts';
import { countryText } from '../../../geo/kind.ts';
import { keyLookup } from '../../../geo/lookup.ts';
import type { GeoTable } from '../../../geo/table.ts';

export interface GeoTables {
  readonly country: GeoTable;
  readonly asn: GeoTable;
}

export const readsGeo = (rules: readonly { readonly expression: string }[]): boolean =>
  rules.some(({ expression }) => /ip\.src\.(?:country|asn)\b/.test(expression));

export function geoFields({ country, asn }: GeoTables): (address: string) => GeoFields {
  const [countryOf, asnOf] = [keyLookup(country), keyLookup(asn)];
  return (address) => {
    const [key, number] = [countryOf(address), asnOf(address)];
    return {
      ...(key === undefined ? {} : { 'ip.src.country': countryText(key) }),
      ...(number === undefined ? {} : { 'ip.src.asn': number }),
    };
  };
}
