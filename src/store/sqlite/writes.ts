import type { DatabaseSync } from 'node:sqlite';
import type { StoreWrites } from '../../ports/store.ts';
import { KINDS } from '../../rule.ts';
import { makeShrinkable, shrinkSlice } from '../../sqlite-shrink.ts';
import { recordDocument } from '../document-record.ts';
import type { OnMigrate } from '../migrate.ts';
import { ruleTable } from '../rules/rule-columns.ts';
import { sharedWrites } from '../shared-writes.ts';
import { type AtMost, sweep } from '../sweep.ts';
import { noteFeedSize } from '../usage/feed-days.ts';
import type { Transact } from '../work.ts';
import { storeClock } from './clock.ts';
import { drive, migrateDatabase, type Patience, patiently, transaction } from './database.ts';
import { sqliteLanding } from './landing.ts';

/** Tables without rowid. */
const PRIMARY_KEYS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(KINDS.map(ruleTable).map(({ table, key }) => [table, key.join(', ')])),
  access_rules_before: 'list_pk, changed, id',
  told_networks: 'workspace_pk, feed_id, seq',
  feed_days: 'workspace_pk, list_pk, day',
  activity: 'workspace_pk, step, slot',
  rule_changes: 'workspace_pk, minute, place, kind, sender',
  devices: 'workspace_pk, id',
  hit_windows: 'workspace_pk, digest',
};

/**
 * The schema must exist: `migrate` runs first, so statements are prepared lazily. With `patience`, migrations and management wait
 * asynchronously for the lock.
 */
export function sqliteWrites(db: DatabaseSync, clock: () => number, patience?: Patience, onMigrate?: OnMigrate): StoreWrites {
  const locked = async <T>(work: () => T): Promise<T> => (patience === undefined ? work() : patiently(work, patience));
  // Takes the write lock at the start; nothing here awaits, so no other call comes in between.
  const now = storeClock(db, clock);
  const transact: Transact = (work) => locked(() => transaction(db, () => drive(db, work(now))));
  let landing: ReturnType<typeof sqliteLanding> | undefined;
  return {
    ...sharedWrites(transact),
    async migrate() {
      const applied = await locked(() => migrateDatabase(db, onMigrate));
      makeShrinkable(db, onMigrate);
      return { applied };
    },
    async apply(batch) {
      landing ??= sqliteLanding(db);
      return landing(batch);
    },
    async noteFeedSizes(sizes) {
      transaction(db, () => {
        for (const size of sizes) drive(db, noteFeedSize(size));
      });
    },
    recordDocument: async (...args) => drive(db, recordDocument(now, ...args)),
    sweep: async (limits) => transaction(db, () => drive(db, sweep(atMost, limits))),
    shrink: async () => shrinkSlice(db),
  };
}

const atMost: AtMost = (table, condition) => {
  const key = PRIMARY_KEYS[table] ?? 'id';
  return `(${key}) IN (SELECT ${key} FROM ${table} WHERE ${condition} LIMIT $2)`;
};
