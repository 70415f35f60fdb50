/** Names only: cheaper than ten thousand complete rows. */
import type { NamedKind, NamedThing } from '../../ports/stored/account-store.ts';
import { WORKSPACE_PK } from '../row-ids.ts';
import { textOrNull } from '../rows.ts';
import { all, type Work } from '../work.ts';

const COLUMNS: Readonly<Record<NamedKind, string>> = {
  lists: 'name, source_id',
  feeds: 'name, NULL AS source_id',
  keys: 'coalesce(name, prefix) AS name, NULL AS source_id',
};

export function* namesOf(workspaceId: string, kind: NamedKind): Work<NamedThing[]> {
  const rows = yield* all(`SELECT id, ${COLUMNS[kind]} FROM ${kind} WHERE workspace_pk = ${WORKSPACE_PK}`, workspaceId);
  return rows.map(({ id, name, source_id }) => ({ id: String(id), name: String(name), sourceId: textOrNull(source_id) }));
}
