/** Rows of the audit log that are one act: a file that was imported in ten batches, a workspace that was made as a file says. */

/**
 * @typedef {object} Entry
 * @property {number} id
 * @property {string} at
 * @property {string} event
 * @property {string} object
 * @property {string | null} name
 * @property {string | null} key_id
 * @property {string | null} person The provider that has named him, and who that is there.
 * @property {string | null} key_name
 * @property {string | null} actor
 * @property {string | null} act What the change was a part of.
 * @property {Record<string, unknown> | null} before
 * @property {Record<string, unknown> | null} after
 * @property {Record<string, string>} names Of the ids in before and after.
 */
/** @typedef {{ entry: Entry, parts: Entry[] }} Act One row: the entry that stands for it, the last, and all of it, newest first. */

/** @param {readonly Entry[]} entries Newest first. @returns {Act[]} */
export function actsOf(entries) {
  /** @type {Map<string, Act>} */
  const acts = new Map();
  for (const entry of entries) {
    const name = entry.act ?? `entry ${entry.id}`;
    const known = acts.get(name);
    if (known === undefined) acts.set(name, { entry, parts: [entry] });
    else known.parts.push(entry);
  }
  return [...acts.values()];
}
