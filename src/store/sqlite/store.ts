import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Store, StoreReads } from '../../ports/store.ts';
import { openDatabase } from './database.ts';
import { sqliteReads } from './reads.ts';
import { sqliteWrites } from './writes.ts';

/** Makes the folder of the embedded engine, readable by its owner only, and names the store's file in it. */
function storeFile(dataDir: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  return join(dataDir, 'weir.db');
}

/** The embedded store with reads and writes in this thread: for the command line, the writer thread and tests. Applies the migrations. */
export async function openSqliteStore(dataDir: string, clock: () => number = Date.now): Promise<Store> {
  const file = storeFile(dataDir);
  const writer = openDatabase(file);
  const writes = sqliteWrites(writer, clock);
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

/** The reads alone, on a read-only connection. The schema must exist. */
export function openSqliteReads(dataDir: string, clock: () => number = Date.now): StoreReads & { close(): Promise<void> } {
  const db = openDatabase(storeFile(dataDir), { readOnly: true });
  return {
    ...sqliteReads(db, clock),
    async close() {
      db.close();
    },
  };
}
