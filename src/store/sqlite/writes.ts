import type { DatabaseSync } from 'node:sqlite';
import type { StoreWrites } from '../../ports/store.ts';
import { KINDS, RULE_KINDS } from '../../rule.ts';
import { recordFeed } from '../feed-record.ts';
import { management } from '../management.ts';
import { restore } from '../restore.ts';
import type { Transact } from '../work.ts';
import { drive, migrateDatabase, type Patience, patiently, transaction } from './database.ts';
import { sqliteLanding } from './landing.ts';

/** Of the tables of rules, which have no rowid. */
const PRIMARY_KEYS = { list: 'list_pk, id', workspace: 'workspace_pk, rule_ref' };

/**
 * The writes of the embedded store on one connection. The schema must exist: `migrate` runs before everything else,
 * so statements are prepared at their first use. With `patience`, migrations and management wait for the lock without holding the thread.
 */
export function sqliteWrites(db: DatabaseSync, clock: () => number, patience?: Patience): StoreWrites {
  const locked = async <T>(work: () => T): Promise<T> => (patience === undefined ? work() : patiently(work, patience));
  // The write lock is held from the start: no other process comes between, and no other call of this one, because nothing here waits.
  const transact: Transact = (work) => locked(() => transaction(db, () => drive(db, work(String(clock())))));
  let landing: ReturnType<typeof sqliteLanding> | undefined;
  return {
    ...management(transact),
    ...restore(transact),
    async migrate() {
      return { applied: await locked(() => migrateDatabase(db)) };
    },
    async apply(batch) {
      landing ??= sqliteLanding(db);
      return landing(batch);
    },
    recordFeed: async (...args) => drive(db, recordFeed(...args)),
    async sweep({ rulesExpiredBefore, auditBefore, limit }) {
      return transaction(db, () => {
        const remove = (text: string, ...args: number[]) => Number(db.prepare(text).run(...args).changes);
        let removed = 0;
        for (const { list_pk } of db.prepare('SELECT list_pk FROM deleted_lists ORDER BY list_pk LIMIT 1').all()) {
          const gone = remove(
            'DELETE FROM access_rules WHERE (list_pk, id) IN (SELECT list_pk, id FROM access_rules WHERE list_pk = ? LIMIT ?)',
            Number(list_pk),
            limit,
          );
          removed += gone;
          removed += remove(
            'DELETE FROM deleted_lists WHERE list_pk = ? AND NOT EXISTS (SELECT 1 FROM access_rules r WHERE r.list_pk = deleted_lists.list_pk)',
            Number(list_pk),
          );
          remove('DELETE FROM feed_records WHERE list_pk = ?', Number(list_pk));
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
