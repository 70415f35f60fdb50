/** Names of what rules, batches and devices only have the ids of. */
import { useMemo } from 'preact/hooks';
import { allPages } from './api.js';
import { useLiveWork } from './data.js';
import { may } from './session.js';

/**
 * @typedef {object} Names
 * @property {{ id: string, name: string, default: boolean, source: string | null }[]} lists
 * @property {readonly string[]} keys The names of keys, each once; none where they may not be read.
 * @property {(id: string | null | undefined) => string} listName
 * @property {(id: string | null) => { kind: 'workspace' | 'list' | 'composed', id: string, name: string }} feedOf The feed of an id: a list's, one made of lists; null: the workspace's.
 */

/**
 * What the key of a row is called, or the source whose refresh it is; one that the service has forgotten is told as that. Empty: none is told.
 * @param {{ key_id: string | null, key_name?: string | null }} of
 */
export const keyName = ({ key_id: id, key_name: name }) => name ?? (id === null || name === undefined ? '' : 'a deleted key');

/**
 * Who has sent what a batch landed; of messages without a key it is not known whether a command wrote them or another program.
 * @param {{ actor?: string | null, key_id: string | null, key_name?: string | null, batch_id?: string | null }} of `batch_id` null: it is forgotten.
 */
export const senderName = (of) => of.actor ?? (keyName(of) || (of.batch_id === null ? 'not known' : 'a command or another program'));

/** @param {import('./session.js').Session} session @returns {Names} */
export function useNames(session) {
  const readsKeys = may(session, 'keys:write');
  const { value } = useLiveWork(`names ${readsKeys}`, () => readNames(readsKeys), { every: 30_000 });
  return useMemo(() => {
    const lists = value?.lists ?? [];
    const named = new Map(lists.map((/** @type {any} */ { id, name }) => [id, name]));
    const feeds = new Map((value?.feeds ?? []).map((/** @type {any} */ { id, name }) => [id, name]));
    const gone = (/** @type {string | null | undefined} */ id, /** @type {string} */ what) => (id && value !== undefined ? what : '');
    return {
      lists,
      keys: [...new Set((value?.keys ?? []).flatMap((/** @type {any} */ { name }) => name ?? []))],
      feedOf(id) {
        if (id === null) return { kind: 'workspace', id: '', name: 'the whole workspace' };
        return feeds.has(id)
          ? { kind: 'composed', id, name: feeds.get(id) }
          : { kind: 'list', id, name: named.get(id) ?? gone(id, 'a feed that is gone') };
      },
      listName: (id) => named.get(id ?? '') ?? gone(id, 'a list that is gone'),
    };
  }, [value]);
}

/** @param {boolean} readsKeys */
async function readNames(readsKeys) {
  const [lists, feeds, keys] = await Promise.all([
    allPages('/lists', 'lists'),
    allPages('/feeds', 'feeds'),
    readsKeys ? allPages('/keys', 'keys') : [],
  ]);
  return {
    lists: lists.map(({ id, name, default: isDefault, source_id: source }) => ({ id, name, default: isDefault, source })),
    feeds: feeds.map(({ id, name }) => ({ id, name })),
    keys: keys.map(({ name }) => ({ name })),
  };
}
