import type { StatementSync } from 'node:sqlite';
import type { RuleSink } from '../../ports/rule-store.ts';
import { actionOf, targetOf } from '../columns.ts';

/** Rules fetched at a time: `all()` on a page is twice as fast as `iterate()` and needs no more memory than the page. */
const PAGE = 8192;

/** One page of the rules of a list that are active at an instant, as a feed needs them; to be read as arrays. */
export const SCAN_PAGE = `SELECT id, action, v4, v6, expires_at, levels, CASE WHEN v4 IS NULL AND v6 IS NULL THEN target END
  FROM access_rules WHERE list_pk = ? AND id > ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY id LIMIT ${PAGE}`;

type ScanRow = [number, number, number | null, Uint8Array | null, number | null, number, string | null];

/** Hands the rules of a list that are active at `now` (ms) to `sink`; `page` is SCAN_PAGE. */
export function scanList(page: StatementSync, listPk: number, now: number, sink: RuleSink): void {
  for (let after = -1; ; ) {
    const rows = page.all(listPk, after, now) as unknown as ScanRow[];
    for (const row of rows) handOver(row, sink);
    if (rows.length < PAGE) return;
    after = rows[rows.length - 1][0];
  }
}

function handOver([id, action, v4, v6, expiresAt, levels, target]: ScanRow, sink: RuleSink): void {
  const expires = expiresAt === null ? 0 : Math.ceil(expiresAt / 1000);
  if (v4 !== null) sink.v4(id, actionOf(action), Math.floor(v4 / 64), v4 % 64, expires, levels);
  else if (v6 !== null) sink.v6(id, actionOf(action), v6, 0, v6[16], expires, levels);
  else {
    const parsed = targetOf(String(target));
    if (parsed.kind !== 'ip') sink.geo(id, actionOf(action), parsed, expires, levels);
  }
}
