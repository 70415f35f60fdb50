import type { GeoTarget } from '../rule.ts';

/**
 * IP ranges of countries and ASNs. Immutable: a reload creates a new object with another version. SharedArrayBuffers, so threads use it
 * without a copy.
 */
export interface GeoDatabase {
  /** Changes with the data; part of every feed's revision. */
  readonly version: string;
  hasAsn(asn: number): boolean;
  /** Inclusive ranges, sorted and disjoint; empty if the target is unknown. Views, not copies. */
  ranges(target: GeoTarget): GeoRanges;
}

export interface GeoRanges {
  /** start, end, start, end, … */
  readonly v4: Uint32Array;
  /** Eight words per range: start, then end, most significant word first. */
  readonly v6: Uint32Array;
}

export interface Locate {
  /** ISO 3166-1 alpha-2. */
  readonly country: string | null;
  readonly asn: number | null;
  readonly asnName: string | null;
  /** Attribution (name and link) that the licence of the ASN data requires. */
  readonly attribution: string | null;
}
