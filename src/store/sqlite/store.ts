import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { WeirError } from '../../errors.ts';
import type { Store, StoreReads } from '../../ports/store.ts';
import { type OnMigrate, requireMigrations, type SchemaState, schemaState } from '../migrate.ts';
import { openDatabase, type Patience, patiently, seenMigrations } from './database.ts';
import { STORE_FILE } from './positions.ts';
import { sqliteReads } from './reads.ts';
import { sqliteWrites } from './writes.ts';

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

/** Does not create or change it. */
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

/** Read-only. Throws REFUSED if there is no store, or migrations are missing. */
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
