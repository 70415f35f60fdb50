import { DAY } from '../clock.ts';
import type { GeoData, GeoKindData } from './data.ts';
import type { GeoKind } from './kind.ts';

/** Required by the licences of the packaged data; NOTICE has the full text. */
const PACKAGED_ATTRIBUTION: Readonly<Record<GeoKind, string>> = {
  country: 'NRO delegation statistics, https://www.nro.net (CC BY 4.0), compiled by ip-location-db',
  asn: 'RouteViews, https://www.routeviews.org; DB-IP, https://db-ip.com; NRO, https://www.nro.net (CC BY 4.0), merged by ip-location-db',
};

/** Returns null except for the packaged data. */
export const attributionOf = ({ origin, kind }: GeoKindData): string | null => (origin === 'packaged' ? PACKAGED_ATTRIBUTION[kind] : null);

/** Output of `weir geo status`. `now`: ms since 1970. */
export const geoStatus = (data: GeoData, now: number) => ({
  version: data.version,
  country: kindStatus(data.country, now),
  asn: kindStatus(data.asn, now),
});

export type GeoKindStatus = ReturnType<typeof kindStatus>;

const kindStatus = (data: GeoKindData, now: number) => ({
  /** `packaged`, `downloaded`, or the operator's file. */
  source: data.origin === 'own' ? data.files[0] : data.origin,
  files: data.files,
  format: data.format,
  date: data.date,
  /** Full days since `date`. */
  age_days: Math.max(0, Math.floor((now - Date.parse(data.date)) / DAY)),
  rows: data.rows,
  skipped_rows: data.skippedRows,
  overlapping_rows: data.overlappingRows,
  /** Number of countries or ASNs with ranges. */
  keys: data.keys,
  ranges_v4: data.rangesV4,
  ranges_v6: data.rangesV6,
  version: data.table.version,
  attribution: attributionOf(data),
});
