import type { DatabaseSync } from 'node:sqlite';

/**
 * The clock of a connection in ms since 1970, as an SQL expression. Its text never changes, so that statements with it are prepared once:
 * that takes longer than to find a row.
 */
export function storeClock(db: DatabaseSync, clock: () => number): string {
  db.function('store_clock', () => BigInt(clock()));
  return 'store_clock()';
}
