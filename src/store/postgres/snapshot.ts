import type { RuleSink } from '../../ports/rule-store.ts';
import { actionOf, targetOf } from '../columns.ts';
import type { RowHandler } from './copy.ts';

/** The rules of these lists that are active at `now`, as a feed needs them; numbers that are never NULL first. */
export function scanQuery(lists: readonly number[], now: number): string {
  return `SELECT id, action, levels, coalesce(expires_at, 0), v4, v6, CASE WHEN v4 IS NULL AND v6 IS NULL THEN target END
    FROM access_rules WHERE list_pk IN (${lists.map(Number).join()}) AND (expires_at IS NULL OR expires_at > ${Number(now)})`;
}

// Where the data of each field of the query lies in a row, after its length.
const ID = 4;
const ACTION = ID + 8 + 4;
const LEVELS = ACTION + 2 + 4;
const EXPIRES = LEVELS + 2 + 4;
// Of the last three, those before the one that is there are NULL: a length without data.
const V4 = EXPIRES + 8 + 4;
const V6 = V4 + 4;
const TARGET = V6 + 4;

/** Hands the rows of `scanQuery` to `sink`. */
export function scanInto(sink: RuleSink): RowHandler {
  return (row, at) => {
    const id = int8(row, at + ID);
    const action = actionOf(row.readInt16BE(at + ACTION));
    const levels = row.readInt16BE(at + LEVELS);
    const expires = Math.ceil(int8(row, at + EXPIRES) / 1000);
    const has = (field: number) => row.readInt32BE(at + field - 4) !== -1;
    if (has(V4)) {
      const packed = int8(row, at + V4);
      sink.v4(id, action, Math.floor(packed / 64), packed % 64, expires, levels);
    } else if (has(V6)) sink.v6(id, action, row, at + V6, row[at + V6 + 16], expires, levels);
    else {
      const target = targetOf(row.toString('utf8', at + TARGET));
      if (target.kind !== 'ip') sink.geo(id, action, target, expires, levels);
    }
  };
}

/** A BIGINT within the safe integers. */
const int8 = (row: Buffer, at: number) => row.readInt32BE(at) * 0x1_0000_0000 + row.readUInt32BE(at + 4);
