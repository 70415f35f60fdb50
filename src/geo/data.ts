import type { GeoKind } from './kind.ts';
import type { GeoNames } from './names.ts';
import type { GeoOrigin } from './sources.ts';
import type { GeoTable } from './table.ts';

/** With its origin. Threads share the ranges without a copy. */
export interface GeoKindData {
  readonly kind: GeoKind;
  readonly origin: GeoOrigin;
  readonly files: readonly string[];
  /** State of the source files (`GeoSources.signature`). */
  readonly signature: string;
  /** Display name. */
  readonly format: string;
  /** YYYY-MM-DD, of publication, else of the file's last modification. */
  readonly date: string;
  readonly rows: number;
  /** Rows without an assigned country or AS. */
  readonly skippedRows: number;
  /** Sharing addresses with an earlier row: such an address belongs to both keys. */
  readonly overlappingRows: number;
  /** Countries or ASNs with ranges. */
  readonly keys: number;
  readonly rangesV4: number;
  readonly rangesV6: number;
  readonly table: GeoTable;
  /** Absent if the files have none. */
  readonly names?: GeoNames;
}

/** Use `geoDatabase` to access it. */
export interface GeoData {
  /** Changes with the content of either kind. */
  readonly version: string;
  readonly country: GeoKindData;
  readonly asn: GeoKindData;
}
