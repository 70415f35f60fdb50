/** Geo data: which ranges are behind a country or an ASN. Types only. */
import type { GeoTarget } from '../rule.ts';

/**
 * Ranges behind countries and ASNs. Immutable once loaded; a reload makes a new one with another version.
 * Backed by SharedArrayBuffers, so that any thread can use it without a copy.
 */
export interface GeoDatabase {
  /** Changes with the data: part of every feed's revision. */
  readonly version: string;
  hasAsn(asn: number): boolean;
  /** Inclusive ranges, sorted, without overlap; empty for a country or ASN without any. Views, not copies. */
  ranges(target: GeoTarget): GeoRanges;
}

export interface GeoRanges {
  /** start, end, start, end, … */
  readonly v4: Uint32Array;
  /** Eight words a range: four of the start, four of the end, most significant first. */
  readonly v6: Uint32Array;
}

/** Where an address is, or what an ASN is; null: the data know it not. */
export interface Locate {
  /** ISO 3166, two letters. */
  readonly country: string | null;
  readonly asn: number | null;
  /** What the ASN is called. */
  readonly asnName: string | null;
  /** Whom the licence of the data of ASNs asks to name, with a link, where that is shown. */
  readonly attribution: string | null;
}
