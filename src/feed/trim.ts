/** A feed's trim, for people and programs (SPEC D29.6). */

/** Excluded lists, each with its own entries, or addresses below a raised quorum. */
export type Trimmed =
  | { readonly fit: 'lists'; readonly lists: readonly { readonly name: string; readonly entries: number }[] }
  | {
      readonly fit: 'sources';
      /** The configured quorum, and the raised one. */
      readonly minSources: number;
      readonly asked: number;
      /** Excluded entries: those meeting only the configured quorum. */
      readonly entries: number;
    }
  | { readonly fit: 'best'; readonly entries: number };

export interface TrimResult {
  readonly leftOut: Trimmed | undefined;
  readonly next: string | undefined;
}

const MOST_NAMED = 20;
const MOST_SAID = 3;

const formatted = (count: number) => count.toLocaleString('en-US');

export function trimmedText(left: Trimmed): string {
  if (left.fit === 'best') return `the ${left.entries === 1 ? 'entry' : `${formatted(left.entries)} entries`} of the lowest rank`;
  if (left.fit === 'sources')
    return `what fewer than ${left.minSources} lists have (${left.asked} are asked for): ${formatted(left.entries)} entries`;
  const named = left.lists.slice(0, MOST_SAID).map(({ name, entries }) => `${name} (${formatted(entries)} entries)`);
  const more = left.lists.length - named.length;
  return `${left.lists.length === 1 ? 'the list' : 'the lists'} ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The value of X-Feed-Left-Out: names are percent-encoded. */
export function trimmedHeader(left: Trimmed): string {
  if (left.fit === 'best') return `lowest_rank;entries=${left.entries}`;
  if (left.fit === 'sources') return `min_sources=${left.minSources};asked=${left.asked};entries=${left.entries}`;
  const named = left.lists.slice(0, MOST_NAMED).map(({ name, entries }) => `${encodeURIComponent(name)};entries=${entries}`);
  const more = left.lists.length - named.length;
  return [...named, ...(more > 0 ? [`more;lists=${more}`] : [])].join(', ');
}

export const trimmedJson = (left: Trimmed | undefined) =>
  left === undefined
    ? null
    : left.fit === 'lists'
      ? { lists: left.lists, min_sources: null, entries: null }
      : { lists: [], min_sources: left.fit === 'best' ? null : left.minSources, entries: left.entries };
