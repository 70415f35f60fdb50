/** What is known of the rules that were on one target, the same in both dialects (SPEC D10.26). */
import type { RuleVersion } from '../../ports/rule-store.ts';
import { ACCESS_ACTIONS } from '../../rule.ts';
import { originsIn } from '../batches/batch-reads.ts';
import { actionCode } from '../columns.ts';
import { workspacePk } from '../places.ts';
import { type Row, ruleOf } from '../rows.ts';
import { all, type Work } from '../work.ts';

/**
 * Rules with some values (pairs of action and target), list by list and value by value through the index on them, which the condition on
 * `rule_ref` names. SQLite joins in the order of CROSS JOIN; else it goes through all rules of a list.
 */
const found = (columns: string, row: string, tables: string, byRef: boolean) =>
  `SELECT ${columns}, l.id AS list_id FROM lists l CROSS JOIN asked a CROSS JOIN ${tables}
  WHERE l.workspace_pk = $1 AND ${row}.list_pk = l.pk AND ${row}.action = a.action AND ${row}.target = a.target
  AND ${row}.rule_ref IS ${byRef ? 'NOT NULL' : 'NULL'}`;
const NOW = (byRef: boolean) => `${found('r.*', 'r', 'access_rules r', byRef)} ORDER BY r.seq DESC LIMIT $2`;
const BEFORE = `${found('c.*', 'c', 'access_rules_before c', false)} AND c.existed = 1 ORDER BY c.changed DESC LIMIT $2`;
/** Of rules with a rule_ref what is on a target now leads to what was before. */
const BEFORE_OF_REF = `${found('c.*', 'r', 'access_rules r CROSS JOIN access_rules_before c', true)}
  AND c.list_pk = r.list_pk AND c.rule_ref = r.rule_ref AND c.rule_ref IS NOT NULL AND c.existed = 1 AND c.target = r.target
  ORDER BY c.changed DESC LIMIT $2`;

/** `ruleVersions` of the port. */
export function* ruleVersions(workspaceId: string, targets: readonly string[], limit: number): Work<RuleVersion[]> {
  const workspace = yield* workspacePk(workspaceId);
  if (workspace === undefined || targets.length === 0) return [];
  const values = targets.flatMap((_, i) => ACCESS_ACTIONS.map((action) => `(${actionCode(action)}, $${i + 3})`)).join(', ');
  const rows: Row[] = [];
  for (const text of [NOW(false), NOW(true), BEFORE, BEFORE_OF_REF]) {
    rows.push(...(yield* all(`WITH asked (action, target) AS (VALUES ${values}) ${text}`, workspace, limit, ...targets)));
  }
  const newest = rows.toSorted((a, b) => lastOf(b) - lastOf(a)).slice(0, limit);
  const seqs = newest.flatMap(({ seq, changed }) => [Number(seq), ...(changed === undefined ? [] : [Number(changed)])]);
  const origins = yield* originsIn(workspace, seqs);
  return newest.map((row) => ({
    stored: ruleOf('access_rule', row),
    written: origins.get(Number(row.seq)) ?? null,
    ended: row.changed === undefined ? null : { seq: Number(row.changed), by: origins.get(Number(row.changed)) ?? null },
  }));
}

const lastOf = ({ seq, changed }: Row): number => Math.max(Number(seq), Number(changed ?? 0));
