/** Which lists and keys the entries of a feed come from (SPEC D10.21). */

/** What one list or key puts into a feed. */
export interface Share {
  /** What people call it; never a UUID. */
  readonly name: string;
  /** Each rule for an address or network is one, a country or ASN as many as it has networks; neighbours are not put together. */
  readonly entries: number;
}

/** The largest first; those that are not among them as a sum. */
export interface Shares {
  readonly largest: readonly Share[];
  readonly others: { readonly count: number; readonly entries: number };
}

export interface FeedShares {
  readonly lists: Shares;
  readonly keys: Shares;
  /** How many rules were looked at, the newest of each list first, where there are more than can be; null: all. */
  readonly ofRules: number | null;
}

/** Lists and keys that are named. */
const MOST_NAMED = 10;
/** Of them in a sentence. */
const MOST_SAID = 3;

/** The shares of all that has entries; of equal ones, by name. */
export function sharesOf(all: readonly Share[]): Shares {
  const sorted = all.filter(({ entries }) => entries > 0).sort((a, b) => b.entries - a.entries || (a.name < b.name ? -1 : 1));
  return { largest: sorted.slice(0, MOST_NAMED), others: sumOf(sorted.slice(MOST_NAMED)) };
}

const sumOf = (shares: readonly Share[]) => ({ count: shares.length, entries: shares.reduce((sum, { entries }) => sum + entries, 0) });

/** The shares in a sentence or two, for a refusal and for people. */
export function sharesText({ lists, keys, ofRules }: FeedShares): string {
  const of = ofRules === null ? '' : `, of ${ofRules} rules that were looked at`;
  return `Before neighbours are put together${of}, by list: ${said(lists)}; by key: ${said(keys)}.`;
}

function said({ largest, others }: Shares): string {
  const named = largest.slice(0, MOST_SAID).map(({ name, entries }) => `${name} ${entries}`);
  const rest = sumOf(largest.slice(MOST_SAID));
  const [count, entries] = [rest.count + others.count, rest.entries + others.entries];
  return [...named, ...(count > 0 ? [`${count} more ${entries}`] : [])].join(', ') || 'none';
}
