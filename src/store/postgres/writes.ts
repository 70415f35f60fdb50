import type { StoreWrites } from '../../ports/store.ts';
import { KINDS, RULE_KINDS } from '../../rule.ts';
import { recordFeed } from '../feed-record.ts';
import { management } from '../management.ts';
import { restore } from '../restore.ts';
import type { Transact } from '../work.ts';
import { NOW } from './clock.ts';
import { type Database, drive, type Session } from './database.ts';
import { land } from './landing.ts';
import { exclusively, migrateDatabase } from './migrate.ts';

/** The writes of the PostgreSQL store. */
export function postgresWrites(db: Database): StoreWrites {
  const transact: Transact = (work, { alone = false, ...options } = {}) => {
    const driven = (session: Session) => drive(session, work(NOW));
    return alone ? exclusively(db, driven) : db.transaction(driven, options);
  };
  return {
    ...management(transact),
    ...restore(transact),
    async migrate() {
      return { applied: await migrateDatabase(db) };
    },
    apply: (batch) => land(db, batch),
    recordFeed: (...args) => drive(db, recordFeed(...args)),
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
