import type { RuleSink } from '../../ports/snapshot.ts';
import { actionCode, EXCEPTION, roleOf, targetOf } from '../columns.ts';
import { lostRows, rulesAtRows, storedRows } from '../rules/rules-at.ts';
import type { RowHandler } from './copy.ts';

/** Active rules of these lists at `now`, optionally with their lists; NOT NULL numbers first. */
export const scanQuery = (lists: readonly number[], now: number, withLists = false): string =>
  `SELECT ${withLists ? 'list_pk, ' : ''}id, action, levels, coalesce(expires_at, 0), v4, v6, CASE WHEN v4 IS NULL AND v6 IS NULL THEN target END
    FROM access_rules WHERE list_pk IN (${lists.map(Number).join()}) AND (expires_at IS NULL OR expires_at > ${Number(now)})`;

/** Active never-block rules of a workspace, as exceptions; same columns. */
export function exceptionsQuery(workspacePk: number, now: number): string {
  const part = (ref: string) => `SELECT r.id, ${EXCEPTION}::smallint, r.levels, coalesce(r.expires_at, 0), r.v4, r.v6,
    CASE WHEN r.v4 IS NULL AND r.v6 IS NULL THEN r.target END
    FROM lists l JOIN access_rules r ON r.list_pk = l.pk AND r.action = ${actionCode('allow')} AND r.rule_ref IS ${ref}
    WHERE l.workspace_pk = ${Number(workspacePk)} AND (r.expires_at IS NULL OR r.expires_at > ${Number(now)})`;
  return `${part('NULL')} UNION ALL ${part('NOT NULL')}`;
}

/** The rules of a list with their start, and its previous rules; same columns. */
export const historyQueries = (list: number, workspace: number) => ({
  stored: ofHistory(storedRows(String(Number(list)))),
  lost: ofHistory(lostRows(String(Number(list)), String(Number(workspace)))),
});
/** Same columns. */
export const rulesAtQuery = (list: number, seq: number): string => ofHistory(rulesAtRows(String(Number(list)), String(Number(seq))));
const ofHistory = (
  rows: string,
) => `SELECT id, action, levels, coalesce(expires_at, 0), v4, v6, CASE WHEN v4 IS NULL AND v6 IS NULL THEN target END
    FROM (${rows}) AS r`;

// Offset of each field's data in a row, after its length.
const ID = 4;
const ROLE = ID + 8 + 4;
const LEVELS = ROLE + 2 + 4;
const EXPIRES = LEVELS + 2 + 4;
// Earlier alternatives of the last three fields are NULL: a length without data.
const V4 = EXPIRES + 8 + 4;
const V6 = V4 + 4;
const TARGET = V6 + 4;
/** Number, with its length. */
const LIST = 4 + 4;

/** With `onList` rows begin with their list. */
export function scanInto(sink: RuleSink, onList?: (pk: number) => void): RowHandler {
  let last: number | undefined;
  return (row, from) => {
    let at = from;
    if (onList !== undefined) {
      const pk = row.readInt32BE(from + 4);
      if (pk !== last) onList(pk);
      last = pk;
      at += LIST;
    }
    const id = int8(row, at + ID);
    const role = roleOf(row.readInt16BE(at + ROLE));
    const levels = row.readInt16BE(at + LEVELS);
    const expires = Math.ceil(int8(row, at + EXPIRES) / 1000);
    const has = (field: number) => row.readInt32BE(at + field - 4) !== -1;
    if (has(V4)) {
      const packed = int8(row, at + V4);
      sink.v4(id, role, Math.floor(packed / 64), packed % 64, expires, levels);
    } else if (has(V6)) sink.v6(id, role, row, at + V6, row[at + V6 + 16], expires, levels);
    else {
      const target = targetOf(row.toString('utf8', at + TARGET));
      if (target.kind !== 'ip') sink.geo(id, role, target, expires, levels);
    }
  };
}

/** BIGINT within safe integers. */
const int8 = (row: Buffer, at: number) => row.readInt32BE(at) * 0x1_0000_0000 + row.readUInt32BE(at + 4);
