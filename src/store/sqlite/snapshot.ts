import type { StatementSync } from 'node:sqlite';
import type { RuleSink } from '../../ports/rule-store.ts';
import { actionCode, EXCEPTION, roleOf, targetOf } from '../columns.ts';

/** Rules fetched at a time: `all()` on a page is twice as fast as `iterate()` and needs no more memory than the page. */
const PAGE = 8192;

/** One page of the rules of a list that are active at an instant, as a feed needs them; to be read as arrays. */
export const SCAN_PAGE = `SELECT id, action, v4, v6, expires_at, levels, CASE WHEN v4 IS NULL AND v6 IS NULL THEN target END
  FROM access_rules WHERE list_pk = ? AND id > ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY id LIMIT ${PAGE}`;

type ScanRow = [number, number, number | null, Uint8Array | null, number | null, number, string | null];

/** The indexes that have never-block rules apart from the others; the planner would read all rules of each list. */
const BY_ACTION = { access_rules_value: 'NULL', access_rules_ref_value: 'NOT NULL' };

/** The never-block rules of a workspace that are active at an instant, as exceptions; to be read as arrays. */
export const SCAN_EXCEPTIONS = Object.entries(BY_ACTION)
  .map(
    ([
      index,
      ref,
    ]) => `SELECT r.id, ${EXCEPTION}, r.v4, r.v6, r.expires_at, r.levels, CASE WHEN r.v4 IS NULL AND r.v6 IS NULL THEN r.target END
  FROM lists l CROSS JOIN access_rules r INDEXED BY ${index} ON r.list_pk = l.pk AND r.action = ${actionCode('allow')} AND r.rule_ref IS ${ref}
  WHERE l.workspace_pk = ?1 AND (r.expires_at IS NULL OR r.expires_at > ?2)`,
  )
  .join(' UNION ALL ');

/** Hands the never-block rules of a workspace that are active at `now` (ms) to `sink`; `statement` is SCAN_EXCEPTIONS. */
export function scanExceptions(statement: StatementSync, workspacePk: number, now: number, sink: RuleSink): void {
  for (const row of statement.iterate(workspacePk, now)) handOver(row as unknown as ScanRow, sink);
}

/** Hands the rules of a list that are active at `now` (ms) to `sink`; `page` is SCAN_PAGE. */
export function scanList(page: StatementSync, listPk: number, now: number, sink: RuleSink): void {
  for (let after = -1; ; ) {
    const rows = page.all(listPk, after, now) as unknown as ScanRow[];
    for (const row of rows) handOver(row, sink);
    if (rows.length < PAGE) return;
    after = rows[rows.length - 1][0];
  }
}

function handOver([id, role, v4, v6, expiresAt, levels, target]: ScanRow, sink: RuleSink): void {
  const expires = expiresAt === null ? 0 : Math.ceil(expiresAt / 1000);
  if (v4 !== null) sink.v4(id, roleOf(role), Math.floor(v4 / 64), v4 % 64, expires, levels);
  else if (v6 !== null) sink.v6(id, roleOf(role), v6, 0, v6[16], expires, levels);
  else {
    const parsed = targetOf(String(target));
    if (parsed.kind !== 'ip') sink.geo(id, roleOf(role), parsed, expires, levels);
  }
}
