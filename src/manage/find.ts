import type { ComposedFeed } from '../account/feed.ts';
import type { KeyInfo } from '../account/key.ts';
import { type AccessList, idsText } from '../account/list.ts';
import { WeirError } from '../errors.ts';
import type { StoreReads } from '../ports/store.ts';

/** By UUID or unique name. Rejects with NOT_FOUND, and with REFUSED if the name is ambiguous. */
export async function findList(store: Pick<StoreReads, 'findNamed'>, workspaceId: string, ref: string): Promise<AccessList> {
  const found = (await store.findNamed(workspaceId, ref))?.lists ?? [];
  if (found.length > 1) throw new WeirError('REFUSED', `${found.length} lists are called "${ref}"; use the id: ${idsText(found)}`);
  if (found.length === 0) throw new WeirError('NOT_FOUND', `there is no list "${ref}"`);
  return found[0]!;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A given UUID is not checked. */
export const listIdOf = async (store: Pick<StoreReads, 'findNamed'>, workspaceId: string, ref: string): Promise<string> =>
  UUID.test(ref) ? ref : (await findList(store, workspaceId, ref)).id;

/** By UUID or name. Rejects with NOT_FOUND. */
export async function findFeed(store: Pick<StoreReads, 'findNamed' | 'feed'>, workspaceId: string, ref: string): Promise<ComposedFeed> {
  const [found] = (await store.findNamed(workspaceId, ref))?.feeds ?? [];
  const feed = found && (await store.feed(workspaceId, found.id));
  if (feed === undefined) throw new WeirError('NOT_FOUND', `there is no feed "${ref}"`);
  return feed;
}

/** Includes revoked keys. Rejects with NOT_FOUND, and with REFUSED if the name is ambiguous. */
export async function findKeyNamed(store: Pick<StoreReads, 'key' | 'keys'>, workspaceId: string, ref: string): Promise<KeyInfo> {
  const known = UUID.test(ref.toLowerCase()) ? await store.key(workspaceId, ref.toLowerCase()) : undefined;
  if (known !== undefined) return known;
  const found = (await store.keys(workspaceId)).filter(({ name, id }) => name === ref || id === ref);
  if (found.length > 1) throw new WeirError('REFUSED', `${found.length} keys are called "${ref}"; use the id: ${idsText(found)}`);
  if (found.length === 0) throw new WeirError('NOT_FOUND', `there is no key "${ref}"`);
  return found[0]!;
}

/** Rejects with NOT_FOUND, and with REFUSED if the name is ambiguous. */
export async function anyFeedId(store: Pick<StoreReads, 'findNamed'>, workspaceId: string, ref: string): Promise<string> {
  const found = await store.findNamed(workspaceId, ref);
  const [feed] = found?.feeds ?? [];
  if (feed !== undefined && found?.lists.length === 0) return feed.id;
  if (found === undefined || found.lists.length === 0) throw new WeirError('NOT_FOUND', `there is no list or feed "${ref}"`);
  return (await findList(store, workspaceId, ref)).id;
}
