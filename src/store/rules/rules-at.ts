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

const PLACE = `SELECT l.pk, l.workspace_pk FROM workspaces w JOIN lists l ON l.workspace_pk = w.pk WHERE w.id = $1 AND l.id = $2`;

/** undefined: a list of another workspace. */
export function* listPlace(workspaceId: string, listId: string): Work<{ readonly list: number; readonly workspace: number } | undefined> {
  const row = yield* one(PLACE, workspaceId, listId);
  return row && { list: Number(row.pk), workspace: Number(row.workspace_pk) };
}

/** `id`: start of the rule. */
export const storedRows = (list: string) =>
  `SELECT r.created_at AS id, r.action, r.levels, r.expires_at, r.v4, r.v6, r.target FROM access_rules r WHERE r.list_pk = ${list}`;

/** Previous versions, until changed or expired. Whole seconds, rounded down: a rule is no longer there in the second of its end. */
export const lostRows = (list: string, workspace: string) =>
  `SELECT id, action, levels, CASE WHEN expires_at < changed_at THEN expires_at ELSE changed_at - changed_at % 1000 END AS expires_at, v4, v6, target
  FROM (SELECT b.created_at AS id, b.action, b.levels, b.expires_at, b.v4, b.v6, b.target,
    (SELECT t.received_at FROM batches t WHERE t.workspace_pk = ${workspace} AND t.first_seq <= b.changed ORDER BY t.first_seq DESC LIMIT 1) AS changed_at
    FROM access_rules_before b WHERE b.list_pk = ${list} AND b.existed = 1) AS lost WHERE changed_at IS NOT NULL`;
