/** Lists that sources keep, whose rules nobody else changes (SPEC D23.2). */

import { managedBySource } from '../../account/managed-list.ts';
import { WeirError } from '../../errors.ts';
import type { StoreReads } from '../../ports/store.ts';
import { everyItem } from '../../ports/stored/paginate.ts';
import type { StoredRule } from '../../ports/stored/stored-rule.ts';

/** The names of the lists of a workspace that sources keep, by their ids. */
async function keptLists(store: Pick<StoreReads, 'sourcePage'>, workspaceId: string): Promise<ReadonlyMap<string, string>> {
  const kept = new Map<string, string>();
  for await (const { source } of everyItem((page) => store.sourcePage(workspaceId, page))) kept.set(source.listId, source.name);
  return kept;
}

/** Rules that may be deleted, and how many others there are that sources keep. */
export interface Deletable {
  readonly rules: readonly StoredRule[];
  readonly leftOut: number;
}

/** Leaves rules out that sources keep. Rejects with REFUSED where one of them was asked for by its id or its list (`isNamed`). */
export async function deletable(
  store: Pick<StoreReads, 'sourcePage'>,
  workspaceId: string,
  rules: readonly StoredRule[],
  isNamed: boolean,
): Promise<Deletable> {
  if (!rules.some(({ listId }) => listId !== null)) return { rules, leftOut: 0 };
  const kept = await keptLists(store, workspaceId);
  const keptList = ({ listId }: StoredRule) => (listId === null ? undefined : kept.get(listId));
  const [named] = isNamed ? rules.flatMap((rule) => keptList(rule) ?? []) : [];
  if (named !== undefined) throw new WeirError('REFUSED', managedBySource(named));
  const own = rules.filter((rule) => keptList(rule) === undefined);
  return { rules: own, leftOut: rules.length - own.length };
}
