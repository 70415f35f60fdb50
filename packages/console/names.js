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
 * @property {(id: string | null | undefined) => string} keyName A key, or the source whose refresh it is; one that is not known is told as that.
 */

/** @param {import('./session.js').Session} session @returns {Names} */
export function useNames(session) {
  const readsKeys = may(session, 'keys:write');
  const { value } = useLiveWork(`names ${readsKeys}`, () => readNames(readsKeys), { every: 30_000 });
  return useMemo(() => {
    const lists = value?.lists ?? [];
    const named = new Map(lists.map((/** @type {any} */ { id, name }) => [id, name]));
    const feeds = new Map((value?.feeds ?? []).map((/** @type {any} */ { id, name }) => [id, name]));
    const keys = new Map((value?.keys ?? []).map((/** @type {any} */ { id, name, prefix }) => [id, name ?? prefix]));
    // What a refresh has sent is sent by its source.
    for (const { source, name } of lists) if (source !== null) keys.set(source, `source ${name}`);
    const gone = (/** @type {string | null | undefined} */ id, /** @type {string} */ what) => (id && value !== undefined ? what : '');
    const unknownKey = readsKeys ? 'a key that is gone' : 'another key';
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
      keyName: (id) => (id === session.key_id ? (keys.get(id) ?? 'this key') : (keys.get(id ?? '') ?? gone(id, unknownKey))),
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
    keys: keys.map(({ id, name, prefix }) => ({ id, name, prefix })),
  };
}
