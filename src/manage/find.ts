/** Finding what a path or an option names in a workspace, through an index. */
import type { AccessList } from '../account/list.ts';
import { WeirError } from '../errors.ts';
import type { StoreReads } from '../ports/store.ts';

/** The list with that UUID or unique name. Rejects with NOT_FOUND, and with REFUSED when lists share the name. */
export async function findList(store: Pick<StoreReads, 'findNamed'>, workspaceId: string, ref: string): Promise<AccessList> {
  const found = (await store.findNamed(workspaceId, ref))?.lists ?? [];
  if (found.length > 1) throw new WeirError('REFUSED', `${found.length} lists are called "${ref}"; use the UUID of one of them`);
  if (found.length === 0) throw new WeirError('NOT_FOUND', `there is no list "${ref}"`);
  return found[0]!;
}
