import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { WeirError } from '../../errors.ts';
import { noteWhosePages } from '../../sqlite-shrink.ts';
import { missingMigrations, type OnMigrate, reportMigrations } from '../migrate.ts';
import type { Outcome, Statement, Work } from '../work.ts';

interface DatabaseOptions {
  readonly readOnly?: boolean;
  /** How long a statement waits for another process's lock, ms; this thread does nothing else meanwhile. */
  readonly timeout?: number;
}

/** Pages that a connection keeps, KiB. One that only reads forgets them with every commit of another. */
const CACHE = { writing: 65_536, reading: 8_192 };

/**
 * Opens the store's file with the settings that durability rests on: WAL, a sync at every commit. Checkpoints are rare, because landing
 * touches the same pages again and again.
 */
export function openDatabase(path: string, { readOnly = false, timeout = 5000 }: DatabaseOptions = {}): DatabaseSync {
  try {
    const db = new DatabaseSync(path, { readOnly, timeout, allowUnknownNamedParameters: false });
    if (!readOnly) {
      noteWhosePages(db);
      db.exec('PRAGMA journal_mode = WAL');
    }
    // The last one reads the file: a connection that only reads finds out here, too, that it is no database.
    const cache = readOnly ? CACHE.reading : CACHE.writing;
    db.exec(
      `PRAGMA synchronous = FULL; PRAGMA cache_size = -${cache}; PRAGMA wal_autocheckpoint = 8192; PRAGMA foreign_keys = ON; PRAGMA schema_version`,
    );
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

/** How a call waits for the write lock while another process holds it. */
export interface Patience {
  /** ms until it is given up. */
  readonly limit: number;
  /** Told once, after a second. */
  readonly onWait: () => void;
}

const SQLITE_BUSY = 5;

/** Whether another process holds the lock that this error was met at. */
export const isBusy = (error: unknown): boolean => ((error as { errcode?: number }).errcode ?? 0) % 256 === SQLITE_BUSY;

/** Landing at full load leaves the lock for moments only: SQLite's own waiting, which looks every 100 ms, rarely meets one. */
const LOOK = 3;
const QUIET = 1000;

/** Runs `work`, which is all or nothing, until the lock is free. Rejects with STORE_UNAVAILABLE when patience ends. */
export async function patiently<T>(work: () => T, { limit, onWait }: Patience): Promise<T> {
  const begun = performance.now();
  for (let told = false; ; ) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
    const waited = performance.now() - begun;
    if (waited > limit) {
      throw new WeirError('STORE_UNAVAILABLE', `other processes have held the lock of the store's file for ${limit / 1000} s`);
    }
    if (waited > QUIET && !told) {
      told = true;
      onWait();
    }
    await sleep(LOOK);
  }
}

/** Runs the statements of `work` one after the other, without a pause between them. */
export function drive<T>(db: DatabaseSync, work: Work<T>): T {
  let step = work.next();
  while (!step.done) step = work.next(execute(db, step.value));
  return step.value;
}

/** Statements of each connection by their text: to prepare one takes longer than to find a row. */
const PREPARED = new WeakMap<DatabaseSync, Map<string, StatementSync>>();
/** More than there are texts that come again; those that list values may never do. */
const MOST_PREPARED = 200;

/** The statement of a text, whose placeholders may be PostgreSQL's. */
export function prepared(db: DatabaseSync, text: string): StatementSync {
  const known = PREPARED.get(db) ?? new Map<string, StatementSync>();
  PREPARED.set(db, known);
  const statement = known.get(text) ?? db.prepare(text.replace(/\$(?=\d)/g, '?'));
  if (known.size >= MOST_PREPARED) known.clear();
  known.set(text, statement);
  return statement;
}

function execute(db: DatabaseSync, { text, values, reads, asArrays = false }: Statement): Outcome {
  const statement = prepared(db, text);
  if (!reads) return { rows: [], count: Number(statement.run(...values).changes) };
  if (asArrays) statement.setReturnArrays(true);
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

/** The names of the migrations that the file has seen. */
export function seenMigrations(db: DatabaseSync): string[] {
  if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").get() === undefined) return [];
  return db
    .prepare('SELECT name FROM migrations')
    .all()
    .map((row) => String(row.name));
}

/**
 * Applies the numbered migrations that the file has not seen, all of them or none; returns their names. Takes the write lock only when
 * there are some, and tells `onMigrate` then.
 */
export function migrateDatabase(db: DatabaseSync, onMigrate?: OnMigrate): string[] {
  if (missingMigrations('sqlite', seenMigrations(db)).length === 0) return [];
  return transaction(db, () => {
    db.exec('CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT, WITHOUT ROWID');
    const seen = seenMigrations(db);
    const missing = missingMigrations('sqlite', seen);
    reportMigrations(onMigrate, seen, missing);
    for (const { name, text } of missing) {
      db.exec(text);
      db.prepare('INSERT INTO migrations VALUES (?, ?)').run(name, Date.now());
    }
    return missing.map(({ name }) => name);
  });
}
