import type { GeoKind } from './kind.ts';
import type { GeoNames } from './names.ts';
import type { GeoOrigin } from './sources.ts';
import type { GeoTable } from './table.ts';

/** Geo data of one kind and their origin. Threads share the ranges without a copy. */
export interface GeoKindData {
  readonly kind: GeoKind;
  readonly origin: GeoOrigin;
  readonly files: readonly string[];
  /** State of the source files (`GeoSources.signature`). */
  readonly signature: string;
  /** Display name of the file format. */
  readonly format: string;
  /** YYYY-MM-DD: day of publication, else of the file's last modification. */
  readonly date: string;
  /** Rows in use. */
  readonly rows: number;
  /** Rows without an assigned country or AS. */
  readonly skippedRows: number;
  /** Rows that share addresses with an earlier row: such an address belongs to both keys. */
  readonly overlappingRows: number;
  /** Number of countries or ASNs with ranges. */
  readonly keys: number;
  readonly rangesV4: number;
  readonly rangesV6: number;
  readonly table: GeoTable;
  /** Display names of keys; absent if the files have none. */
  readonly names?: GeoNames;
}

/** Use `geoDatabase` to access it. */
export interface GeoData {
  /** Changes with the content of either kind. */
  readonly version: string;
  readonly country: GeoKindData;
  readonly asn: GeoKindData;
}
