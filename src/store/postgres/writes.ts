import type { StoreWrites } from '../../ports/store.ts';
import { recordDocument } from '../document-record.ts';
import type { OnMigrate } from '../migrate.ts';
import { sharedWrites } from '../shared-writes.ts';
import { type AtMost, sweep } from '../sweep.ts';
import { noteFeedSize } from '../usage/feed-days.ts';
import type { Transact } from '../work.ts';
import { type Database, drive, NOW, type Session } from './database.ts';
import { land, type MostAreNew } from './landing.ts';
import { exclusively, migrateDatabase } from './migrate.ts';

export function postgresWrites(db: Database, onMigrate?: OnMigrate): StoreWrites {
  const transact: Transact = (work, { alone = false, ...options } = {}) => {
    const driven = (session: Session) => drive(session, work(NOW));
    return alone ? exclusively(db, driven) : db.transaction(driven, options);
  };
  const mostAreNew: MostAreNew = new Map();
  return {
    ...sharedWrites(transact),
    migrate: async () => ({ applied: await migrateDatabase(db, onMigrate) }),
    apply: (batch) => land(db, batch, mostAreNew),
    // Separate statements: locking rows of many workspaces could deadlock with a landing.
    async noteFeedSizes(sizes) {
      for (const size of sizes) await drive(db, noteFeedSize(size));
    },
    recordDocument: (...args) => drive(db, recordDocument(NOW, ...args)),
    // PostgreSQL vacuums itself.
    shrink: async () => false,
    sweep: (limits) => transact(() => sweep(atMost, limits), { repeatable: true }),
  };
}

// Skips locked rows: a sweep neither waits nor deadlocks.
const atMost: AtMost = (table, condition) =>
  `ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${condition} LIMIT $2 FOR UPDATE SKIP LOCKED))`;
