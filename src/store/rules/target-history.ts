/** The history of the rules on one target (SPEC D10.26). */
import type { RuleVersion } from '../../ports/stored/rule-store.ts';
import { ACCESS_ACTIONS } from '../../rule.ts';
import { originsIn } from '../batches/batch-reads.ts';
import { actionCode } from '../columns.ts';
import { workspacePk } from '../row-ids.ts';
import { type Row, ruleOf } from '../rows.ts';
import { all, type Work } from '../work.ts';
import type { IndexedBy } from './rule-pages.ts';

/** Where to search, and the index: without the hint SQLite reads all rules of a list. */
interface Place {
  readonly from: string;
  readonly row: string;
  readonly index: string;
  readonly byRef: boolean;
}

const RULES: Place = { from: 'access_rules r', row: 'r', index: 'access_rules_value', byRef: false };
const RULES_BY_REF: Place = { from: 'access_rules r', row: 'r', index: 'access_rules_ref_value', byRef: true };
const BEFORE: Place = { from: 'access_rules_before c', row: 'c', index: 'access_rules_before_value', byRef: false };

/** Rules by (action, target), per list and value. SQLite follows the order of CROSS JOIN. */
const found = (columns: string, { from, row, index, byRef }: Place, indexedBy: IndexedBy, more: readonly [from: string, where: string]) =>
  `SELECT ${columns}, l.id AS list_id FROM lists l CROSS JOIN asked a CROSS JOIN ${from} ${indexedBy(index)} ${more[0]}
  WHERE l.workspace_pk = $1 AND ${row}.list_pk = l.pk AND ${row}.action = a.action AND ${row}.target = a.target
  AND ${row}.rule_ref IS ${byRef ? 'NOT NULL' : 'NULL'} ${more[1]}`;

/** The current rule on a target leads to its previous versions. */
const OF_REF = 'AND c.list_pk = r.list_pk AND c.rule_ref = r.rule_ref AND c.rule_ref IS NOT NULL AND c.target = r.target';
/** Includes rules absent before the change (`existed` 0), which an undo restored. */
const NEWEST = 'ORDER BY c.changed DESC LIMIT $2';
const statements = (by: IndexedBy): readonly string[] => [
  found('r.*', RULES, by, ['', 'ORDER BY r.seq DESC LIMIT $2']),
  found('r.*', RULES_BY_REF, by, ['', 'ORDER BY r.seq DESC LIMIT $2']),
  found('c.*', BEFORE, by, ['', NEWEST]),
  found('c.*', RULES_BY_REF, by, [`CROSS JOIN access_rules_before c ${by('access_rules_before_ref')}`, `${OF_REF} ${NEWEST}`]),
];

export function* ruleVersions(indexedBy: IndexedBy, workspaceId: string, targets: readonly string[], limit: number): Work<RuleVersion[]> {
  const workspace = yield* workspacePk(workspaceId);
  if (workspace === undefined || targets.length === 0) return [];
  const values = targets.flatMap((_, i) => ACCESS_ACTIONS.map((action) => `(${actionCode(action)}, $${i + 3})`)).join(', ');
  const rows: Row[] = [];
  for (const text of statements(indexedBy)) {
    rows.push(...(yield* all(`WITH asked (action, target) AS (VALUES ${values}) ${text}`, workspace, limit, ...targets)));
  }
  const newest = rows.toSorted((a, b) => lastOf(b) - lastOf(a)).slice(0, limit);
  const seqs = newest.flatMap(({ seq, changed }) => [Number(seq), ...(changed === undefined ? [] : [Number(changed)])]);
  const origins = yield* originsIn(workspace, seqs);
  const originOf = (seq: unknown) => origins.get(Number(seq)) ?? null;
  return newest.map((row) => {
    const stored = ruleOf('access_rule', row);
    if (row.existed !== undefined && Number(row.existed) === 0) return { stored, written: originOf(row.changed), ended: null };
    const ended = row.changed === undefined ? null : { seq: Number(row.changed), by: originOf(row.changed) };
    return { stored, written: originOf(row.seq), ended };
  });
}

const lastOf = ({ seq, changed }: Row): number => Math.max(Number(seq), Number(changed ?? 0));
