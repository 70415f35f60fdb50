import { EXPRESSION_KINDS, type ExpressionKind, type Kind } from '../../rule.ts';
import { actionCode } from '../columns.ts';
import type { CompactUpsert, RefDelete, Run, Touch, ValueDelete } from '../rules/compact.ts';
import { rowOf, ruleTable } from '../rules/rule-columns.ts';
import { ACCESS_BY_REF, ACCESS_BY_VALUE, EXPRESSION_BY_REF, keepCreated } from '../rules/rule-tables.ts';

/** Returns rows (`place`, `rules`, `kept`): per list or workspace the change in rules, and in previous versions. */
export interface BulkStatement {
  readonly text: string;
  readonly rows: readonly StatementRow[];
  readonly scope: 'list' | 'workspace';
  /** Inserts only new rules: cheaper. Values: rows, count. If some remain, `ids` are the inserted ones. */
  readonly insertNew?: string;
  readonly firstId?: number;
}

type StatementRow = Readonly<Record<string, unknown>>;

/** In the order in which they take effect. */
export function runStatements({ refDeletes, valueDeletes, upserts }: Run): BulkStatement[] {
  const access = upserts.filter(isAccess);
  // Ids only grow: stored rules have lower ones.
  const firstId = upserts.reduce((least, { id }) => Math.min(least, id), Number.POSITIVE_INFINITY);
  const upsert = (scope: BulkStatement['scope'], { text, insertNew }: Upsert, rows: readonly StatementRow[]) => ({
    ...countedUpsert(scope, text),
    insertNew: countedInsert(scope, insertNew),
    rows,
    firstId,
  });
  const remove = (scope: BulkStatement['scope'], text: string, rows: readonly StatementRow[]) => ({ ...countedDelete(scope, text), rows });
  const statements = [
    remove('list', DELETE_BY_REF, refDeletes.filter(({ kind }) => kind === 'access_rule').map(accessRef)),
    ...EXPRESSION_KINDS.map((kind) =>
      remove('workspace', expressionDelete(kind), refDeletes.filter((d) => d.kind === kind).map(expressionRef)),
    ),
    ...DELETES_BY_VALUE.map((text) => remove('list', text, valueDeletes.map(valueRow))),
    upsert('list', UPSERT_BY_REF, access.filter(({ change }) => change.rule.ruleRef !== null).map(accessRow)),
    upsert('list', UPSERT_BY_VALUE, access.filter(({ change }) => change.rule.ruleRef === null).map(accessRow)),
    ...EXPRESSION_KINDS.map((kind) => upsert('workspace', expressionUpsert(kind), upserts.filter(isExpression(kind)).map(expressionRow))),
  ];
  return statements.filter(({ rows }) => rows.length > 0);
}

const previousCounts = (scope: BulkStatement['scope']) => `UNION ALL SELECT ${scope}_pk, 0, count(*) FROM kept GROUP BY ${scope}_pk`;
const countedDelete = (scope: BulkStatement['scope'], text: string) => ({
  scope,
  text: `WITH ${text} RETURNING r.${scope}_pk AS place) SELECT place, -count(*) AS rules, 0 AS kept FROM done GROUP BY place ${previousCounts(scope)}`,
});
const countedUpsert = (scope: BulkStatement['scope'], text: string) => ({
  scope,
  text: `WITH ${text} RETURNING ${scope}_pk AS place, id) SELECT place, count(*) AS rules, 0 AS kept FROM done WHERE id >= $2 GROUP BY place ${previousCounts(scope)}`,
});

const countedInsert = (scope: BulkStatement['scope'], text: string) =>
  `WITH ${text} RETURNING ${scope}_pk AS place, id) SELECT place, count(*) AS rules, 0 AS kept,
   CASE WHEN (SELECT count(*) FROM done) < $2 THEN string_agg(id::text, ',') END AS ids FROM done GROUP BY place`;

type AccessUpsert = CompactUpsert & { change: { kind: 'access_rule' } };
type ExpressionUpsert = CompactUpsert & { change: { kind: ExpressionKind } };
const isAccess = (upsert: CompactUpsert): upsert is AccessUpsert => upsert.change.kind === 'access_rule';
const isExpression =
  (kind: ExpressionKind) =>
  (upsert: CompactUpsert): upsert is ExpressionUpsert =>
    upsert.change.kind === kind;

// statements

const given = (columns: string) => `given AS MATERIALIZED (SELECT * FROM json_to_recordset($1) AS given (${columns}))`;
/** The number of a change, and the first number with which its own batch wrote the rule. */
const TOUCH = 'seq bigint, first_seq bigint';

/**
 * Existing rules with the row that addresses them, each by index. OFFSET 0 keeps the planner from scanning a table that has grown since its
 * last analysis.
 */
const found = (kind: Kind, condition: string) => `found AS MATERIALIZED (SELECT given.seq AS changed, given.first_seq, r.* FROM given
  CROSS JOIN LATERAL (SELECT r.ctid AS at, ${ruleTable(kind).columns.map((column) => `r.${column}`)} FROM ${ruleTable(kind).table} r
    WHERE ${condition} OFFSET 0) r)`;

/** Stores versions, unless the same batch wrote them. */
function storePrevious(kind: Kind): string {
  const { before, columns, place } = ruleTable(kind);
  return `kept AS (INSERT INTO ${before} (changed, existed, ${columns}) SELECT changed, 1, ${columns} FROM found WHERE seq < first_seq RETURNING ${place})`;
}

/** The statement continues after `done AS (…`. No other landing runs meanwhile (the workspace is locked); a sweep only deletes. */
const deletion = (kind: Kind, columns: string, condition: string) =>
  `${given(`${columns}, ${TOUCH}`)}, ${found(kind, condition)}, ${storePrevious(kind)}, done AS (DELETE FROM ${ruleTable(kind).table} r
  WHERE r.ctid = ANY (ARRAY(SELECT at FROM found))`;

const SAME_REF = 'r.list_pk = given.list_pk AND r.rule_ref = given.rule_ref';
const SAME_VALUE = 'r.list_pk = given.list_pk AND r.action = given.action AND r.target = given.target';
const SAME_EXPRESSION = 'r.workspace_pk = given.workspace_pk AND r.rule_ref = given.rule_ref';

const DELETE_BY_REF = deletion('access_rule', 'list_pk int, rule_ref text', SAME_REF);
// Two statements, one per partial index.
const DELETES_BY_VALUE = ['IS NULL', 'IS NOT NULL'].map((ref) =>
  deletion('access_rule', 'list_pk int, action smallint, target text', `${SAME_VALUE} AND r.rule_ref ${ref}`),
);
const expressionDelete = (kind: ExpressionKind) => deletion(kind, 'workspace_pk int, rule_ref text', SAME_EXPRESSION);

const TYPES: Readonly<Record<string, string>> = {
  ...{ id: 'bigint', list_pk: 'int', workspace_pk: 'int', v4: 'bigint', v6: 'bytea', levels: 'smallint', '"order"': 'bigint' },
  ...{ expires_at: 'bigint', created_at: 'bigint', updated_at: 'bigint', seq: 'bigint' },
};
const typesOf = (kind: Kind): string =>
  ruleTable(kind)
    .columns.map((name) => `${name} ${kind === 'access_rule' && name === 'action' ? 'smallint' : (TYPES[name] ?? 'text')}`)
    .join(', ');

/** For the benchmark against a bare loop. Rows: `accessRow`. */
export const BARE_UPSERT = `WITH ${given(typesOf('access_rule'))} ${insertGiven('access_rule', ACCESS_BY_VALUE)}`;
const UPSERT_BY_REF = upsertInto('access_rule', ACCESS_BY_REF, SAME_REF);
const UPSERT_BY_VALUE = upsertInto('access_rule', ACCESS_BY_VALUE, `${SAME_VALUE} AND r.rule_ref IS NULL`);

const expressionUpsert = (kind: ExpressionKind) => upsertInto(kind, EXPRESSION_BY_REF, SAME_EXPRESSION);

interface Upsert {
  readonly text: string;
  readonly insertNew: string;
}

/** Each statement continues after `done AS (…`. */
function upsertInto(kind: Kind, identity: string, condition: string): Upsert {
  const types = typesOf(kind);
  return {
    text: `${given(`${types}, first_seq bigint`)}, ${found(kind, condition)}, ${storePrevious(kind)}, done AS (${insertGiven(kind, identity)}`,
    insertNew: `${given(types)}, done AS (${insertInto(kind, identity)} DO NOTHING`,
  };
}

function insertGiven(kind: Kind, identity: string): string {
  const { table, columns } = ruleTable(kind);
  const sets = columns.filter((name) => name !== 'id' && name !== 'created_at').map((name) => `${name} = excluded.${name}`);
  return `${insertInto(kind, identity)} DO UPDATE SET ${sets}, ${keepCreated(table)}`;
}

function insertInto(kind: Kind, identity: string): string {
  const { table, columns } = ruleTable(kind);
  return `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM given ON CONFLICT ${identity}`;
}

// rows

const touch = ({ seq, firstId }: Touch) => ({ seq, first_seq: firstId });
const accessRef = (change: RefDelete) => ({ list_pk: change.list, rule_ref: change.ruleRef, ...touch(change) });
const expressionRef = (change: RefDelete) => ({ workspace_pk: change.workspace, rule_ref: change.ruleRef, ...touch(change) });
const valueRow = (change: ValueDelete) => ({
  list_pk: change.list,
  action: actionCode(change.action),
  target: change.target,
  ...touch(change),
});

function ruleRow(names: readonly string[], place: number, { change, ...written }: CompactUpsert): StatementRow {
  const values = rowOf(change.rule, { ...written, place });
  const row: Record<string, unknown> = { first_seq: written.firstId };
  for (const [i, name] of names.entries()) {
    const value = values[i];
    row[name] = value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : value;
  }
  return row;
}

const namesOf = (kind: Kind) => ruleTable(kind).columns.map((column) => column.replaceAll('"', ''));
const ACCESS_NAMES = namesOf('access_rule');
const EXPRESSION_NAMES = namesOf('waf_rule');

export const accessRow = (upsert: AccessUpsert): StatementRow => ruleRow(ACCESS_NAMES, upsert.list, upsert);
const expressionRow = (upsert: ExpressionUpsert): StatementRow => ruleRow(EXPRESSION_NAMES, upsert.workspace, upsert);
