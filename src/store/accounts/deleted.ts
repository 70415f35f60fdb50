/** Deleted lists and composed feeds are stored until they can no longer be restored (SPEC D15.50 to D15.52). */
import { MOST_DELETED, RESTORE_PERIOD } from '../../ports/stored/account-store.ts';
import type { Row } from '../rows.ts';
import { one, run, type Work } from '../work.ts';

export type Table = 'lists' | 'feeds';

export const MEMBER = 'feed_pk, list_pk, position, is_always';

const numberOf = (table: Table, pk: number) => (table === 'lists' ? pk : -pk);

/** The caller's transaction deletes the row. A workspace can restore only the newest ones. */
export function* keepDeleted(now: string, workspacePk: number, table: Table, row: Row, isForGood: boolean): Work<void> {
  const pk = Number(row.pk);
  yield* run(
    `INSERT INTO deleted_lists (list_pk, workspace_pk, id, name, deleted_at, until, was)
     VALUES ($1, $2, $3, $4, ${now}, ${isForGood ? '0' : `${now} + ${RESTORE_PERIOD}`}, $5)`,
    numberOf(table, pk),
    workspacePk,
    String(row.id),
    String(row.name),
    JSON.stringify(row),
  );
  const column = table === 'lists' ? 'list_pk' : 'feed_pk';
  yield* run(`INSERT INTO deleted_members (${MEMBER}) SELECT ${MEMBER} FROM feed_lists WHERE ${column} = $1`, pk);
  // Of those deleted within one millisecond, this one is the newest.
  yield* run(
    `UPDATE deleted_lists SET until = 0 WHERE workspace_pk = $1 AND until > 0 AND list_pk NOT IN
       (SELECT list_pk FROM deleted_lists WHERE workspace_pk = $1 AND until > 0
        ORDER BY until DESC, list_pk = $2 DESC, abs(list_pk) DESC LIMIT ${MOST_DELETED})`,
    workspacePk,
    numberOf(table, pk),
  );
}

/** The list's number, negative for a feed. */
export function* nextGivenUp(now: number): Work<number | undefined> {
  const row = yield* one('SELECT list_pk FROM deleted_lists WHERE until <= $1 ORDER BY until, list_pk LIMIT 1', now);
  return row && Number(row.list_pk);
}

export function* forgetMembers(number: number): Work<void> {
  yield* run(`DELETE FROM deleted_members WHERE ${number > 0 ? 'list_pk' : 'feed_pk'} = $1`, Math.abs(number));
}
