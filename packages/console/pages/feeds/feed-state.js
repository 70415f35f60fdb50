/** What a feed is like, in words. */
import { count, counted } from '../../format.js';

/** Stands for the workspace's own feed where others have their id. */
export const WORKSPACE_FEED = 'workspace';

/**
 * @typedef {object} Built Entries of the variants of a feed that have the same ones.
 * @property {string[]} formats
 * @property {string} family
 * @property {string} action
 * @property {number} entries
 * @property {number} entry_limit
 * @property {boolean} over_cap
 * @property {string} built_at
 */
/** @typedef {{ built: Built[], stale_since: string | null, events: { kind: string, text: string, since: string }[] }} State */
/**
 * @typedef {object} FeedRow A list, a feed made of lists, or the workspace, as the management API has it.
 * @property {string} id
 * @property {'workspace' | 'list' | 'composed'} kind
 * @property {string} name
 * @property {string | null} description
 * @property {boolean} [default]
 * @property {boolean} [all_lists]
 * @property {string[]} [lists] In their order.
 * @property {string[]} [always]
 * @property {number | null} [min_sources]
 * @property {string | null} [format]
 * @property {string | null} [family]
 * @property {string | null} [action]
 * @property {number | null} [max_entries]
 * @property {string | null} [confidence]
 * @property {string | null} [severity]
 * @property {string | null} [subtract_allow]
 * @property {State | null} feed
 * @property {Built} [fresh] What it has now, where that was counted apart.
 */

/** The entries that matter most: of the stored family and action where they are known, else any. @param {FeedRow} feed */
export function builtOf({ feed, family, action }) {
  const built = feed?.built ?? [];
  return built.find((each) => each.family === (family ?? 'both') && each.action === (action ?? 'block')) ?? built[0];
}

/** What a feed has: the newest count. @param {FeedRow} feed */
export const countOf = (feed) => feed.fresh ?? builtOf(feed);

/** After how long a count says its age, ms. */
const OLD = 45_000;

/** Whether a count is missing or so old that rules may have changed since. @param {Built | undefined} built */
export const isOld = (built) => built === undefined || Date.now() - Date.parse(built.built_at) > OLD;

/** What is left out to keep within the cap, as the object of a sentence. @param {Trimmed} left */
export const trimmedText = ({ lists, min_sources: least, entries }) =>
  least === null
    ? lists.map(({ name, entries: own }) => `${name} (${counted(own, 'entry', 'entries')})`).join(', ')
    : `what fewer than ${least} lists have: ${counted(entries ?? 0, 'entry', 'entries')}`;

/** How many networks of each family are in it; of a feed of one family those of the other are not. @param {{ family: string, v4: number, v6: number }} measure */
export const familiesText = ({ family, v4, v6 }) =>
  [family !== 'v6' && `${count(v4)} IPv4`, family !== 'v4' && `${count(v6)} IPv6`].filter(Boolean).join(', ');

/** @param {FeedRow} feed */
export function nameOfKind({ kind, default: isDefault, all_lists: isAll, lists = [], min_sources: least }) {
  if (kind === 'workspace') return 'the whole workspace';
  if (kind === 'list') return isDefault ? 'the default list' : 'one list';
  const made = isAll ? 'all lists' : counted(lists.length, 'list');
  return (least ?? 1) > 1 ? `${made}, ${least} of which have to agree` : made;
}

/** @typedef {{ lists: { name: string, entries: number }[], min_sources: number | null, entries: number | null }} Trimmed */

/** @param {FeedRow} row @returns {{ kind: 'good' | 'warn' | 'bad' | '', text: string }} */
export function stateOf(row) {
  const { feed, fresh } = row;
  if (feed === null) return { kind: '', text: 'not counted here' };
  if (fresh?.over_cap ?? feed.built.some((each) => each.over_cap)) return { kind: 'bad', text: 'over its cap' };
  if (feed.stale_since !== null) return { kind: 'bad', text: 'stale' };
  if (feed.events.length > 0) return { kind: 'warn', text: 'needs attention' };
  if (isOld(countOf(row))) return { kind: '', text: feed.built.length === 0 ? 'not counted yet' : 'not counted lately' };
  return { kind: 'good', text: 'up to date' };
}
