/** The statements that write rules, many at a time: each takes its rows as one JSON array. */
import { EXPRESSION_KINDS, type ExpressionKind, type Kind } from '../../rule.ts';
import { actionCode } from '../columns.ts';
import type { CompactUpsert, RefDelete, Run, Touch, ValueDelete } from '../rules/compact.ts';
import { rowOf, ruleTable } from '../rules/rule-columns.ts';
import { ACCESS_BY_REF, ACCESS_BY_VALUE, EXPRESSION_BY_REF, keepCreated } from '../rules/rule-tables.ts';

/** Answers with rows (`place`, `rules`, `kept`): how many rules each list or workspace has more, or less, afterwards, and how many are kept as they were. */
export interface BulkStatement {
  readonly text: string;
  readonly rows: readonly StatementRow[];
  readonly scope: 'list' | 'workspace';
  /** Of an upsert: writes the rows of new rules alone, for less. Values: the rows, and how many. Where it leaves some, `ids` are those it wrote. */
  readonly insertNew?: string;
  /** The text's second value, if it has one. */
  readonly firstId?: number;
}

/** Columns by name. */
type StatementRow = Readonly<Record<string, unknown>>;

/** One run of folded changes as statements, in the order in which they take effect. Those without rows are left out. */
export function runStatements({ refDeletes, valueDeletes, upserts }: Run): BulkStatement[] {
  const access = upserts.filter(isAccess);
  // Ids only grow: what is stored already has a lesser one.
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

const keptOf = (scope: BulkStatement['scope']) => `UNION ALL SELECT ${scope}_pk, 0, count(*) FROM kept GROUP BY ${scope}_pk`;
const countedDelete = (scope: BulkStatement['scope'], text: string) => ({
  scope,
  text: `WITH ${text} RETURNING r.${scope}_pk AS place) SELECT place, -count(*) AS rules, 0 AS kept FROM done GROUP BY place ${keptOf(scope)}`,
});
const countedUpsert = (scope: BulkStatement['scope'], text: string) => ({
  scope,
  text: `WITH ${text} RETURNING ${scope}_pk AS place, id) SELECT place, count(*) AS rules, 0 AS kept FROM done WHERE id >= $2 GROUP BY place ${keptOf(scope)}`,
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

// ---------------------------------------------------------------- statements

const given = (columns: string) => `given AS MATERIALIZED (SELECT * FROM json_to_recordset($1) AS given (${columns}))`;
/** What a change and its batch are told by: its number, and from which number on a rule was written by its own batch. */
const TOUCH = 'seq bigint, first_seq bigint';

/**
 * The rules that are there, each with the row that asks for it: looked up one by one through an index. OFFSET 0 keeps the planner, which
 * takes a table that has grown since it was analysed for a small one, from reading all rules of the table for them.
 */
const found = (kind: Kind, condition: string) => `found AS MATERIALIZED (SELECT given.seq AS changed, given.first_seq, r.* FROM given
  CROSS JOIN LATERAL (SELECT r.ctid AS at, ${ruleTable(kind).columns.map((column) => `r.${column}`)} FROM ${ruleTable(kind).table} r
    WHERE ${condition} OFFSET 0) r)`;

/** Keeps them as they are before the statement's own change of them, unless the same batch wrote them. */
function kept(kind: Kind): string {
  const { before, columns, place } = ruleTable(kind);
  return `kept AS (INSERT INTO ${before} (changed, existed, ${columns}) SELECT changed, 1, ${columns} FROM found WHERE seq < first_seq RETURNING ${place})`;
}

/** The rest of a statement follows `done AS (…`. No other landing changes the rules meanwhile: the workspace's row is held; a sweep only deletes. */
const deletion = (kind: Kind, columns: string, condition: string) =>
  `${given(`${columns}, ${TOUCH}`)}, ${found(kind, condition)}, ${kept(kind)}, done AS (DELETE FROM ${ruleTable(kind).table} r
  WHERE r.ctid = ANY (ARRAY(SELECT at FROM found))`;

const SAME_REF = 'r.list_pk = given.list_pk AND r.rule_ref = given.rule_ref';
const SAME_VALUE = 'r.list_pk = given.list_pk AND r.action = given.action AND r.target = given.target';
const SAME_EXPRESSION = 'r.workspace_pk = given.workspace_pk AND r.rule_ref = given.rule_ref';

const DELETE_BY_REF = deletion('access_rule', 'list_pk int, rule_ref text', SAME_REF);
// Two statements, each on its partial index.
const DELETES_BY_VALUE = ['IS NULL', 'IS NOT NULL'].map((ref) =>
  deletion('access_rule', 'list_pk int, action smallint, target text', `${SAME_VALUE} AND r.rule_ref ${ref}`),
);
const expressionDelete = (kind: ExpressionKind) => deletion(kind, 'workspace_pk int, rule_ref text', SAME_EXPRESSION);

/** The types of columns that are no text. */
const TYPES: Readonly<Record<string, string>> = {
  ...{ id: 'bigint', list_pk: 'int', workspace_pk: 'int', v4: 'bigint', v6: 'bytea', levels: 'smallint', '"order"': 'bigint' },
  ...{ expires_at: 'bigint', created_at: 'bigint', updated_at: 'bigint', seq: 'bigint' },
};
/** The columns of a kind with their types; access rules have the code of their action. */
const typesOf = (kind: Kind): string =>
  ruleTable(kind)
    .columns.map((name) => `${name} ${kind === 'access_rule' && name === 'action' ? 'smallint' : (TYPES[name] ?? 'text')}`)
    .join(', ');

/** Access rules by their value in one statement, for the benchmark that compares landing with a bare loop of it. Its rows are `accessRow`s. */
export const BARE_UPSERT = `WITH ${given(typesOf('access_rule'))} ${insertGiven('access_rule', ACCESS_BY_VALUE)}`;
const UPSERT_BY_REF = upsertInto('access_rule', ACCESS_BY_REF, SAME_REF);
const UPSERT_BY_VALUE = upsertInto('access_rule', ACCESS_BY_VALUE, `${SAME_VALUE} AND r.rule_ref IS NULL`);

const expressionUpsert = (kind: ExpressionKind) => upsertInto(kind, EXPRESSION_BY_REF, SAME_EXPRESSION);

interface Upsert {
  readonly text: string;
  readonly insertNew: string;
}

/** The rest of each statement follows `done AS (…`. */
function upsertInto(kind: Kind, identity: string, condition: string): Upsert {
  const types = typesOf(kind);
  return {
    text: `${given(`${types}, first_seq bigint`)}, ${found(kind, condition)}, ${kept(kind)}, done AS (${insertGiven(kind, identity)}`,
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

// ---------------------------------------------------------------- rows

const touch = ({ seq, firstId }: Touch) => ({ seq, first_seq: firstId });
const accessRef = (change: RefDelete) => ({ list_pk: change.list, rule_ref: change.ruleRef, ...touch(change) });
const expressionRef = (change: RefDelete) => ({ workspace_pk: change.workspace, rule_ref: change.ruleRef, ...touch(change) });
const valueRow = (change: ValueDelete) => ({
  list_pk: change.list,
  action: actionCode(change.action),
  target: change.target,
  ...touch(change),
});

/** A rule as the statements take it: its columns by name, binary ones as text. */
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

/** An access rule as the statements take it. */
export const accessRow = (upsert: AccessUpsert): StatementRow => ruleRow(ACCESS_NAMES, upsert.list, upsert);
const expressionRow = (upsert: ExpressionUpsert): StatementRow => ruleRow(EXPRESSION_NAMES, upsert.workspace, upsert);
