import { DatabaseSync } from 'node:sqlite';

/** The embedded store's file in the data folder. */
export const STORE_FILE = 'weir.db';

/** The positions in a copy of the store, by stream, whatever version of weir wrote it; none where landing has never begun. */
export function readPositions(file: string): ReadonlyMap<string, number> {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = db.prepare('SELECT stream_id, next_offset FROM positions').all();
    return new Map(rows.map((row) => [String(row.stream_id), Number(row.next_offset)]));
  } finally {
    db.close();
  }
}
