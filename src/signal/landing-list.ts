import type { Caller } from '../account/caller.ts';
import { type AccessList, idsText } from '../account/list.ts';
import { managedBySource } from '../account/managed-list.ts';
import { within } from '../clock.ts';
import type { StoreReads } from '../ports/store.ts';
import type { Refusal } from './refusal.ts';

/** Finds the list where access rules of a caller land; undefined leaves that to the consumer. */
export type LandingList = (caller: Caller, asked: string | undefined) => Promise<string | undefined | Refusal>;

/** Lists that are known by what they were asked for, at most. */
const MOST_KNOWN = 10_000;
/** How long the store may take to find a list that is known, ms. */
const STORE_LIMIT = 2000;

type NamedList = Pick<AccessList, 'id' | 'name' | 'sourceId'>;

/**
 * The list that is asked for by id or name, else the key's, else the default. A default list that was found once is known from then on;
 * another one is what it was when it was found last, while the store does not tell (SPEC D34.4).
 */
export function landingList(
  store: Pick<StoreReads, 'defaultList' | 'findNamed'>,
  logFailure: (error: unknown, what: string) => void,
): LandingList {
  const defaultLists = new Map<string, string>();
  const knownLists = new Map<string, NamedList>();

  /** Lists with this id or name, as the store has them; rejects where it does not tell. */
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
    // What a source keeps is looked at: it tells its name.
    const asked = named ?? (listSourceId === null ? undefined : bound!);
    if (asked === undefined && bound !== null) return bound;
    const known = defaultLists.get(workspaceId);
    if (asked === undefined && known !== undefined) return known;
    try {
      if (asked !== undefined) return namedList(await find(workspaceId, asked), bound, sourceId);
      // The mark of the default list never moves, and that list cannot be deleted.
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

/**
 * The one list of those with the id or name that was asked for; `bound` is the only one that the key may use, or null, `sourceId` the source
 * that asks, if one does.
 */
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

/** Signals are answered in sentences that begin with a capital. */
const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
