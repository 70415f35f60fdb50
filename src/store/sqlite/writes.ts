import type { DatabaseSync } from 'node:sqlite';
import { WeirError } from '../../errors.ts';
import type { StoreWrites } from '../../ports/store.ts';
import { KINDS, RULE_KINDS } from '../../rule.ts';
import { migrateDatabase, transaction } from './database.ts';
import { sqliteLanding } from './landing.ts';
import { sqliteManagement } from './management.ts';
import { sqliteRestore } from './restore.ts';

/** Of the tables of rules, which have no rowid. */
const PRIMARY_KEYS = { list: 'list_pk, id', workspace: 'workspace_pk, rule_ref' };

/**
 * The writes of the embedded store on one connection. The schema must exist: `migrate` runs before everything else,
 * so statements are prepared at their first use.
 */
export function sqliteWrites(db: DatabaseSync, clock: () => number): StoreWrites {
  let landing: ReturnType<typeof sqliteLanding> | undefined;
  return {
    ...sqliteManagement(db, clock),
    ...sqliteRestore(db, clock),
    async migrate() {
      return { applied: migrateDatabase(db) };
    },
    async land(batch) {
      landing ??= sqliteLanding(db);
      return landing(batch);
    },
    async recordFeed(workspaceId, key, seen) {
      return transaction(db, () => {
        const listPk = key.listId === null ? 0 : db.prepare('SELECT pk FROM lists WHERE id = ?').get(key.listId)?.pk;
        const workspacePk = db.prepare('SELECT pk FROM workspaces WHERE id = ?').get(workspaceId)?.pk;
        if (listPk === undefined || workspacePk === undefined) throw new WeirError('NOT_FOUND', 'the feed that is to be recorded is gone');
        // One statement: a newer snapshot moves the row, and only another hash moves `since`.
        const row = db
          .prepare(
            `INSERT INTO feed_records (workspace_pk, list_pk, format, family, action, hash, snapshot_at, since) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT DO UPDATE SET
               since = CASE WHEN hash = excluded.hash THEN since ELSE max(excluded.since, since + 1) END,
               hash = excluded.hash,
               snapshot_at = excluded.snapshot_at
             WHERE excluded.snapshot_at >= snapshot_at
             RETURNING hash, snapshot_at, since`,
          )
          .get(Number(workspacePk), Number(listPk), key.format, key.family, key.action, seen.hash, seen.snapshotAt, seen.second);
        const stored =
          row ??
          db
            .prepare(
              'SELECT hash, snapshot_at, since FROM feed_records WHERE workspace_pk = ? AND list_pk = ? AND format = ? AND family = ? AND action = ?',
            )
            .get(Number(workspacePk), Number(listPk), key.format, key.family, key.action)!;
        return { hash: String(stored.hash), snapshotAt: Number(stored.snapshot_at), since: Number(stored.since) };
      });
    },
    async sweep({ rulesExpiredBefore, auditBefore, limit }) {
      return transaction(db, () => {
        const remove = (text: string, ...args: number[]) => Number(db.prepare(text).run(...args).changes);
        let removed = 0;
        for (const { list_pk } of db.prepare('SELECT list_pk FROM deleted_lists LIMIT 1').all()) {
          const gone = remove(
            'DELETE FROM access_rules WHERE (list_pk, id) IN (SELECT list_pk, id FROM access_rules WHERE list_pk = ? LIMIT ?)',
            Number(list_pk),
            limit,
          );
          if (gone === 0) removed += remove('DELETE FROM deleted_lists WHERE list_pk = ?', Number(list_pk));
          removed += gone;
        }
        for (const kind of KINDS) {
          const { scope, table } = RULE_KINDS[kind];
          const key = PRIMARY_KEYS[scope];
          removed += remove(
            `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE expires_at < ? LIMIT ?)`,
            rulesExpiredBefore,
            limit,
          );
        }
        for (const table of ['dead_letters', 'audit']) {
          removed += remove(`DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE at < ? LIMIT ?)`, auditBefore, limit);
        }
        return removed;
      });
    },
  };
}
