import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { nameFile } from '../../disk.ts';
import { WeirError } from '../../errors.ts';
import { noteWhosePages } from '../../sqlite-shrink.ts';
import { missingMigrations, type OnMigrate, reportMigrations } from '../migrate.ts';
import type { Outcome, Statement, Work } from '../work.ts';

interface DatabaseOptions {
  readonly readOnly?: boolean;
  /** ms; blocks the thread. */
  readonly timeout?: number;
}

/** Page cache per connection, KiB. A reading connection drops it after each commit of another. */
const CACHE = { writing: 65_536, reading: 8_192 };

/** Opens the file for durability: WAL, a sync per commit. Checkpoints are rare, because landing writes the same pages repeatedly. */
export function openDatabase(path: string, { readOnly = false, timeout = 5000 }: DatabaseOptions = {}): DatabaseSync {
  try {
    const db = new DatabaseSync(path, { readOnly, timeout, allowUnknownNamedParameters: false });
    if (!readOnly) {
      noteWhosePages(db);
      db.exec('PRAGMA journal_mode = WAL');
    }
    // The last PRAGMA reads the file and so detects a file that is no database.
    const cache = readOnly ? CACHE.reading : CACHE.writing;
    db.exec(
      `PRAGMA synchronous = FULL; PRAGMA cache_size = -${cache}; PRAGMA wal_autocheckpoint = 8192; PRAGMA foreign_keys = ON; PRAGMA schema_version`,
    );
    return db;
  } catch (error) {
    throw nameFile(error as Error, 'store', path);
  }
}

/** Takes the write lock at the start; rolls back on errors. */
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

export interface Patience {
  /** ms. */
  readonly limit: number;
  /** Called after a second. */
  readonly onWait: () => void;
}

const SQLITE_BUSY = 5;

/** The error is due to another process's lock. */
export const isBusy = (error: unknown): boolean => ((error as { errcode?: number }).errcode ?? 0) % 256 === SQLITE_BUSY;

/** ms. At full load landing releases the lock only briefly; SQLite's own wait polls every 100 ms and rarely succeeds. */
const LOOK = 3;
const QUIET = 1000;

/** Retries `work` (a transaction) until the lock is free. Rejects with STORE_UNAVAILABLE. */
export async function patiently<T>(work: () => T, { limit, onWait }: Patience): Promise<T> {
  const begun = performance.now();
  for (let isReported = false; ; ) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
    const waited = performance.now() - begun;
    if (waited > limit) {
      throw new WeirError('STORE_UNAVAILABLE', `other processes have locked the store's file for ${limit / 1000} s`);
    }
    if (waited > QUIET && !isReported) {
      isReported = true;
      onWait();
    }
    await sleep(LOOK);
  }
}

export function drive<T>(db: DatabaseSync, work: Work<T>): T {
  let step = work.next();
  while (!step.done) step = work.next(execute(db, step.value));
  return step.value;
}

/** By text: preparing takes longer than finding a row. */
const PREPARED = new WeakMap<DatabaseSync, Map<string, StatementSync>>();
/** More than the recurring texts; texts with lists of values may never recur. */
const MOST_PREPARED = 200;

/** Accepts PostgreSQL placeholders. */
export function prepared(db: DatabaseSync, text: string): StatementSync {
  const known = PREPARED.get(db) ?? new Map<string, StatementSync>();
  PREPARED.set(db, known);
  const statement = known.get(text) ?? db.prepare(ownPlaceholders(text));
  if (known.size >= MOST_PREPARED) known.clear();
  known.set(text, statement);
  return statement;
}

/** Numbered placeholders have names, which SQLite searches for each value that is bound: the time grows with their square. */
function ownPlaceholders(text: string): string {
  const numbers = text.match(/(?<=\$)\d+/g) ?? [];
  return numbers.every((number, i) => Number(number) === i + 1) ? text.replace(/\$\d+/g, '?') : text.replace(/\$(?=\d)/g, '?');
}

function execute(db: DatabaseSync, { text, values, reads, asArrays = false }: Statement): Outcome {
  const statement = prepared(db, text);
  if (!reads) return { rows: [], count: Number(statement.run(...values).changes) };
  if (asArrays) statement.setReturnArrays(true);
  const rows = statement.all(...values);
  return { rows, count: rows.length };
}

export function readTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN');
  try {
    return work();
  } finally {
    if (db.isTransaction) db.exec('COMMIT');
  }
}

export function seenMigrations(db: DatabaseSync): string[] {
  if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").get() === undefined) return [];
  return db
    .prepare('SELECT name FROM migrations')
    .all()
    .map((row) => String(row.name));
}

/** Takes the write lock and calls `onMigrate` only if some are missing. */
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

/** The clock in ms, as a constant SQL expression; statements are prepared once: preparing takes longer than finding a row. */
export function storeClock(db: DatabaseSync, clock: () => number): string {
  db.function('store_clock', () => BigInt(clock()));
  return 'store_clock()';
}
