/** The statements that write rules, many at a time: each takes its rows as one JSON array. */
import { levelCode } from '../../feed/levels.ts';
import { EXPRESSION_KINDS, type ExpressionKind, RULE_KINDS } from '../../rule.ts';
import { formatTarget } from '../../signal/target.ts';
import { actionCode, jsonText, packV4, packV6 } from '../columns.ts';
import type { CompactUpsert, RefDelete, Run, ValueDelete } from '../compact.ts';
import { ACCESS_BY_REF, ACCESS_BY_VALUE, EXPRESSION_BY_REF, keepCreated } from '../rule-tables.ts';

/** Answers with rows (`place`, `rules`): by how many rules each list or workspace has more, or less, afterwards. */
export interface BulkStatement {
  readonly text: string;
  readonly rows: readonly object[];
  readonly scope: 'list' | 'workspace';
  /** The text's second value, if it has one. */
  readonly firstId?: number;
}

/** One run of folded changes as statements, in the order in which they take effect. Those without rows are left out. */
export function runStatements({ refDeletes, valueDeletes, upserts }: Run): BulkStatement[] {
  const access = upserts.filter(isAccess);
  // Ids only grow: what is stored already has a lesser one.
  const firstId = upserts.reduce((least, { id }) => Math.min(least, id), Number.POSITIVE_INFINITY);
  const upsert = (scope: BulkStatement['scope'], text: string, rows: readonly object[]) => ({
    ...countedUpsert(scope, text),
    rows,
    firstId,
  });
  const remove = (scope: BulkStatement['scope'], text: string, rows: readonly object[]) => ({ ...countedDelete(scope, text), rows });
  const statements = [
    remove('list', DELETE_BY_REF, refDeletes.filter(({ kind }) => kind === 'access_rule').map(accessRef)),
    ...EXPRESSION_KINDS.map((kind) =>
      remove('workspace', expressionDelete(kind), refDeletes.filter((d) => d.kind === kind).map(expressionRef)),
    ),
    ...DELETES_BY_VALUE.map((text) => remove('list', text, valueDeletes.map(valueRow))),
    upsert('list', accessUpsert(ACCESS_BY_REF), access.filter(({ change }) => change.rule.ruleRef !== null).map(accessRow)),
    upsert('list', accessUpsert(ACCESS_BY_VALUE), access.filter(({ change }) => change.rule.ruleRef === null).map(accessRow)),
    ...EXPRESSION_KINDS.map((kind) => upsert('workspace', expressionUpsert(kind), upserts.filter(isExpression(kind)).map(expressionRow))),
  ];
  return statements.filter(({ rows }) => rows.length > 0);
}

const countedDelete = (scope: BulkStatement['scope'], text: string) => ({
  scope,
  text: `WITH done AS (${text} RETURNING r.${scope}_pk AS place) SELECT place, -count(*) AS rules FROM done GROUP BY place`,
});
const countedUpsert = (scope: BulkStatement['scope'], text: string) => ({
  scope,
  text: `WITH done AS (${text} RETURNING ${scope}_pk AS place, id) SELECT place, count(*) AS rules FROM done WHERE id >= $2 GROUP BY place`,
});

type AccessUpsert = CompactUpsert & { change: { kind: 'access_rule' } };
type ExpressionUpsert = CompactUpsert & { change: { kind: ExpressionKind } };
const isAccess = (upsert: CompactUpsert): upsert is AccessUpsert => upsert.change.kind === 'access_rule';
const isExpression =
  (kind: ExpressionKind) =>
  (upsert: CompactUpsert): upsert is ExpressionUpsert =>
    upsert.change.kind === kind;

// ---------------------------------------------------------------- statements

const rowsOf = (columns: string) => `json_to_recordset($1) AS given (${columns})`;

const DELETE_BY_REF = `DELETE FROM access_rules r USING ${rowsOf('list_pk int, rule_ref text')}
  WHERE r.list_pk = given.list_pk AND r.rule_ref = given.rule_ref`;
// Two statements, each on its partial index.
const DELETES_BY_VALUE = ['IS NULL', 'IS NOT NULL'].map(
  (ref) => `DELETE FROM access_rules r USING ${rowsOf('list_pk int, action smallint, target text')}
  WHERE r.list_pk = given.list_pk AND r.action = given.action AND r.target = given.target AND r.rule_ref ${ref}`,
);
const expressionDelete = (
  kind: ExpressionKind,
) => `DELETE FROM ${RULE_KINDS[kind].table} r USING ${rowsOf('workspace_pk int, rule_ref text')}
  WHERE r.workspace_pk = given.workspace_pk AND r.rule_ref = given.rule_ref`;

const ACCESS_COLUMNS = {
  id: 'bigint',
  list_pk: 'int',
  rule_ref: 'text',
  action: 'smallint',
  v4: 'bigint',
  v6: 'bytea',
  expires_at: 'bigint',
  levels: 'smallint',
  target: 'text',
  name: 'text',
  reason: 'text',
  labels: 'text',
  config: 'text',
  created_at: 'bigint',
  updated_at: 'bigint',
};
/** Shared with the benchmark that compares landing with a bare loop of the same statement. */
export const accessUpsert = (identity: string): string => upsertInto('access_rules', ACCESS_COLUMNS, identity);

const EXPRESSION_COLUMNS = {
  id: 'bigint',
  workspace_pk: 'int',
  rule_ref: 'text',
  name: 'text',
  type: 'text',
  expression: 'text',
  action: 'text',
  '"order"': 'bigint',
  short_description: 'text',
  config: 'text',
  reason: 'text',
  labels: 'text',
  expires_at: 'bigint',
  created_at: 'bigint',
  updated_at: 'bigint',
};
const expressionUpsert = (kind: ExpressionKind) => upsertInto(RULE_KINDS[kind].table, EXPRESSION_COLUMNS, EXPRESSION_BY_REF);

function upsertInto(table: string, columns: Record<string, string>, identity: string): string {
  const names = Object.keys(columns);
  const types = names.map((name) => `${name} ${columns[name]}`).join(', ');
  const sets = names.filter((name) => name !== 'id' && name !== 'created_at').map((name) => `${name} = excluded.${name}`);
  return `INSERT INTO ${table} (${names.join(', ')}) SELECT * FROM ${rowsOf(types)}
  ON CONFLICT ${identity} DO UPDATE SET ${sets.join(', ')},
  ${keepCreated(table)}`;
}

// ---------------------------------------------------------------- rows

const bytea = (bytes: Uint8Array | null) => (bytes === null ? null : `\\x${Buffer.from(bytes).toString('hex')}`);

const accessRef = ({ list, ruleRef }: RefDelete) => ({ list_pk: list, rule_ref: ruleRef });
const expressionRef = ({ workspace, ruleRef }: RefDelete) => ({ workspace_pk: workspace, rule_ref: ruleRef });
const valueRow = ({ list, action, target }: ValueDelete) => ({ list_pk: list, action: actionCode(action), target });

/** The row of an access rule as `accessUpsert` takes it. */
export function accessRow({ list, change: { rule }, id, createdAt, updatedAt }: AccessUpsert): object {
  return {
    id,
    list_pk: list,
    rule_ref: rule.ruleRef,
    action: actionCode(rule.action),
    v4: packV4(rule.target),
    v6: bytea(packV6(rule.target)),
    expires_at: rule.expiresAt,
    levels: levelCode(rule.confidence, rule.severity),
    target: formatTarget(rule.target),
    name: rule.name,
    reason: rule.reason,
    labels: jsonText(rule.labels),
    config: jsonText(rule.config),
    created_at: createdAt,
    updated_at: updatedAt,
  };
}

function expressionRow({ workspace, change: { rule }, id, createdAt, updatedAt }: ExpressionUpsert): object {
  return {
    id,
    workspace_pk: workspace,
    rule_ref: rule.ruleRef,
    name: rule.name,
    type: rule.type,
    expression: rule.expression,
    action: rule.action,
    order: rule.order,
    short_description: rule.shortDescription,
    config: jsonText(rule.config),
    reason: rule.reason,
    labels: jsonText(rule.labels),
    expires_at: rule.expiresAt,
    created_at: createdAt,
    updated_at: updatedAt,
  };
}
