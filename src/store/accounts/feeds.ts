/** Composed feeds: reading them, and every change of one as a transaction with its audit row, the same in both dialects. */
import { randomUUID } from 'node:crypto';
import { type ComposedFeed, type FeedPatch, feedState, type Members, type SavedFeed } from '../../account/feed.ts';
import type { AccountWrites } from '../../ports/account-store.ts';
import { profileOf, type Row } from '../rows.ts';
import { all, type Changes, one, run, type Work } from '../work.ts';
import { changeWorkspace, create, feedRow, noSuch, patchColumns, requireState, revokeKeys, tooMany } from './account-statements.ts';
import { doneOnce } from './answers.ts';
import { audit, changed } from './audit.ts';
import { keepDeleted } from './deleted.ts';
import { refuseName } from './feed-lists.ts';
import { FEEDS } from './lists.ts';

const MEMBERS = `SELECT m.feed_pk, l.id FROM workspaces w JOIN feeds f ON f.workspace_pk = w.pk JOIN feed_lists m ON m.feed_pk = f.pk
  JOIN lists l ON l.pk = m.list_pk WHERE w.id = $1 ORDER BY l.pk`;

/** `feeds` of the port. */
export function* composedFeeds(workspaceId: string): Work<ComposedFeed[]> {
  const rows = yield* all('SELECT f.* FROM workspaces w JOIN feeds f ON f.workspace_pk = w.pk WHERE w.id = $1 ORDER BY f.pk', workspaceId);
  const members = Map.groupBy(yield* all(MEMBERS, workspaceId), (row) => Number(row.feed_pk));
  return rows.map((row) => {
    const lists = (members.get(Number(row.pk)) ?? []).map(({ id }) => String(id));
    return feedOf(row, workspaceId, Number(row.all_lists) === 1 ? null : lists);
  });
}

/** `feed` of the port. */
export function* composedFeed(workspaceId: string, id: string): Work<ComposedFeed | undefined> {
  const row = yield* one(
    'SELECT f.* FROM feeds f JOIN workspaces w ON w.pk = f.workspace_pk WHERE f.id = $1 AND w.id = $2',
    id,
    workspaceId,
  );
  return row && feedOf(row, workspaceId, yield* membersOf(row));
}

/** Each change as the work of its transaction. */
export const feedChanges = {
  *createFeed(now, workspaceId, feed, { by, once, most = 0, id = randomUUID() } = {}) {
    const workspacePk = yield* changeWorkspace(workspaceId);
    const there = most > 0 ? yield* one('SELECT count(*) AS feeds FROM feeds WHERE workspace_pk = $1', workspacePk) : undefined;
    if (Number(there?.feeds ?? 0) >= most && most > 0) throw tooMany(most, 'feeds made of lists', 'MAX_FEEDS');
    const row = yield* insertFeed(now, workspacePk, { ...feed, id });
    const made = feedOf(row, workspaceId, yield* membersOf(row));
    yield* audit(now, 'feed created', id, { workspacePk, by, change: { before: null, after: feedState(made) } });
    yield* doneOnce(now, workspacePk, once, made);
    return made;
  },
  *updateFeed(now, workspaceId, feedId, patch, { by, ifMatch } = {}) {
    const workspacePk = yield* changeWorkspace(workspaceId);
    const found = yield* one(`${FEEDS} f.id = $1 AND f.workspace_pk = $2`, feedId, workspacePk);
    if (found === undefined) throw noSuch('feed', feedId);
    const before = feedState(feedOf(found, workspaceId, yield* membersOf(found)));
    requireState(before, ifMatch);
    const row = yield* changeFeed(workspacePk, found, patch);
    const feed = feedOf(row, workspaceId, yield* membersOf(row));
    yield* audit(now, 'feed changed', feedId, { workspacePk, by, change: changed(before, feedState(feed)) });
    return feed;
  },
  *deleteFeed(now, workspaceId, feedId, { by, ifMatch, forGood = false } = {}) {
    const workspacePk = yield* changeWorkspace(workspaceId);
    const row = yield* feedRow(workspacePk, feedId);
    const before = feedState(feedOf(row, workspaceId, yield* membersOf(row)));
    requireState(before, ifMatch);
    const pk = Number(row.pk);
    // Its revision with those of its lists, which may go before it comes back.
    const { feed_revision } = (yield* one(`${FEEDS} f.pk = $1`, pk))!;
    yield* keepDeleted(now, workspacePk, 'feeds', { ...row, revision: Number(feed_revision) }, forGood);
    yield* run('DELETE FROM feeds WHERE pk = $1', pk);
    yield* run('DELETE FROM feed_lists WHERE feed_pk = $1', pk);
    yield* revokeKeys(now, 'feed_id', feedId, { workspacePk, by });
    yield* audit(now, 'feed deleted', feedId, { workspacePk, by, change: { before, after: null } });
  },
} satisfies Changes<Pick<AccountWrites, 'createFeed' | 'updateFeed' | 'deleteFeed'>>;

/** Makes a composed feed and returns its row. Throws REFUSED when its name is taken. */
export function* insertFeed(now: string, workspacePk: number, { id, name, lists, ...patch }: SavedFeed): Work<Row> {
  yield* refuseNames(workspacePk, name);
  const columns = { workspace_pk: workspacePk, id, name, all_lists: lists === null ? 1 : 0, ...Object.fromEntries(patchColumns(patch)) };
  const row = yield* create(now, 'feeds', columns);
  yield* setMembers(workspacePk, Number(row.pk), lists);
  return row;
}

/** Changes the composed feed of a row of FEEDS, and returns its new row. Throws REFUSED when its new name is taken. */
export function* changeFeed(workspacePk: number, row: Row, change: FeedPatch & { readonly name?: string }): Work<Row> {
  const { name = String(row.name), lists, ...patch } = change;
  const pk = Number(row.pk);
  if (name !== row.name) yield* refuseNames(workspacePk, name);
  const columns = { name, ...Object.fromEntries(patchColumns(patch)), ...(lists !== undefined && { all_lists: lists === null ? 1 : 0 }) };
  const sets = Object.keys(columns).map((column, i) => `${column} = $${i + 3}, `);
  // Whatever lists it has from now on, its revision is higher than before.
  const text = `UPDATE feeds SET ${sets.join('')}revision = $2 WHERE pk = $1 RETURNING *`;
  const changed = yield* one(text, pk, Number(row.feed_revision) + 1, ...Object.values(columns));
  if (lists !== undefined) yield* setMembers(workspacePk, pk, lists);
  return changed!;
}

function* refuseNames(workspacePk: number, name: string): Work<void> {
  yield* refuseName('lists', workspacePk, name);
  yield* refuseName('feeds', workspacePk, name);
}

/** The lists of the feed in a row. */
export function* membersOf(row: Row): Work<Members> {
  if (Number(row.all_lists) === 1) return null;
  const lists = yield* all(
    'SELECT l.id FROM feed_lists m JOIN lists l ON l.pk = m.list_pk WHERE m.feed_pk = $1 ORDER BY l.pk',
    Number(row.pk),
  );
  return lists.map(({ id }) => String(id));
}

function* setMembers(workspacePk: number, feedPk: number, lists: Members): Work<void> {
  yield* run('DELETE FROM feed_lists WHERE feed_pk = $1', feedPk);
  for (const id of new Set(lists)) {
    const text = 'INSERT INTO feed_lists (feed_pk, list_pk) SELECT CAST($1 AS INTEGER), pk FROM lists WHERE id = $2 AND workspace_pk = $3';
    if ((yield* run(text, feedPk, id, workspacePk)) === 0) throw noSuch('list', id);
  }
}

/** The composed feed in a row. */
export const feedOf = (row: Row, workspaceId: string, lists: Members): ComposedFeed => ({
  id: String(row.id),
  workspaceId,
  ...profileOf(row),
  lists,
});
