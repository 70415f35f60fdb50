import { KINDS, RULE_KINDS } from '../../rule.ts';

/** The identity of rules (D3.10): targets of ON CONFLICT. */
export const ACCESS_BY_VALUE = '(list_pk, action, target) WHERE rule_ref IS NULL';
export const ACCESS_BY_REF = '(list_pk, rule_ref) WHERE rule_ref IS NOT NULL';
export const EXPRESSION_BY_REF = '(workspace_pk, rule_ref)';

/** An upsert of a rule that had expired when the signal was accepted counts as new. */
export const keepCreated = (table: string): string =>
  `created_at = CASE WHEN ${table}.expires_at <= excluded.created_at THEN excluded.created_at ELSE ${table}.created_at END`;

/** `now` and `id`: placeholders, in this order. */
export function activeCount(now: string, id: string): string {
  const active = '(r.expires_at IS NULL OR r.expires_at > at.now)';
  const counts = KINDS.map((kind) => {
    const { scope, table } = RULE_KINDS[kind];
    return scope === 'list'
      ? `(SELECT count(*) FROM lists l JOIN ${table} r ON r.list_pk = l.pk WHERE l.workspace_pk = w.pk AND ${active})`
      : `(SELECT count(*) FROM ${table} r WHERE r.workspace_pk = w.pk AND ${active})`;
  });
  return `SELECT ${counts.join(' + ')} AS rules FROM workspaces w, (SELECT CAST(${now} AS BIGINT) AS now) at WHERE w.id = ${id}`;
}
