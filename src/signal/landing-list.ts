import type { Caller } from '../account/caller.ts';
import { type AccessList, idsText } from '../account/list.ts';
import type { StoreReads } from '../ports/store.ts';
import type { Refusal } from './refusal.ts';

/** Finds the list where access rules of a caller land; undefined leaves that to the consumer. */
export type LandingList = (caller: Caller, asked: string | undefined) => Promise<string | undefined | Refusal>;

/** The list that is asked for by id or name, else the key's, else the default. A default list that was found once is known from then on. */
export function landingList(
  store: Pick<StoreReads, 'defaultList' | 'findNamed'>,
  logFailure: (error: unknown, what: string) => void,
): LandingList {
  const defaultLists = new Map<string, string>();
  return async ({ workspaceId, listId }, asked) => {
    if (asked === undefined && listId !== null) return listId;
    const known = defaultLists.get(workspaceId);
    if (asked === undefined && known !== undefined) return known;
    try {
      if (asked !== undefined) return namedList((await store.findNamed(workspaceId, asked))?.lists ?? [], listId);
      // The mark of the default list never moves, and that list cannot be deleted.
      const defaultList = await store.defaultList(workspaceId);
      if (defaultList !== undefined) defaultLists.set(workspaceId, defaultList);
      return defaultList;
    } catch (error) {
      logFailure(error, 'the lists of a workspace could not be read');
      return asked === undefined ? undefined : { code: 'STORE_UNAVAILABLE', message: 'The service cannot take signals now' };
    }
  };
}

/** The one list of those with the id or name that was asked for; `bound` is the only one that the key may use, or null. */
function namedList(found: readonly AccessList[], bound: string | null): string | Refusal {
  if (bound !== null && !found.some(({ id }) => id === bound))
    return { code: 'FORBIDDEN', message: 'The API key is bound to another access-rules list' };
  if (found.length === 1) return found[0]!.id;
  return found.length === 0
    ? { code: 'NOT_FOUND', message: 'No such access-rules list' }
    : { code: 'REFUSED', message: `The name matches more than one access-rules list; use one of the ids ${idsText(found)}` };
}
