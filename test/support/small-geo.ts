import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Settings that name geo data of a few rows, written into `folder`: a start without the packaged million. */
export function smallGeo(folder: string): { GEO_COUNTRY_FILE: string; GEO_ASN_FILE: string } {
  const [GEO_COUNTRY_FILE, GEO_ASN_FILE] = ['country.csv', 'asn.csv'].map((name) => join(folder, name));
  writeFileSync(GEO_COUNTRY_FILE, '192.0.2.0,192.0.2.255,DE\n');
  writeFileSync(GEO_ASN_FILE, '198.51.100.0,198.51.100.255,64500,Example\n');
  return { GEO_COUNTRY_FILE, GEO_ASN_FILE };
}
