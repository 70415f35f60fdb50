import type { StoredRule } from '../../ports/rule-store.ts';
import { type ExpressionKind, RULE_KINDS } from '../../rule.ts';
import { type Row, ruleOf } from '../rows.ts';

/** Rules fetched at a time where every column is wanted. */
const PAGE = 1000;
const ACTIVE = '(expires_at IS NULL OR expires_at > ?)';

type All = (text: string, ...args: (string | number)[]) => Row[];

/** The rules of a list that are active at `now` (ms), by id, page by page. */
export function* accessRules(all: All, listPk: number, listId: string, now: number): Iterable<StoredRule> {
  const text = `SELECT * FROM access_rules WHERE list_pk = ? AND id > ? AND ${ACTIVE} ORDER BY id LIMIT ${PAGE}`;
  for (let after = -1; ; ) {
    const rows = all(text, listPk, after, now);
    for (const row of rows) yield ruleOf('access_rule', { ...row, list_id: listId });
    if (rows.length < PAGE) return;
    after = Number(rows[rows.length - 1].id);
  }
}

/** The rules of a workspace of one expression kind that are active at `now` (ms), by rule_ref, page by page. */
export function* expressionRules(all: All, kind: ExpressionKind, workspacePk: number, now: number): Iterable<StoredRule> {
  const { table } = RULE_KINDS[kind];
  const text = `SELECT * FROM ${table} WHERE workspace_pk = ? AND rule_ref > ? AND ${ACTIVE} ORDER BY rule_ref LIMIT ${PAGE}`;
  for (let after = ''; ; ) {
    const rows = all(text, workspacePk, after, now);
    for (const row of rows) yield ruleOf(kind, row);
    if (rows.length < PAGE) return;
    after = String(rows[rows.length - 1].rule_ref);
  }
}
