/** Counts of rules (`rule_counts`) and previous versions (`kept_counts`) per workspace. Each change adds a row; the sum counts. */
import { all, one, runRows, type Work } from '../work.ts';

/** By workspace pk. */
export class RuleCountChanges extends Map<number, number> {
  add(workspacePk: number, rules: number): void {
    this.set(workspacePk, (this.get(workspacePk) ?? 0) + rules);
  }
}

export function* ruleCount(workspaceId: string): Work<number> {
  const row = yield* one(
    'SELECT sum(c.rules) AS rules FROM workspaces w JOIN rule_counts c ON c.workspace_pk = w.pk WHERE w.id = $1',
    workspaceId,
  );
  return Number(row?.rules ?? 0);
}

type Counts = 'rule_counts' | 'kept_counts';

/** Runs in the transaction that changes the rules. */
export function* writeRuleCounts(changes: RuleCountChanges, table: Counts = 'rule_counts'): Work<void> {
  const rows = [...changes].filter(([, rules]) => rules !== 0);
  yield* runRows(rows, (values) => `INSERT INTO ${table} (workspace_pk, rules) VALUES ${values}`);
}

export function* foldRuleCounts(table: Counts): Work<void> {
  const rows = yield* all(
    `DELETE FROM ${table} WHERE workspace_pk IN (SELECT workspace_pk FROM ${table} GROUP BY workspace_pk HAVING count(*) > 1)
     RETURNING workspace_pk, rules`,
  );
  const sums = new RuleCountChanges();
  for (const row of rows) sums.add(Number(row.workspace_pk), Number(row.rules));
  yield* writeRuleCounts(sums, table);
}
