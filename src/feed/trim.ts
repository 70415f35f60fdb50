/** What a feed leaves out to keep within its cap, for people and for programs (SPEC D29.6). */

/** Whole lists, each with the entries that it has by itself, or what too few lists have. */
export type Trimmed =
  | { readonly fit: 'lists'; readonly lists: readonly { readonly name: string; readonly entries: number }[] }
  | {
      readonly fit: 'sources';
      /** How many lists have to agree, and how many are asked for. */
      readonly minSources: number;
      readonly asked: number;
      /** Of what would be in the feed with as many as are asked for. */
      readonly entries: number;
    };

/** What a feed that may leave something out has left out, and what it would leave out next. */
export interface TrimResult {
  /** undefined: nothing. */
  readonly leftOut: Trimmed | undefined;
  /** undefined: nothing that it may. */
  readonly next: string | undefined;
}

/** Lists that a header and a sentence name. */
const MOST_NAMED = 20;
const MOST_SAID = 3;

const shown = (count: number) => count.toLocaleString('en-US');

/** What is left out, as the object of a sentence. */
export function trimmedText(left: Trimmed): string {
  if (left.fit === 'sources')
    return `what fewer than ${left.minSources} lists have (${left.asked} are asked for): ${shown(left.entries)} entries`;
  const named = left.lists.slice(0, MOST_SAID).map(({ name, entries }) => `${name} (${shown(entries)} entries)`);
  const more = left.lists.length - named.length;
  return `${left.lists.length === 1 ? 'the list' : 'the lists'} ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The value of X-Feed-Left-Out: names are percent-encoded. */
export function trimmedHeader(left: Trimmed): string {
  if (left.fit === 'sources') return `min_sources=${left.minSources};asked=${left.asked};entries=${left.entries}`;
  const named = left.lists.slice(0, MOST_NAMED).map(({ name, entries }) => `${encodeURIComponent(name)};entries=${entries}`);
  const more = left.lists.length - named.length;
  return [...named, ...(more > 0 ? [`more;lists=${more}`] : [])].join(', ');
}

/** What is left out, as JSON has it. */
export const trimmedJson = (left: Trimmed | undefined) =>
  left === undefined
    ? null
    : left.fit === 'lists'
      ? { lists: left.lists, min_sources: null, entries: null }
      : { lists: [], min_sources: left.minSources, entries: left.entries };
