import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { WeirError } from '../../errors.ts';
import type { Store, StoreReads, StoreWrites } from '../../ports/store.ts';
import { KINDS } from '../../rule.ts';
import { makeShrinkable, shrinkSlice } from '../../sqlite-shrink.ts';
import { recordDocument } from '../document-record.ts';
import { type OnMigrate, requireMigrations, type SchemaState, schemaState } from '../migrate.ts';
import { ruleTable } from '../rules/rule-columns.ts';
import { sharedWrites } from '../shared-writes.ts';
import { type AtMost, sweep } from '../sweep.ts';
import { noteFeedSize } from '../usage/feed-days.ts';
import type { Transact } from '../work.ts';
import { drive, migrateDatabase, openDatabase, type Patience, patiently, seenMigrations, storeClock, transaction } from './database.ts';
import { sqliteLanding } from './landing.ts';
import { STORE_FILE } from './positions.ts';
import { sqliteReads } from './reads.ts';

export interface Opening {
  readonly patience?: Patience;
  readonly onMigrate?: OnMigrate;
}

const storeFile = (dataDir: string) => join(dataDir, STORE_FILE);

/**
 * Reads and writes in this thread: for the CLI, the writer thread and tests. Creates the folder (owner only) and migrates. With `patience`
 * a write waits asynchronously for another process's lock; without, it blocks for up to 5 s.
 */
export async function openSqliteStore(
  dataDir: string,
  clock: () => number = Date.now,
  { patience, onMigrate }: Opening = {},
): Promise<Store> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const open = () => openDatabase(storeFile(dataDir), { timeout: patience === undefined ? 5000 : 0 });
  const writer = patience === undefined ? open() : await patiently(open, patience);
  const writes = sqliteWrites(writer, clock, patience, onMigrate);
  await writes.migrate();
  const reads = openSqliteReads(dataDir, clock);
  return {
    ...writes,
    ...reads,
    async close() {
      await reads.close();
      writer.close();
    },
  };
}

export function sqliteSchema(dataDir: string): SchemaState {
  const file = storeFile(dataDir);
  if (!existsSync(file)) return schemaState('sqlite', []);
  const db = openDatabase(file, { readOnly: true });
  try {
    return schemaState('sqlite', seenMigrations(db));
  } finally {
    db.close();
  }
}

/** REFUSED: no store, or migrations are missing. */
export function openSqliteReads(dataDir: string, clock: () => number = Date.now): StoreReads & { close(): Promise<void> } {
  const file = storeFile(dataDir);
  if (!existsSync(file)) throw new WeirError('REFUSED', `there is no store in DATA_DIR ${dataDir}: run weir migrate or start the service`);
  const db = openDatabase(file, { readOnly: true });
  try {
    requireMigrations('sqlite', seenMigrations(db));
  } catch (error) {
    db.close();
    throw error;
  }
  return {
    ...sqliteReads(db, clock),
    async close() {
      db.close();
    },
  };
}

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
function sqliteWrites(db: DatabaseSync, clock: () => number, patience?: Patience, onMigrate?: OnMigrate): StoreWrites {
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
