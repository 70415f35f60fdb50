import { WeirError } from '../../errors.ts';
import { one, run, type Work } from '../work.ts';

export function* forgetMember(listPk: number, listRevision: number): Work<void> {
  const having = 'SELECT feed_pk FROM feed_lists WHERE list_pk = $1';
  yield* run(`UPDATE feeds SET revision = revision + 1 + $2 WHERE pk IN (${having})`, listPk, listRevision);
  yield* run('DELETE FROM feed_lists WHERE list_pk = $1', listPk);
}

/** Tables with names. A source has the name of its list. */
const NAMED = {
  lists: ['list', 'lists', ''],
  feeds: ['feed', 'feeds', ''],
  sources: ['source', 'lists', ' AND source_id IS NOT NULL'],
} as const;

/** Throws REFUSED if a list, feed or source of the workspace has the name: one would hide the other. */
export function* refuseName(which: keyof typeof NAMED, workspacePk: number, name: string, advice = ''): Work<void> {
  const [what, table, only] = NAMED[which];
  const used = yield* one(`SELECT id FROM ${table} WHERE workspace_pk = $1 AND name = $2${only} LIMIT 1`, workspacePk, name);
  if (used !== undefined)
    throw new WeirError('REFUSED', `the workspace has a ${what} called "${name}"; lists and feeds share their names${advice}`);
}
