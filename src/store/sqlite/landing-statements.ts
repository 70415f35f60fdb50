import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { EXPRESSION_KINDS, type Kind, perKind } from '../../rule.ts';
import { ACCESS_TARGET, ACCESS_VALUES, EXPRESSION_VALUES, ruleTable } from '../rules/rule-columns.ts';
import { ACCESS_BY_REF, ACCESS_BY_VALUE, EXPRESSION_BY_REF, keepCreated } from '../rules/rule-tables.ts';

/** How to find rules: the target of ON CONFLICT, and a condition for its index. */
interface Identity {
  readonly kind: Kind;
  readonly conflict: string;
  readonly from: string;
}

const access = (conflict: string, from: string): Identity => ({ kind: 'access_rule', conflict, from: `access_rules INDEXED BY ${from}` });
const BY_REF = access(ACCESS_BY_REF, 'access_rules_ref WHERE list_pk = ? AND rule_ref = ?');
const VALUE = 'list_pk = ? AND action = ? AND target = ?';
const BY_VALUE = access(ACCESS_BY_VALUE, `access_rules_value WHERE rule_ref IS NULL AND ${VALUE}`);
// Without the hint SQLite would search the whole list.
const REF_BY_VALUE = access('', `access_rules_ref_value WHERE rule_ref IS NOT NULL AND ${VALUE}`);
const expression = (kind: Kind): Identity => ({
  kind,
  conflict: EXPRESSION_BY_REF,
  from: `${ruleTable(kind).table} WHERE workspace_pk = ? AND rule_ref = ?`,
});

export interface UpsertStatements {
  /** No effect if the rule exists. Values: a row of all columns. */
  readonly insert: StatementSync;
  /** Stores the previous version, unless the same batch wrote it. Values: number of the change, identity, the batch's first number. */
  readonly keep: StatementSync;
  /** Values: the same row. */
  readonly update: StatementSync;
  readonly last: { wasThere: boolean };
}

/** Values: those of `keep`, then the identity. */
export interface DeleteStatements {
  readonly keep: StatementSync;
  readonly remove: StatementSync;
}

const insertText = (table: string, columns: readonly string[], conflict: string) =>
  `INSERT INTO ${table} (${columns}) VALUES (${columns.map(() => '?')}) ON CONFLICT ${conflict} DO NOTHING`;

function keep(db: DatabaseSync, { kind, from }: Identity): StatementSync {
  const { before, columns } = ruleTable(kind);
  return db.prepare(`INSERT INTO ${before} (changed, existed, ${columns}) SELECT ?, 1, ${columns} FROM ${from} AND seq < ?`);
}

function upsert(db: DatabaseSync, identity: Identity, values: readonly string[]): UpsertStatements {
  const { table, columns } = ruleTable(identity.kind);
  const given = (column: string) => `?${columns.indexOf(column) + 1}`;
  const sets = values.map((column) => `${column} = ${given(column)}`);
  const created = `created_at = CASE WHEN expires_at <= ${given('created_at')} THEN ${given('created_at')} ELSE created_at END`;
  const [rules, condition] = identity.from.split(' WHERE ');
  const where = condition!.replace(/(\w+) = \?/g, (_, column: string) => `${column} = ${given(column)}`);
  return {
    insert: db.prepare(insertText(table, columns, identity.conflict)),
    keep: keep(db, identity),
    update: db.prepare(`UPDATE ${rules} SET ${created}, ${sets} WHERE ${where}`),
    last: { wasThere: false },
  };
}

const remove = (db: DatabaseSync, identity: Identity): DeleteStatements => ({
  keep: keep(db, identity),
  remove: db.prepare(`DELETE FROM ${identity.from}`),
});

export type LandingStatements = ReturnType<typeof landingStatements>;

export const landingStatements = (db: DatabaseSync) => ({
  firstPosition: db.prepare('INSERT INTO positions (stream_id, "partition", next_offset) VALUES (?, ?, ?) ON CONFLICT DO NOTHING'),
  advance: db.prepare('UPDATE positions SET next_offset = ? WHERE stream_id = ? AND "partition" = ? AND next_offset = ?'),
  workspace: db.prepare('SELECT pk FROM workspaces WHERE id = ?'),
  defaultList: db.prepare('SELECT pk, NULL AS source_id, repeat FROM lists WHERE workspace_pk = ? AND is_default = 1'),
  list: db.prepare('SELECT pk, source_id, repeat FROM lists WHERE id = ? AND workspace_pk = ?'),
  takeIds: db.prepare("UPDATE counters SET value = value + ? WHERE name = 'rule_id' RETURNING value"),
  touchList: db.prepare('UPDATE lists SET revision = revision + 1 WHERE pk = ?'),
  touchWorkspace: db.prepare('UPDATE workspaces SET revision = revision + 1 WHERE pk = ?'),
  touchExpressions: db.prepare('UPDATE workspaces SET expression_revision = expression_revision + 1 WHERE pk = ?'),
  letter: db.prepare(
    'INSERT INTO dead_letters (at, reason, stream_id, "partition", record_offset, timestamp, key, headers, value) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  ),
  accessByRef: upsert(db, BY_REF, [...ACCESS_TARGET, ...ACCESS_VALUES]),
  accessByValue: upsert(db, BY_VALUE, ACCESS_VALUES),
  deleteByRef: remove(db, BY_REF),
  deleteByValue: [BY_VALUE, REF_BY_VALUE].map((identity) => remove(db, identity)),
  expression: perKind(EXPRESSION_KINDS, (kind) => upsert(db, expression(kind), EXPRESSION_VALUES)),
  deleteExpression: perKind(EXPRESSION_KINDS, (kind) => remove(db, expression(kind))),
});

const assignments = ACCESS_VALUES.map((column) => `${column} = excluded.${column}`);
/** For the benchmark against a bare loop. Values: a row. */
export const BARE_UPSERT = `${insertText('access_rules', ruleTable('access_rule').columns, ACCESS_BY_VALUE).replace('DO NOTHING', '')}
  DO UPDATE SET ${keepCreated('access_rules')}, ${assignments}`;
