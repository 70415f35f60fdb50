import type { GeoKind } from './kind.ts';
import type { GeoTable } from './table.ts';

/** Geo data of one kind with where they came from. Plain and cloneable: any thread can be sent it without a copy of the ranges. */
export interface GeoKindData {
  readonly kind: GeoKind;
  /** The operator's file; undefined = the packaged data. */
  readonly configured: string | undefined;
  readonly files: readonly string[];
  /** Which state of the files this is (`GeoSources.signature`). */
  readonly signature: string;
  readonly format: string;
  /** The day of the data (YYYY-MM-DD): as published, or else the file's modification. */
  readonly date: string;
  /** Rows in use, and rows left out because they name no assigned country or AS. */
  readonly rows: number;
  readonly skippedRows: number;
  /** Rows that share addresses with another one: such an address belongs to both keys. */
  readonly overlappingRows: number;
  /** How many countries or ASNs have ranges. */
  readonly keys: number;
  readonly rangesV4: number;
  readonly rangesV6: number;
  readonly table: GeoTable;
}

/** Both kinds. `geoDatabase` makes a `GeoDatabase` of it in whatever thread it was sent to. */
export interface GeoData {
  readonly version: string;
  readonly country: GeoKindData;
  readonly asn: GeoKindData;
}
