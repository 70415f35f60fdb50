import type { DatabaseSync } from 'node:sqlite';
import { EXPRESSION_KINDS, perKind, RULE_KINDS } from '../../rule.ts';
import { ACCESS_BY_REF, ACCESS_BY_VALUE, EXPRESSION_BY_REF, keepCreated } from '../rule-tables.ts';

const ACCESS_COLUMNS = 'action, v4, v6, expires_at, levels, target, name, reason, labels, config, updated_at';
/** Shared with the benchmark that compares landing with a bare loop of the same statement. */
export const accessUpsert = (identity: string): string =>
  `INSERT INTO access_rules (list_pk, id, rule_ref, created_at, ${ACCESS_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
   ON CONFLICT ${identity} DO UPDATE SET ${keepCreated('access_rules')}, ${assignments(ACCESS_COLUMNS)}`;

const EXPRESSION_COLUMNS = 'name, type, expression, action, "order", short_description, config, reason, labels, expires_at, updated_at';
const expressionUpsert = (table: string) =>
  `INSERT INTO ${table} (workspace_pk, rule_ref, id, created_at, ${EXPRESSION_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
   ON CONFLICT ${EXPRESSION_BY_REF} DO UPDATE SET ${keepCreated(table)}, ${assignments(EXPRESSION_COLUMNS)}`;

function assignments(columns: string): string {
  return columns
    .split(', ')
    .map((column) => `${column} = excluded.${column}`)
    .join(', ');
}

/** Index and condition of a delete by value: two statements, each on its partial index. By itself SQLite would search the whole list for the second. */
const BY_VALUE = ['access_rules_value WHERE rule_ref IS NULL', 'access_rules_ref_value WHERE rule_ref IS NOT NULL'];

export type LandingStatements = ReturnType<typeof landingStatements>;

/** The statements of the landing transaction, prepared once for a connection. */
export function landingStatements(db: DatabaseSync) {
  return {
    firstPosition: db.prepare('INSERT INTO positions (stream_id, "partition", next_offset) VALUES (?, ?, ?) ON CONFLICT DO NOTHING'),
    advance: db.prepare('UPDATE positions SET next_offset = ? WHERE stream_id = ? AND "partition" = ? AND next_offset = ?'),
    workspace: db.prepare('SELECT pk FROM workspaces WHERE id = ?'),
    defaultList: db.prepare('SELECT pk FROM lists WHERE workspace_pk = ? AND is_default = 1'),
    list: db.prepare('SELECT pk FROM lists WHERE id = ? AND workspace_pk = ?'),
    takeIds: db.prepare("UPDATE counters SET value = value + ? WHERE name = 'rule_id' RETURNING value"),
    touchList: db.prepare('UPDATE lists SET revision = revision + 1 WHERE pk = ?'),
    touchWorkspace: db.prepare('UPDATE workspaces SET revision = revision + 1 WHERE pk = ?'),
    letter: db.prepare(
      'INSERT INTO dead_letters (at, reason, stream_id, "partition", record_offset, timestamp, key, headers, value) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    upsertByRef: db.prepare(accessUpsert(ACCESS_BY_REF)),
    upsertByValue: db.prepare(accessUpsert(ACCESS_BY_VALUE)),
    deleteByRef: db.prepare('DELETE FROM access_rules WHERE list_pk = ? AND rule_ref = ? RETURNING id'),
    deleteByValue: BY_VALUE.map((rules) =>
      db.prepare(`DELETE FROM access_rules INDEXED BY ${rules} AND list_pk = ? AND action = ? AND target = ? RETURNING id`),
    ),
    // Ids only grow: those of this batch are behind all others.
    newRules: db.prepare(
      'SELECT l.workspace_pk, count(*) AS rules FROM access_rules r JOIN lists l ON l.pk = r.list_pk WHERE r.id > ? GROUP BY l.workspace_pk',
    ),
    upsertExpression: perKind(EXPRESSION_KINDS, (kind) => db.prepare(`${expressionUpsert(RULE_KINDS[kind].table)} RETURNING id`)),
    deleteExpression: perKind(EXPRESSION_KINDS, (kind) =>
      db.prepare(`DELETE FROM ${RULE_KINDS[kind].table} WHERE workspace_pk = ? AND rule_ref = ?`),
    ),
  };
}
