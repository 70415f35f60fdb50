/** How the files of SQLite, of the store and of the stream, give back what was deleted (SPEC D22.5). */
import type { DatabaseSync } from 'node:sqlite';

/** Pages that one slice gives back, 4 MiB: some milliseconds in which nothing else is written. */
const SLICE = 1_000;
/** Free pages that stay, for what comes: 16 MiB, and an eighth of the file. */
const LEAST_FREE = 4_096;
const FREE_SHARE = 1 / 8;

const pragma = (db: DatabaseSync, name: string): number => Number(Object.values(db.prepare(`PRAGMA ${name}`).get()!)[0]);

/**
 * Gives a slice of the file's free pages back to the disk, where more of them are free than are kept for what comes. Returns
 * whether there may be more. The file is shorter after the next checkpoint, which the last slice asks for.
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

/** Lets a new file note whose each page is, so that it can shrink. Where there are tables that changes nothing, but waits for the lock of who writes. */
export function noteWhosePages(db: DatabaseSync): void {
  if (pragma(db, 'page_count') === 0) db.exec('PRAGMA auto_vacuum = INCREMENTAL');
}

/** Writes the file of an older weir anew, once, so that it can shrink. Where that cannot be (no room, another process) it stays as it is. */
export function makeShrinkable(db: DatabaseSync, tell: (sentence: string) => void = () => {}): void {
  if (pragma(db, 'auto_vacuum') !== 0 || db.location() === null) return;
  tell('the file of the store is written anew, once, so that it shrinks when much of it is deleted');
  try {
    db.exec('PRAGMA auto_vacuum = INCREMENTAL; VACUUM');
  } catch (error) {
    tell(`the file of the store stays as it is, and does not shrink: ${(error as Error).message}`);
  }
}

/** Bytes of a file that hold something. */
export const usedBytes = (db: DatabaseSync): number => (pragma(db, 'page_count') - pragma(db, 'freelist_count')) * pragma(db, 'page_size');
