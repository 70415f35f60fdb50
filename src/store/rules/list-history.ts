/** From when to when a list had each rule (D30.3). */
import { one, type Work } from '../work.ts';

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
