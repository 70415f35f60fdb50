/** SPEC D23.40. */
export interface CatalogueRow {
  /** Identifies the row; default name of the list. */
  readonly name: string;
  readonly title: string;
  readonly url: string;
  readonly purpose: 'block' | 'allow';
  readonly paths?: readonly string[];
  /** `name=value` */
  readonly condition?: string;
  /** Seconds. The minimum applies to the complete host. */
  readonly every: number;
  readonly least: number;
  /** One sentence. */
  readonly terms: string;
  readonly mayBeEmpty?: true;
  /** Shortest acceptable prefixes, from experience. */
  readonly minPrefixV4: number;
  readonly minPrefixV6: number;
  /** Never-block networks of services that many use, without customers who rent machines (SPEC D62.7). */
  readonly isRecommended?: true;
  /** Advice before adding it, one sentence. */
  readonly note?: string;
}
