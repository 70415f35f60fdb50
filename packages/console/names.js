import { useMemo } from 'preact/hooks';
import { allPages } from './api.js';
import { useLiveWork } from './data.js';
import { may } from './session.js';

/** The name of a row's key or source; empty for none. @param {{ key_id: string | null, key_name?: string | null }} of */
export const keyName = ({ key_id: id, key_name: name }) => name ?? (id === null || name === undefined ? '' : 'a deleted key');

/**
 * Who sent a batch. Without a key it may be a command or another program.
 * @param {{ actor?: string | null, key_id: string | null, key_name?: string | null, batch_id?: string | null }} of `batch_id` null: it is
 *   forgotten.
 */
export const senderName = (of) => of.actor ?? (keyName(of) || (of.batch_id === null ? 'unknown' : 'a command or another program'));

/** @param {Session} session @returns {Names} */
export function useNames(session) {
  const readsKeys = may(session, 'keys:write');
  const { value } = useLiveWork(`names ${readsKeys}`, () => readNames(readsKeys), { every: 30_000 });
  return useMemo(() => {
    const lists = value?.lists ?? [];
    const named = new Map(lists.map(({ id, name }) => [id, name]));
    const feeds = new Map((value?.feeds ?? []).map(({ id, name }) => [id, name]));
    const deleted = (id, what) => (id && value !== undefined ? what : '');
    return {
      lists,
      keys: [...new Set((value?.keys ?? []).flatMap(({ name }) => name ?? []))],
      feedOf(id) {
        if (id === null) return { kind: 'workspace', id: '', name: 'the whole workspace' };
        return feeds.has(id)
          ? { kind: 'composed', id, name: feeds.get(id) }
          : { kind: 'list', id, name: named.get(id) ?? deleted(id, 'a deleted feed') };
      },
      listName: (id) => named.get(id ?? '') ?? deleted(id, 'a deleted list'),
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
