import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { WeirError } from '../../errors.ts';
import type { Store, StoreReads } from '../../ports/store.ts';
import { type OnMigrate, requireMigrations, type SchemaState, schemaState } from '../migrate.ts';
import { openDatabase, type Patience, patiently, seenMigrations } from './database.ts';
import { STORE_FILE } from './positions.ts';
import { sqliteReads } from './reads.ts';
import { sqliteWrites } from './writes.ts';

/** How a store is opened that may have to be brought up to date. */
export interface Opening {
  readonly patience?: Patience;
  readonly onMigrate?: OnMigrate;
}

const storeFile = (dataDir: string) => join(dataDir, STORE_FILE);

/**
 * The embedded store with reads and writes in this thread: for the command line, the writer thread and tests. Makes the folder,
 * readable by its owner only, and applies the migrations. With `patience` a write lets this thread go on while it waits for another
 * process's lock; without, it waits 5 s and holds the thread.
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

/** The schema of the store, which is neither made nor changed. */
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

/** The reads alone, on a read-only connection. Throws REFUSED where there is no store, or one that has to be migrated. */
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
