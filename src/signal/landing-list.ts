import type { Caller } from '../account/caller.ts';
import { type AccessList, idsText } from '../account/list.ts';
import { managedBySource } from '../account/managed-list.ts';
import { within } from '../clock.ts';
import type { StoreReads } from '../ports/store.ts';
import type { Refusal } from './refusal.ts';

/** Finds the list for a caller's access rules; undefined: the consumer decides. */
export type LandingList = (caller: Caller, asked: string | undefined) => Promise<string | undefined | Refusal>;

/** Maximum cached lists. */
const MOST_KNOWN = 10_000;
const STORE_LIMIT = 2000;

type NamedList = Pick<AccessList, 'id' | 'name' | 'sourceId'>;

/**
 * The named list, else the key's, else the default. The default list is cached permanently; others serve as a fallback while the store does
 * not answer (SPEC D34.4).
 */
export function landingList(
  store: Pick<StoreReads, 'defaultList' | 'findNamed'>,
  logFailure: (error: unknown, what: string) => void,
): LandingList {
  const defaultLists = new Map<string, string>();
  const knownLists = new Map<string, NamedList>();

  async function find(workspaceId: string, asked: string): Promise<readonly NamedList[]> {
    const name = `${workspaceId} ${asked}`;
    const known = knownLists.get(name);
    const finding = store.findNamed(workspaceId, asked);
    const lists = (await (known === undefined ? finding : within(finding, STORE_LIMIT, 'the store')))?.lists ?? [];
    knownLists.delete(name);
    if (known !== undefined) knownLists.delete(`${workspaceId} ${known.id}`);
    const [list] = lists;
    if (list !== undefined && lists.length === 1) {
      const found = { id: list.id, name: list.name, sourceId: list.sourceId };
      knownLists.set(name, found).set(`${workspaceId} ${list.id}`, found);
    }
    while (knownLists.size > MOST_KNOWN) knownLists.delete(knownLists.keys().next().value!);
    return lists;
  }

  return async ({ workspaceId, listId: bound, listSourceId = null, sourceId }, named) => {
    const asked = named ?? (listSourceId === null ? undefined : bound!);
    if (asked === undefined && bound !== null) return bound;
    const known = defaultLists.get(workspaceId);
    if (asked === undefined && known !== undefined) return known;
    try {
      if (asked !== undefined) return namedList(await find(workspaceId, asked), bound, sourceId);
      // The default list can be neither changed nor deleted.
      const defaultList = await store.defaultList(workspaceId);
      if (defaultList !== undefined) defaultLists.set(workspaceId, defaultList);
      return defaultList;
    } catch (error) {
      logFailure(error, 'the lists of a workspace could not be read');
      if (asked === undefined) return undefined;
      const before = knownLists.get(`${workspaceId} ${asked}`);
      if (before !== undefined) return namedList([before], bound, sourceId);
      return { code: 'STORE_UNAVAILABLE', message: 'The service cannot take signals now' };
    }
  };
}

/** The unique match. `bound`: the only list permitted for the key, or null; `sourceId`: the requesting source. */
function namedList(found: readonly NamedList[], bound: string | null, sourceId: string | undefined): string | Refusal {
  if (bound !== null && !found.some(({ id }) => id === bound))
    return { code: 'FORBIDDEN', message: 'The API key is bound to another access-rules list' };
  const [list] = found;
  if (list !== undefined && found.length === 1)
    return list.sourceId === null || list.sourceId === sourceId
      ? list.id
      : { code: 'REFUSED', message: sentence(managedBySource(list.name)) };
  return found.length === 0
    ? { code: 'NOT_FOUND', message: 'No such access-rules list' }
    : { code: 'REFUSED', message: `The name matches more than one access-rules list; use one of the ids ${idsText(found)}` };
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
