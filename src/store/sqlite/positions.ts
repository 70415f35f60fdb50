import { DatabaseSync } from 'node:sqlite';

/** In the data folder. */
export const STORE_FILE = 'weir.db';

/** From a copy of a store of any version; empty if landing never ran. */
export function readPositions(file: string): ReadonlyMap<string, number> {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = db.prepare('SELECT stream_id, next_offset FROM positions').all();
    return new Map(rows.map((row) => [String(row.stream_id), Number(row.next_offset)]));
  } finally {
    db.close();
  }
}
