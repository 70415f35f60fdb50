import { count, counted } from '../../format.js';

/** Id of the workspace's feed. */
export const WORKSPACE_FEED = 'workspace';

/** The count of the stored family and action, else any. @param {FeedRow} feed */
export function builtOf({ feed, family, action }) {
  const built = feed?.built ?? [];
  return built.find((each) => each.family === (family ?? 'both') && each.action === (action ?? 'block')) ?? built[0];
}

/** @param {FeedRow} feed */
export const countOf = (feed) => feed.fresh ?? builtOf(feed);

/** Age at which a count shows its time, ms. */
const OLD = 45_000;

/** @param {Built | undefined} built */
export const isOld = (built) => built === undefined || Date.now() - Date.parse(built.built_at) > OLD;

/** Trimmed content, as the object of a sentence. @param {Trimmed} left */
export const trimmedText = ({ lists, min_sources: least, entries }) =>
  least === null && entries !== null
    ? `the ${counted(entries, 'entry', 'entries')} of the lowest rank`
    : least === null
      ? lists.map(({ name, entries: own }) => `${name} (${counted(own, 'entry', 'entries')})`).join(', ')
      : `${counted(entries ?? 0, 'entry', 'entries')} on fewer than ${least} lists`;

/** @param {{ family: string, v4: number, v6: number }} measure */
export const familiesText = ({ family, v4, v6 }) =>
  [family !== 'v6' && `${count(v4)} IPv4`, family !== 'v4' && `${count(v6)} IPv6`].filter(Boolean).join(', ');

/** @param {FeedRow} feed */
export function nameOfKind({ kind, default: isDefault, all_lists: isAll, lists = [], min_sources: least }) {
  if (kind === 'workspace') return 'the whole workspace';
  if (kind === 'list') return isDefault ? 'the default list' : 'one list';
  const made = isAll ? 'all lists' : counted(lists.length, 'list');
  return (least ?? 1) > 1 ? `${made}, at least ${least} must agree` : made;
}

/** @param {FeedRow} row @returns {{ kind: 'good' | 'warn' | 'bad' | '', text: string }} */
export function stateOf(row) {
  const { feed, fresh, old_sources: sources = [] } = row;
  if (feed === null) return { kind: '', text: 'unknown' };
  if (fresh?.over_cap ?? feed.built.some((each) => each.over_cap)) return { kind: 'warn', text: 'not published' };
  if (feed.stale_since !== null) return { kind: 'bad', text: 'stale' };
  if (feed.events.length > 0) return { kind: 'warn', text: 'needs attention' };
  if (sources.length > 0)
    return { kind: 'warn', text: sources.length === 1 ? `source ${sources[0].state}` : `${sources.length} sources outdated` };
  if (isOld(countOf(row))) return { kind: '', text: feed.built.length === 0 ? 'not counted yet' : 'outdated count' };
  return { kind: 'good', text: 'up to date' };
}
