/** The rules of a list at an earlier change (SPEC D32.6): the first later change of a rule has its previous version. */
import { one, type Work } from '../work.ts';

const COLUMNS = ['id', 'action', 'levels', 'expires_at', 'v4', 'v6', 'target'];
const of = (row: string) => COLUMNS.map((column) => `${row}.${column}`).join(', ');

/** Rules after change `seq`, including expired ones. */
export const rulesAtRows = (list: string, seq: string): string => {
  const changed = `FROM access_rules_before c WHERE c.list_pk = ${list} AND c.changed > ${seq} AND c.id <= ${seq}`;
  return `SELECT ${of('r')} FROM access_rules r LEFT JOIN (SELECT DISTINCT c.id ${changed}) g ON g.id = r.id
      WHERE r.list_pk = ${list} AND r.id <= ${seq} AND g.id IS NULL
    UNION ALL SELECT ${of('b')} FROM (SELECT c.id, min(c.changed) AS changed ${changed} GROUP BY c.id) f
      JOIN access_rules_before b ON b.list_pk = ${list} AND b.changed = f.changed AND b.id = f.id WHERE b.existed = 1`;
};

export function* placeAt(workspaceId: string, at: number): Work<number> {
  const row = yield* one(
    `SELECT b.last_seq FROM batches b WHERE b.workspace_pk = (SELECT pk FROM workspaces WHERE id = $1) AND b.first_seq > 0 AND b.landed_at <= $2
     ORDER BY b.first_seq DESC LIMIT 1`,
    workspaceId,
    at,
  );
  return Number(row?.last_seq ?? 0);
}

export function* rulesKnownSince(workspaceId: string): Work<number> {
  const row = yield* one(
    `SELECT b.landed_at FROM given_up g JOIN batches b ON b.workspace_pk = g.workspace_pk AND b.first_seq > 0 AND b.first_seq <= g.until_seq
     WHERE g.workspace_pk = (SELECT pk FROM workspaces WHERE id = $1) ORDER BY b.first_seq DESC LIMIT 1`,
    workspaceId,
  );
  return Number(row?.landed_at ?? 0);
}
