/** Returns free pages of SQLite files (store and stream) to the disk (SPEC D22.5). */
import type { DatabaseSync } from 'node:sqlite';

/** Pages per slice, 4 MiB: blocks writers for some milliseconds. */
const SLICE = 1_000;
/** Free pages to retain: 16 MiB, or an eighth of the file. */
const LEAST_FREE = 4_096;
const FREE_SHARE = 1 / 8;

const pragma = (db: DatabaseSync, name: string): number => Number(Object.values(db.prepare(`PRAGMA ${name}`).get()!)[0]);

/**
 * Frees one slice above that reserve. Returns whether more is left. The file shrinks at the next checkpoint, which the last slice requests.
 */
export function shrinkSlice(db: DatabaseSync): boolean {
  const free = pragma(db, 'freelist_count');
  const more = free - Math.max(LEAST_FREE, Math.floor(pragma(db, 'page_count') * FREE_SHARE));
  if (more <= 0 || pragma(db, 'auto_vacuum') === 0) return false;
  db.exec(`PRAGMA incremental_vacuum(${Math.min(more, SLICE)})`);
  if (more > SLICE) return true;
  db.exec('PRAGMA wal_checkpoint(PASSIVE)');
  return false;
}

/** Enables shrinking in a new file. In a file with tables this has no effect, but would wait for the writer's lock. */
export function noteWhosePages(db: DatabaseSync): void {
  if (pragma(db, 'page_count') === 0) db.exec('PRAGMA auto_vacuum = INCREMENTAL');
}

/**
 * Rewrites the file of an older version once, so that it can shrink. Without enough disk space or with another process, the file stays as
 * it is.
 */
export function makeShrinkable(db: DatabaseSync, tell: (sentence: string) => void = () => {}): void {
  if (pragma(db, 'auto_vacuum') !== 0 || db.location() === null) return;
  tell('the file of the store is rewritten once, to shrink after deletions');
  try {
    db.exec('PRAGMA auto_vacuum = INCREMENTAL; VACUUM');
  } catch (error) {
    tell(`the file of the store is unchanged and will not shrink: ${(error as Error).message}`);
  }
}

/** Without free pages. */
export const usedBytes = (db: DatabaseSync): number => (pragma(db, 'page_count') - pragma(db, 'freelist_count')) * pragma(db, 'page_size');
