/** From a chart to what changed in a span of it. */
import { go, link } from '../../router.js';

/**
 * Opens what changed between two instants (seconds), of the workspace or of a feed.
 * @param {string | undefined} [feed] Its id.
 */
export const seeChanges = (feed) => (/** @type {number} */ from, /** @type {number} */ to) => {
  const span = { since: new Date(from * 1000).toISOString(), until: new Date(to * 1000).toISOString() };
  go(`${link('/changes')}?${new URLSearchParams({ ...span, ...(feed !== undefined && { feed }) })}`);
};
