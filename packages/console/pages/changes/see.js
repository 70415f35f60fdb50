import { go, link } from '../../router.js';

/** Opens the changes between two instants (seconds). @param {string | undefined} [feed] Its id. */
export const seeChanges = (feed) => (from, to) => {
  const span = { since: new Date(from * 1000).toISOString(), until: new Date(to * 1000).toISOString() };
  go(`${link('/changes')}?${new URLSearchParams({ ...span, ...(feed !== undefined && { feed }) })}`);
};

/** @param {string} id */
export const batchAt = (id) => `${link('/changes')}?${new URLSearchParams({ batch: id })}`;
