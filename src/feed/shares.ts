export interface Share {
  /** Display name; never a UUID. */
  readonly name: string;
  /** A rule for an address or network counts once, a country or ASN once per network; neighbours are not merged. */
  readonly entries: number;
}

/** The largest, and the sum of the rest. */
export interface Shares {
  readonly largest: readonly Share[];
  readonly others: { readonly count: number; readonly entries: number };
}

export interface FeedShares {
  readonly lists: Shares;
  readonly keys: Shares;
  /** The newest per list, if there are too many; null: all. */
  readonly ofRules: number | null;
}

const MOST_NAMED = 10;
const MOST_SAID = 3;

/** By entries, then name; without zeros. */
export function sharesOf(all: readonly Share[]): Shares {
  const sorted = all.filter(({ entries }) => entries > 0).sort((a, b) => b.entries - a.entries || (a.name < b.name ? -1 : 1));
  return { largest: sorted.slice(0, MOST_NAMED), others: sumOf(sorted.slice(MOST_NAMED)) };
}

const sumOf = (shares: readonly Share[]) => ({ count: shares.length, entries: shares.reduce((sum, { entries }) => sum + entries, 0) });

/** One or two sentences, for a 413 and for people. */
export function sharesText({ lists, keys, ofRules }: FeedShares): string {
  const of = ofRules === null ? '' : `, from the newest ${ofRules} rules`;
  return `Before neighbours are merged${of}, by list: ${said(lists)}; by key: ${said(keys)}.`;
}

function said({ largest, others }: Shares): string {
  const named = largest.slice(0, MOST_SAID).map(({ name, entries }) => `${name} ${entries}`);
  const rest = sumOf(largest.slice(MOST_SAID));
  const [count, entries] = [rest.count + others.count, rest.entries + others.entries];
  return [...named, ...(count > 0 ? [`${count} more ${entries}`] : [])].join(', ') || 'none';
}
