import type { StoredRule } from '../../ports/rule-store.ts';
import { type ExpressionKind, RULE_KINDS } from '../../rule.ts';
import { type Row, ruleOf } from '../rows.ts';
import type { Session } from './database.ts';

type Reader = Pick<Session, 'run'>;

/** Rules fetched at a time where every column is wanted. */
const PAGE = 1000;
const ACTIVE = '(expires_at IS NULL OR expires_at > $3)';

/** The rules of a list that are active at `now` (ms), by id, page by page. */
export async function* accessRules(session: Reader, listPk: number, listId: string, now: number): AsyncIterable<StoredRule> {
  const text = `SELECT * FROM access_rules WHERE list_pk = $1 AND id > $2 AND ${ACTIVE} ORDER BY id LIMIT ${PAGE}`;
  const page = (after: unknown) => rowsOf(session, text, listPk, Number(after), now);
  for await (const row of pages(page, -1, 'id')) yield ruleOf('access_rule', { ...row, list_id: listId });
}

/** The rules of a workspace of one expression kind that are active at `now` (ms), by rule_ref, page by page. */
export async function* expressionRules(session: Reader, kind: ExpressionKind, workspacePk: number, now: number): AsyncIterable<StoredRule> {
  const { table } = RULE_KINDS[kind];
  const text = `SELECT * FROM ${table} WHERE workspace_pk = $1 AND rule_ref > $2 AND ${ACTIVE} ORDER BY rule_ref LIMIT ${PAGE}`;
  const page = (after: unknown) => rowsOf(session, text, workspacePk, String(after), now);
  for await (const row of pages(page, '', 'rule_ref')) yield ruleOf(kind, row);
}

const rowsOf = async (session: Reader, ...statement: Parameters<Session['run']>): Promise<Row[]> => (await session.run(...statement)).rows;

/** Rows page by page: the next one begins after the last row's `key`. */
async function* pages(page: (after: unknown) => Promise<Row[]>, first: unknown, key: string): AsyncIterable<Row> {
  for (let after = first; ; ) {
    const rows = await page(after);
    yield* rows;
    if (rows.length < PAGE) return;
    after = rows[rows.length - 1][key];
  }
}
