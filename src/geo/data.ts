import type { GeoKind } from './kind.ts';
import type { GeoNames } from './names.ts';
import type { GeoOrigin } from './sources.ts';
import type { GeoTable } from './table.ts';

/** Geo data of one kind and their origin. They can be posted to other threads, which share the ranges without a copy. */
export interface GeoKindData {
  readonly kind: GeoKind;
  readonly origin: GeoOrigin;
  readonly files: readonly string[];
  /** The state of the files that were read (`GeoSources.signature`). */
  readonly signature: string;
  /** The name of the files' format, for people. */
  readonly format: string;
  /** The day of the data (YYYY-MM-DD): the day of publication, or else of the file's last modification. */
  readonly date: string;
  /** Rows in use. */
  readonly rows: number;
  /** Rows left out because they name no assigned country or AS. */
  readonly skippedRows: number;
  /** Rows that share addresses with an earlier row: such an address belongs to both keys. */
  readonly overlappingRows: number;
  /** How many countries or ASNs have ranges. */
  readonly keys: number;
  readonly rangesV4: number;
  readonly rangesV6: number;
  readonly table: GeoTable;
  /** What keys are called; absent where the files do not say. */
  readonly names?: GeoNames;
}

/** Geo data of both kinds; `geoDatabase` gives access to them. */
export interface GeoData {
  /** Changes with the content of either kind. */
  readonly version: string;
  readonly country: GeoKindData;
  readonly asn: GeoKindData;
}
