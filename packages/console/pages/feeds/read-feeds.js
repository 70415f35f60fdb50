import { allPages, ask, manage } from '../../api.js';
import { link } from '../../router.js';
import { isOldSource } from '../sources/source-state.js';
import { WORKSPACE_FEED } from './feed-state.js';

export const PATHS = { list: '/lists', composed: '/feeds' };

/** @returns {Promise<FeedRow[]>} */
export async function readFeeds() {
  const [workspace, lists, feeds, sources] = await Promise.all([
    ask(manage('/workspace')),
    allPages('/lists', 'lists'),
    allPages('/feeds', 'feeds'),
    allPages('/sources', 'sources'),
  ]);
  const rows = [
    { ...workspace.body, id: WORKSPACE_FEED, kind: 'workspace' },
    ...lists.map((list) => ({ ...list, kind: 'list' })),
    ...feeds.map((feed) => ({ ...feed, kind: 'composed' })),
  ];
  return rows.map((row) => withSources(row, sources));
}

/** Adds the outdated sources of its lists. @param {FeedRow} row @param {Source[]} sources */
function withSources(row, sources) {
  const { kind, id, all_lists: isAll, lists = [] } = row;
  const isOf = (list) => kind === 'workspace' || (kind === 'list' ? list === id : isAll || lists.includes(list));
  return { ...row, old_sources: sources.filter((source) => isOldSource(source) && isOf(source.list_id)) };
}

/** @param {Pick<FeedRow, 'kind' | 'id'>} feed */
export const linkToFeed = ({ kind, id }) => (kind === 'workspace' ? link('/feeds', kind) : link('/feeds', kind, id));

/** @param {string} kind @param {string} id @returns {Promise<{ feed: FeedRow, tag: string | null }>} */
export async function readFeed(kind, id) {
  if (kind === 'workspace') {
    const [{ body, tag }, sources] = await Promise.all([ask(manage('/workspace')), allPages('/sources', 'sources')]);
    return { feed: withSources({ ...body, id: WORKSPACE_FEED, kind }, sources), tag };
  }
  const path = kind === 'list' ? PATHS.list : PATHS.composed;
  const [{ body, tag }, sources] = await Promise.all([ask(manage(`${path}/${encodeURIComponent(id)}`)), allPages('/sources', 'sources')]);
  return { feed: withSources({ ...body, kind: kind === 'list' ? kind : 'composed' }, sources), tag };
}
