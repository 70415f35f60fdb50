import type { FeedMaking, Members } from '../../account/feed.ts';
import type { Row } from '../rows.ts';
import { all, run, type Work } from '../work.ts';
import { noSuch } from './account-statements.ts';

/** `feed_lists` with list ids; a condition on `f` or `m` follows, then `IN_ORDER`. */
export const MEMBERS = `SELECT m.feed_pk, m.is_always, l.id FROM feed_lists m JOIN feeds f ON f.pk = m.feed_pk JOIN lists l ON l.pk = m.list_pk WHERE `;
export const IN_ORDER = ' ORDER BY m.position, m.list_pk';

/** The lists of a feed, and those that count without others. */
export interface FeedMembers extends Pick<FeedMaking, 'always'> {
  readonly lists: Members;
}

export function* membersOf(row: Row): Work<FeedMembers> {
  return membersIn(row, yield* all(`${MEMBERS} m.feed_pk = $1${IN_ORDER}`, Number(row.pk)));
}

export function membersIn(row: Row, members: readonly Row[]): FeedMembers {
  const ids = (of: readonly Row[]) => of.map(({ id }) => String(id));
  const always = ids(members.filter(({ is_always }) => Number(is_always) === 1));
  return { lists: Number(row.all_lists) === 1 ? null : ids(members), always };
}

export function* setMembers(workspacePk: number, feedPk: number, members: FeedMembers): Work<void> {
  yield* run('DELETE FROM feed_lists WHERE feed_pk = $1', feedPk);
  yield* addMembers(workspacePk, feedPk, members);
}

/**
 * After a change of a feed's lists, or of `always`: a restore of a list deleted before does not add it to the feed, or not to `always`
 * (SPEC D46.2).
 */
export const forgetDeletedMembers = (feedPk: number, isAll: boolean): Work<number> =>
  run(`${isAll ? 'DELETE FROM deleted_members' : 'UPDATE deleted_members SET is_always = 0'} WHERE feed_pk = $1`, feedPk);

/** For a feed without members. */
export function* addMembers(workspacePk: number, feedPk: number, { lists, always }: FeedMembers): Work<void> {
  const enough = new Set(always);
  for (const [position, id] of [...new Set(lists ?? always)].entries()) {
    const text = `INSERT INTO feed_lists (feed_pk, list_pk, position, is_always)
      SELECT CAST($1 AS INTEGER), pk, CAST($4 AS INTEGER), CAST($5 AS INTEGER) FROM lists WHERE id = $2 AND workspace_pk = $3`;
    if ((yield* run(text, feedPk, id, workspacePk, position, enough.has(id) ? 1 : 0)) === 0) throw noSuch('list', id);
  }
}
