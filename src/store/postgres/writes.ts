import { WeirError } from '../../errors.ts';
import type { StoreWrites } from '../../ports/store.ts';
import { KINDS, RULE_KINDS } from '../../rule.ts';
import type { Database } from './database.ts';
import { land } from './landing.ts';
import { postgresManagement } from './management.ts';
import { migrateDatabase } from './migrate.ts';
import { postgresRestore } from './restore.ts';

/** The writes of the PostgreSQL store. */
export function postgresWrites(db: Database): StoreWrites {
  return {
    ...postgresManagement(db),
    ...postgresRestore(db),
    async migrate() {
      return { applied: await migrateDatabase(db) };
    },
    land: (batch) => land(db, batch),
    async recordFeed(workspaceId, key, seen) {
      // One statement, so that replicas at the same moment agree: a newer snapshot moves the row, and only another hash moves `since`.
      const row = await db.one(
        `INSERT INTO feed_records AS stored (workspace_pk, list_pk, format, family, action, hash, snapshot_at, since)
         SELECT w.pk, coalesce(l.pk, 0), $3, $4, $5, $6, $7, $8
         FROM workspaces w LEFT JOIN lists l ON l.workspace_pk = w.pk AND l.id = $2 WHERE w.id = $1 AND ($2::text IS NULL OR l.pk IS NOT NULL)
         ON CONFLICT (workspace_pk, list_pk, format, family, action) DO UPDATE SET
           since = CASE WHEN excluded.snapshot_at < stored.snapshot_at OR excluded.hash = stored.hash THEN stored.since
                        ELSE greatest(excluded.since, stored.since + 1) END,
           hash = CASE WHEN excluded.snapshot_at < stored.snapshot_at THEN stored.hash ELSE excluded.hash END,
           snapshot_at = greatest(excluded.snapshot_at, stored.snapshot_at)
         RETURNING hash, snapshot_at, since`,
        workspaceId,
        key.listId,
        key.format,
        key.family,
        key.action,
        seen.hash,
        seen.snapshotAt,
        seen.second,
      );
      if (row === undefined) throw new WeirError('NOT_FOUND', 'the feed that is to be recorded is gone');
      return { hash: String(row.hash), snapshotAt: Number(row.snapshot_at), since: Number(row.since) };
    },
    sweep: ({ rulesExpiredBefore, auditBefore, limit }) =>
      db.transaction(
        async (session) => {
          let removed = 0;
          // Rows that a landing or another sweep holds are left for the next slice: a sweep never waits and never deadlocks.
          const remove = async (table: string, condition: string, value: number) => {
            const { count } = await session.run(
              `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${condition} LIMIT $2 FOR UPDATE SKIP LOCKED))`,
              value,
              limit,
            );
            removed += count;
          };
          const deleted = await session.one('SELECT list_pk FROM deleted_lists ORDER BY list_pk LIMIT 1');
          if (deleted !== undefined) {
            const listPk = Number(deleted.list_pk);
            await remove('access_rules', 'list_pk = $1', listPk);
            const done = await session.run(
              'DELETE FROM deleted_lists WHERE list_pk = $1 AND NOT EXISTS (SELECT FROM access_rules WHERE list_pk = $1)',
              listPk,
            );
            removed += done.count;
            await session.run('DELETE FROM feed_records WHERE list_pk = $1', listPk);
          }
          for (const kind of KINDS) await remove(RULE_KINDS[kind].table, 'expires_at < $1', rulesExpiredBefore);
          for (const table of ['dead_letters', 'audit']) await remove(table, 'at < $1', auditBefore);
          return removed;
        },
        { repeatable: true },
      ),
  };
}
