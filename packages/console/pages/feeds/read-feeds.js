/** Reading feeds, of whatever kind they are, and their addresses in the console. */
import { allPages, ask, manage } from '../../api.js';
import { link } from '../../router.js';
import { WORKSPACE_FEED } from './feed-state.js';

/** @typedef {import('./feed-state.js').FeedRow} FeedRow */

/** The management API's path of each kind. */
export const PATHS = { list: '/lists', composed: '/feeds' };

/** All feeds, the workspace's own first. @returns {Promise<FeedRow[]>} */
export async function readFeeds() {
  const [workspace, lists, feeds] = await Promise.all([
    ask(manage('/workspace')),
    allPages('/lists', 'lists'),
    allPages('/feeds', 'feeds'),
  ]);
  return [
    { ...workspace.body, id: WORKSPACE_FEED, kind: 'workspace' },
    ...lists.map((list) => ({ ...list, kind: 'list' })),
    ...feeds.map((feed) => ({ ...feed, kind: 'composed' })),
  ];
}

/** The page of a feed. @param {Pick<FeedRow, 'kind' | 'id'>} feed */
export const linkToFeed = ({ kind, id }) => (kind === 'workspace' ? link('/feeds', kind) : link('/feeds', kind, id));

/**
 * The feed of such an address, with the tag of its state.
 * @param {string} kind
 * @param {string} id
 * @returns {Promise<{ feed: FeedRow, tag: string | null }>}
 */
export async function readFeed(kind, id) {
  if (kind === 'workspace') {
    const { body, tag } = await ask(manage('/workspace'));
    return { feed: { ...body, id: WORKSPACE_FEED, kind }, tag };
  }
  const path = kind === 'list' ? PATHS.list : PATHS.composed;
  const { body, tag } = await ask(manage(`${path}/${encodeURIComponent(id)}`));
  return { feed: { ...body, kind: kind === 'list' ? kind : 'composed' }, tag };
}
