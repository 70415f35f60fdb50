import { randomUUID } from 'node:crypto';
import { type ComposedFeed, FEED_SETTINGS, type FeedPatch, feedState, makingOf, type NewFeed } from '../../account/feed.ts';
import { plainId } from '../../feed/canary.ts';
import type { TrimState } from '../../ports/snapshot.ts';
import type { AccountWrites } from '../../ports/stored/account-store.ts';
import { requireCanaryQuota } from '../canary/feeds.ts';
import { stageSettings } from '../canary/start.ts';
import { redateDocuments } from '../document-record.ts';
import { WORKSPACE_PK } from '../row-ids.ts';
import { profileOf, type Row } from '../rows.ts';
import { all, type Changes, one, run, type Work } from '../work.ts';
import { revokeKeys } from './access/revoke-keys.ts';
import { changeWorkspace, create, feedRow, noSuch, patchColumns, requireState, tooMany } from './account-statements.ts';
import { doneOnce } from './answers.ts';
import { audit, auditChange } from './audit.ts';
import { keepDeleted } from './deleted.ts';
import { refuseName } from './feed-lists.ts';
import { forgetFreeze, trimFrozen } from './freezes.ts';
import { FEEDS } from './lists.ts';
import { addMembers, type FeedMembers, forgetDeletedMembers, IN_ORDER, MEMBERS, membersIn, membersOf, setMembers } from './members.ts';

export function* composedFeeds(workspaceId: string): Work<ComposedFeed[]> {
  const rows = yield* all('SELECT f.* FROM workspaces w JOIN feeds f ON f.workspace_pk = w.pk WHERE w.id = $1 ORDER BY f.pk', workspaceId);
  const members = yield* all(`${MEMBERS} f.workspace_pk = ${WORKSPACE_PK}${IN_ORDER}`, workspaceId);
  return feedsOf(rows, workspaceId, members);
}

export function* composedFeed(workspaceId: string, id: string): Work<ComposedFeed | undefined> {
  const row = yield* one(
    'SELECT f.* FROM feeds f JOIN workspaces w ON w.pk = f.workspace_pk WHERE f.id = $1 AND w.id = $2',
    id,
    workspaceId,
  );
  return row && feedOf(row, workspaceId, yield* membersOf(row));
}

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
    yield* stageSettings(now, workspaceId, workspacePk, [before, patch], by);
    const row = yield* changeFeed(now, workspacePk, found, patch);
    const feed = feedOf(row, workspaceId, yield* membersOf(row));
    yield* auditChange(now, 'feed changed', feedId, { workspacePk, by }, [before, feedState(feed)]);
    return feed;
  },
  *deleteFeed(now, workspaceId, feedId, { by, ifMatch, forGood = false } = {}) {
    const workspacePk = yield* changeWorkspace(workspaceId);
    const row = yield* feedRow(workspacePk, feedId);
    const before = feedState(feedOf(row, workspaceId, yield* membersOf(row)));
    requireState(before, ifMatch);
    const pk = Number(row.pk);
    // Includes the revisions of its lists, which may be deleted before a restore.
    const { feed_revision } = (yield* one(`${FEEDS} f.pk = $1`, pk))!;
    yield* keepDeleted(now, workspacePk, 'feeds', { ...row, revision: Number(feed_revision) }, forGood);
    yield* run('DELETE FROM feeds WHERE pk = $1', pk);
    yield* run('DELETE FROM feed_lists WHERE feed_pk = $1', pk);
    yield* forgetFreeze(workspacePk, feedId);
    yield* revokeKeys(now, 'feed_id', feedId, { workspacePk, by });
    yield* audit(now, 'feed deleted', feedId, { workspacePk, by, change: { before, after: null } });
  },
  *recordTrim(_now, workspaceId, feedId, variant, state) {
    // Other processes notice by the feed's revision.
    const workspacePk = yield* changeWorkspace(workspaceId);
    const trimmed = (before: unknown) => {
      const fits = new Map(Object.entries(JSON.parse(String(before ?? '{}')) as Record<string, TrimState>));
      if (state === null) fits.delete(variant);
      else fits.set(variant, state);
      return fits.size === 0 ? null : JSON.stringify(Object.fromEntries(fits));
    };
    if (yield* trimFrozen(workspacePk, feedId, trimmed)) return;
    const row = yield* one('SELECT pk, fits FROM feeds WHERE id = $1 AND workspace_pk = $2', plainId(feedId), workspacePk);
    if (row !== undefined) yield* run('UPDATE feeds SET fits = $2 WHERE pk = $1', Number(row.pk), trimmed(row.fits));
  },
} satisfies Changes<Pick<AccountWrites, 'createFeed' | 'updateFeed' | 'deleteFeed' | 'recordTrim'>>;

export function* insertFeed(
  now: string,
  workspacePk: number,
  { id, name, lists, always = [], ...patch }: NewFeed & { readonly id: string },
): Work<Row> {
  yield* refuseNames(workspacePk, name);
  yield* requireCanaryQuota(workspacePk, patch.canaryKeys);
  const set = Object.fromEntries(patchColumns(patch, FEED_SETTINGS));
  const row = yield* create(now, 'feeds', { workspace_pk: workspacePk, id, name, all_lists: lists === null ? 1 : 0, ...set });
  yield* addMembers(workspacePk, Number(row.pk), { lists, always });
  return row;
}

/** Changes the feed of a row of FEEDS and returns its new row. Throws REFUSED if the new name is used. */
export function* changeFeed(now: string, workspacePk: number, row: Row, change: FeedPatch & { readonly name?: string }): Work<Row> {
  const { name = String(row.name), lists, always, ...patch } = change;
  const pk = Number(row.pk);
  if (name !== row.name) yield* refuseNames(workspacePk, name);
  yield* requireCanaryQuota(workspacePk, patch.canaryKeys, row.canary_keys);
  const members = yield* membersOf(row);
  const columns = {
    name,
    ...Object.fromEntries(patchColumns(patch, FEED_SETTINGS)),
    ...(lists !== undefined && { all_lists: lists === null ? 1 : 0 }),
    // Trimmed again by the next build.
    fits: null,
  };
  const sets = Object.keys(columns).map((column, i) => `${column} = $${i + 3}, `);
  // The revision increases even if lists leave.
  const text = `UPDATE feeds SET ${sets.join('')}revision = $2 WHERE pk = $1 RETURNING *`;
  const changed = yield* one(text, pk, Number(row.feed_revision) + 1, ...Object.values(columns));
  yield* redateDocuments(now, workspacePk, -pk, row, changed!);
  const present = lists === undefined ? members.lists : lists;
  const remaining = members.always.filter((id) => present?.includes(id) ?? true);
  if (lists !== undefined || always !== undefined) {
    yield* setMembers(workspacePk, pk, { lists: present, always: always ?? remaining });
    yield* forgetDeletedMembers(pk, lists !== undefined);
  }
  return changed!;
}

function* refuseNames(workspacePk: number, name: string): Work<void> {
  yield* refuseName('lists', workspacePk, name);
  yield* refuseName('feeds', workspacePk, name);
}

export const feedOf = (row: Row, workspaceId: string, { lists, always }: FeedMembers): ComposedFeed => ({
  id: String(row.id),
  workspaceId,
  ...profileOf(row),
  ...makingOf(row),
  lists,
  always,
});

export function feedsOf(rows: readonly Row[], workspaceId: string, members: readonly Row[]): ComposedFeed[] {
  const byFeed = Map.groupBy(members, (row) => Number(row.feed_pk));
  return rows.map((row) => feedOf(row, workspaceId, membersIn(row, byFeed.get(Number(row.pk)) ?? [])));
}
