/** What is known of the rules that were on one target, the same in both dialects (SPEC D10.26). */
import type { RuleVersion } from '../../ports/rule-store.ts';
import { ACCESS_ACTIONS } from '../../rule.ts';
import { originsIn } from '../batches/batch-reads.ts';
import { actionCode } from '../columns.ts';
import { workspacePk } from '../places.ts';
import { type Row, ruleOf } from '../rows.ts';
import { all, type Work } from '../work.ts';

const ACTIONS = ACCESS_ACTIONS.map((action) => actionCode(action)).join(', ');

/** Rules on some targets, in each list by the index on their value; the condition on `rule_ref` names the index. */
const onTargets = (row: string, byRef: boolean, targets: string) =>
  `${row}.list_pk = l.pk AND ${row}.action IN (${ACTIONS}) AND ${row}.target IN (${targets}) AND ${row}.rule_ref IS ${byRef ? 'NOT NULL' : 'NULL'}`;
const OF = 'l.workspace_pk = $1';
const now = (byRef: boolean, targets: string) =>
  `SELECT r.*, l.id AS list_id FROM lists l JOIN access_rules r ON ${onTargets('r', byRef, targets)} WHERE ${OF} ORDER BY r.seq DESC LIMIT $2`;
const before = (
  targets: string,
) => `SELECT c.*, l.id AS list_id FROM lists l JOIN access_rules_before c ON ${onTargets('c', false, targets)}
  WHERE ${OF} AND c.existed = 1 ORDER BY c.changed DESC LIMIT $2`;
/** Of rules with a rule_ref what is on a target now leads to what was before. */
const beforeOfRef = (targets: string) => `SELECT c.*, l.id AS list_id FROM lists l JOIN access_rules r ON ${onTargets('r', true, targets)}
  JOIN access_rules_before c ON c.list_pk = r.list_pk AND c.rule_ref = r.rule_ref AND c.rule_ref IS NOT NULL
  WHERE ${OF} AND c.existed = 1 AND c.target = r.target ORDER BY c.changed DESC LIMIT $2`;

/** `ruleVersions` of the port. */
export function* ruleVersions(workspaceId: string, targets: readonly string[], limit: number): Work<RuleVersion[]> {
  const workspace = yield* workspacePk(workspaceId);
  if (workspace === undefined || targets.length === 0) return [];
  const given = targets.map((_, i) => `$${i + 3}`).join(', ');
  const rows: Row[] = [];
  for (const text of [now(false, given), now(true, given), before(given), beforeOfRef(given)]) {
    rows.push(...(yield* all(text, workspace, limit, ...targets)));
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
