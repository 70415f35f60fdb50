/** Where a change of a list concerns the workspace's composed feeds, the same in both dialects. */
import { WeirError } from '../../errors.ts';
import { one, run, type Work } from '../work.ts';

/** Takes a list that is deleted out of its feeds. */
export function* forgetMember(listPk: number, listRevision: number): Work<void> {
  const having = 'SELECT feed_pk FROM feed_lists WHERE list_pk = $1';
  yield* run(`UPDATE feeds SET revision = revision + 1 + $2 WHERE pk IN (${having})`, listPk, listRevision);
  yield* run('DELETE FROM feed_lists WHERE list_pk = $1', listPk);
}

/** Throws REFUSED when a list or a feed of the workspace has the name: it would hide a feed, or be hidden by a list. */
export function* refuseName(table: 'lists' | 'feeds', workspacePk: number, name: string, advice = ''): Work<void> {
  const taken = yield* one(`SELECT id FROM ${table} WHERE workspace_pk = $1 AND name = $2 LIMIT 1`, workspacePk, name);
  const what = table === 'lists' ? 'list' : 'feed';
  if (taken !== undefined)
    throw new WeirError('REFUSED', `the workspace has a ${what} called "${name}"; lists and feeds share their names${advice}`);
}
