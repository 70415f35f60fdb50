import type { DatabaseSync } from 'node:sqlite';

/** The clock in ms, as a constant SQL expression; statements are prepared once: preparing takes longer than finding a row. */
export function storeClock(db: DatabaseSync, clock: () => number): string {
  db.function('store_clock', () => BigInt(clock()));
  return 'store_clock()';
}
