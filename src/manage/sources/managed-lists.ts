/** Only sources change their rules (SPEC D23.2). */

import { managedBySource } from '../../account/managed-list.ts';
import { WeirError } from '../../errors.ts';
import type { StoreReads } from '../../ports/store.ts';
import { everyItem } from '../../ports/stored/paginate.ts';
import type { StoredRule } from '../../ports/stored/stored-rule.ts';

/** By id. */
async function managedLists(store: Pick<StoreReads, 'sourcePage'>, workspaceId: string): Promise<ReadonlyMap<string, string>> {
  const managed = new Map<string, string>();
  for await (const { source } of everyItem((page) => store.sourcePage(workspaceId, page))) managed.set(source.listId, source.name);
  return managed;
}

/** `leftOut`: rules in managed lists. */
interface Deletable {
  readonly rules: readonly StoredRule[];
  readonly leftOut: number;
}

/** Rejects with REFUSED if such a rule was named by id or list (`isNamed`). */
export async function deletable(
  store: Pick<StoreReads, 'sourcePage'>,
  workspaceId: string,
  rules: readonly StoredRule[],
  isNamed: boolean,
): Promise<Deletable> {
  if (!rules.some(({ listId }) => listId !== null)) return { rules, leftOut: 0 };
  const managed = await managedLists(store, workspaceId);
  const managedList = ({ listId }: StoredRule) => (listId === null ? undefined : managed.get(listId));
  const [named] = isNamed ? rules.flatMap((rule) => managedList(rule) ?? []) : [];
  if (named !== undefined) throw new WeirError('REFUSED', managedBySource(named));
  const own = rules.filter((rule) => managedList(rule) === undefined);
  return { rules: own, leftOut: rules.length - own.length };
}
