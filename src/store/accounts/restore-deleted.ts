import { WAY_BACK } from '../../account/large.ts';
import { listState } from '../../account/list.ts';
import { DAY } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import { type AccountWrites, type DeletedFeed, RESTORE_PERIOD } from '../../ports/stored/account-store.ts';
import { requireCanaryQuota } from '../canary/feeds.ts';
import { blocksOf, overlapOf } from '../canary/overlap.ts';
import { stage } from '../canary/start.ts';
import { WORKSPACE_PK } from '../row-ids.ts';
import { listOf } from '../rows.ts';
import { countExpiredMeanwhile } from '../usage/feed-days.ts';
import { all, type Changes, one, run, type Value, type Work } from '../work.ts';
import { changeWorkspace, moveKeyRevision, tooManyLists } from './account-statements.ts';
import { audit } from './audit.ts';
import { MEMBER, type Table } from './deleted.ts';
import { refuseName } from './feed-lists.ts';
import { composedFeeds } from './feeds.ts';
import { listCount } from './lists.ts';
import { type DeletedSource, requireQuotaForSource, restoreDeletedSource } from './sources.ts';

const RESTORABLE = 'SELECT * FROM deleted_lists WHERE workspace_pk = $1 AND until > ';

export function* deletedFeeds(workspaceId: string, now: number): Work<DeletedFeed[]> {
  const rows = yield* all(
    `SELECT d.*, (SELECT count(*) FROM keys k WHERE k.revoked_with = d.id) AS keys FROM deleted_lists d
     WHERE d.workspace_pk = ${WORKSPACE_PK} AND d.until > $2 ORDER BY d.until DESC, d.list_pk DESC`,
    workspaceId,
    now,
  );
  return rows.map((row) => ({
    kind: Number(row.list_pk) > 0 ? 'list' : 'composed',
    id: String(row.id),
    name: String(row.name),
    deletedAt: Number(row.deleted_at),
    until: Number(row.until),
    keys: Number(row.keys),
  }));
}

export const deletedChanges = {
  *restoreDeleted(now, workspaceId, id, { name, maxLists = 0, maxSources = 0 }, { by } = {}) {
    const workspacePk = yield* changeWorkspace(workspaceId);
    const found = yield* one(`${RESTORABLE}${now} AND id = $2 ORDER BY until DESC LIMIT 1`, workspacePk, id);
    if (found === undefined)
      throw new WeirError('NOT_FOUND', `nothing with the id "${id}" was deleted in the last ${RESTORE_PERIOD / DAY} days`);
    const number = Number(found.list_pk);
    const table: Table = number > 0 ? 'lists' : 'feeds';
    const { source, ...was } = JSON.parse(String(found.was)) as Record<string, Value> & { readonly source?: DeletedSource };
    const row = { ...was, ...(name !== undefined && { name }) } as Record<string, Value>;
    if (table === 'lists' && maxLists > 0 && (yield* listCount(workspaceId)) >= maxLists) throw tooManyLists(maxLists);
    yield* refuseUsed(workspacePk, table, row);
    const old = yield* one(`SELECT ${now} AS at FROM deleted_lists WHERE list_pk = $1 AND deleted_at < ${now} - ${WAY_BACK}`, number);
    if (old !== undefined) {
      const at = Number(old.at);
      const overlap = table === 'lists' ? yield* overlapOf(workspacePk, yield* blocksOf(number, at), at) : undefined;
      yield* stage(now, { workspaceId, workspacePk, reason: `${row.name} is restored`, overlap }, by);
    }
    yield* requireCanaryQuota(workspacePk, row.canary_keys);
    yield* restoreRow(table, row);
    if (source !== undefined) {
      yield* requireQuotaForSource(workspacePk, maxSources);
      yield* restoreDeletedSource(now, workspacePk, number, source);
    }
    yield* run('DELETE FROM deleted_lists WHERE list_pk = $1', number);
    if (table === 'lists') yield* countExpiredMeanwhile(now, Number(workspacePk), number, Number(found.deleted_at));
    yield* rejoin(number);
    const keys = yield* all('UPDATE keys SET revoked_at = NULL, revoked_with = NULL WHERE revoked_with = $1 RETURNING id', id);
    yield* moveKeyRevision();
    for (const key of keys) yield* audit(now, 'key restored', String(key.id), { workspacePk, by });
    const after = table === 'lists' ? listState(listOf(row, workspaceId)) : { name: row.name };
    yield* audit(now, table === 'lists' ? 'list restored' : 'feed restored', id, { workspacePk, by, change: { before: null, after } });
    const having = (yield* composedFeeds(workspaceId)).filter((feed) => feed.lists === null || feed.lists.includes(id));
    const feeds = table === 'lists' ? having.map((feed) => ({ id: feed.id, name: feed.name })) : [];
    return { kind: table === 'lists' ? 'list' : 'composed', id, name: String(row.name), keys: keys.length, feeds };
  },
} satisfies Changes<Pick<AccountWrites, 'restoreDeleted'>>;

/** Its name or id may have been used again. */
function* refuseUsed(workspacePk: number, table: Table, row: Readonly<Record<string, Value>>): Work<void> {
  for (const other of ['lists', 'feeds'] as const) {
    yield* refuseName(other, workspacePk, String(row.name), ': give it another with name');
  }
  if ((yield* one(`SELECT id FROM ${table} WHERE id = $1`, row.id!)) !== undefined)
    throw new WeirError('REFUSED', `the id "${row.id}" is used by another: it came with an import`);
}

/** With a higher revision than any that was read. */
function* restoreRow(table: Table, row: Readonly<Record<string, Value>>): Work<void> {
  const columns = Object.keys(row);
  const values = columns.map((column) => (column === 'revision' ? Number(row.revision) + 1 : row[column]!));
  yield* run(`INSERT INTO ${table} (${columns}) VALUES (${columns.map((_, i) => `$${i + 1}`)})`, ...values);
}

/** As far as feeds and lists exist. */
function* rejoin(number: number): Work<void> {
  const [own, pk] = number > 0 ? ['list_pk', number] : ['feed_pk', -number];
  const joined = `SELECT m.* FROM deleted_members m JOIN feeds f ON f.pk = m.feed_pk JOIN lists l ON l.pk = m.list_pk WHERE m.${own} = $1`;
  const rows = yield* all(joined, pk);
  for (const row of rows) {
    const pair = [Number(row.feed_pk), Number(row.list_pk)] as const;
    const again = `INSERT INTO feed_lists (${MEMBER}) VALUES ($1, $2, $3, $4) ON CONFLICT (feed_pk, list_pk) DO NOTHING`;
    yield* run(again, ...pair, Number(row.position), Number(row.is_always));
    yield* run('DELETE FROM deleted_members WHERE feed_pk = $1 AND list_pk = $2', ...pair);
    yield* run('UPDATE feeds SET revision = revision + 1 WHERE pk = $1', pair[0]);
  }
}
