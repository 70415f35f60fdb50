import type { GeoTarget } from '../rule.ts';

/** Immutable: a reload creates a new object with another version. SharedArrayBuffers, so threads use it without a copy. */
export interface GeoDatabase {
  /** Changes with the data; part of every feed's revision. */
  readonly version: string;
  hasAsn(asn: number): boolean;
  /** Inclusive, sorted and disjoint; empty for an unknown target. Views, not copies. */
  ranges(target: GeoTarget): GeoRanges;
}

export interface GeoRanges {
  /** start, end, start, end, … */
  readonly v4: Uint32Array;
  /** Eight words per range: start, end, most significant word first. */
  readonly v6: Uint32Array;
}

export interface Locate {
  /** ISO 3166-1 alpha-2. */
  readonly country: string | null;
  readonly asn: number | null;
  readonly asnName: string | null;
  /** Name and link, which the licence of the ASN data requires. */
  readonly attribution: string | null;
}
