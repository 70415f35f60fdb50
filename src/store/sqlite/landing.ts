import type { DatabaseSync } from 'node:sqlite';
import { levelCode } from '../../feed/levels.ts';
import type { LandingBatch, LandingItem, PoisonRecord } from '../../ports/rule-store.ts';
import type { AccessRule, ExpressionKind, ExpressionRule, JsonObject } from '../../rule.ts';
import { formatTarget } from '../../signal/target.ts';
import { packV4, packV6 } from '../columns.ts';
import { actionCode, RULE_TABLES } from '../rows.ts';
import { transaction } from './database.ts';

const json = (value: JsonObject | null) => (value === null ? null : JSON.stringify(value));

// An upsert on a rule that had lapsed when the signal was accepted counts as a new rule.
const keepCreated = (table: string) =>
  `created_at = CASE WHEN ${table}.expires_at <= excluded.created_at THEN excluded.created_at ELSE ${table}.created_at END`;

const ACCESS_COLUMNS = 'action, v4, v6, expires_at, levels, target, name, reason, labels, config, updated_at';
/** Shared with the benchmark that compares landing with a bare loop of the same statement. */
export const accessUpsert = (identity: string): string =>
  `INSERT INTO access_rules (list_pk, id, rule_ref, created_at, ${ACCESS_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
   ON CONFLICT ${identity} DO UPDATE SET ${keepCreated('access_rules')}, ${assignments(ACCESS_COLUMNS)}`;
export const BY_VALUE = '(list_pk, action, target) WHERE rule_ref IS NULL';
const BY_REF = '(list_pk, rule_ref) WHERE rule_ref IS NOT NULL';

const EXPRESSION_COLUMNS = 'name, type, expression, action, "order", short_description, config, reason, labels, expires_at, updated_at';
const expressionUpsert = (table: string) =>
  `INSERT INTO ${table} (workspace_pk, rule_ref, id, created_at, ${EXPRESSION_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
   ON CONFLICT (workspace_pk, rule_ref) DO UPDATE SET ${keepCreated(table)}, ${assignments(EXPRESSION_COLUMNS)}`;

function assignments(columns: string): string {
  return columns
    .split(', ')
    .map((column) => `${column} = excluded.${column}`)
    .join(', ');
}

interface ResolvedWorkspace {
  readonly pk: number;
  readonly defaultList: number;
  readonly lists: ReadonlyMap<string, number>;
}

/** The landing transaction of the embedded store: fence, rules, dead letters and position, all or nothing. */
export function sqliteLanding(db: DatabaseSync): (batch: LandingBatch) => 'landed' | 'fenced' {
  const first = db.prepare('INSERT INTO positions (stream_id, "partition", next_offset) VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
  const advance = db.prepare('UPDATE positions SET next_offset = ? WHERE stream_id = ? AND "partition" = ? AND next_offset = ?');
  const workspaceRow = db.prepare('SELECT pk FROM workspaces WHERE id = ?');
  const listRows = db.prepare('SELECT pk, id, is_default FROM lists WHERE workspace_pk = ?');
  const takeIds = db.prepare("UPDATE counters SET value = value + ? WHERE name = 'rule_id' RETURNING value");
  const touchList = db.prepare('UPDATE lists SET revision = revision + 1 WHERE pk = ?');
  const touchWorkspace = db.prepare('UPDATE workspaces SET revision = revision + 1 WHERE pk = ?');
  const letter = db.prepare(
    'INSERT INTO dead_letters (at, reason, stream_id, "partition", record_offset, timestamp, key, headers, value) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const upsertByRef = db.prepare(accessUpsert(BY_REF));
  const upsertByValue = db.prepare(accessUpsert(BY_VALUE));
  const deleteByRef = db.prepare('DELETE FROM access_rules WHERE list_pk = ? AND rule_ref = ?');
  // Two statements, each on its partial index.
  const deleteByValue = ['IS NULL', 'IS NOT NULL'].map((ref) =>
    db.prepare(`DELETE FROM access_rules WHERE list_pk = ? AND action = ? AND target = ? AND rule_ref ${ref}`),
  );
  const expressionKinds = ['waf_rule', 'smart_firewall_rule'] as const;
  const upsertExpression = perKind(expressionKinds, (kind) => db.prepare(expressionUpsert(RULE_TABLES[kind])));
  const deleteExpression = perKind(expressionKinds, (kind) =>
    db.prepare(`DELETE FROM ${RULE_TABLES[kind]} WHERE workspace_pk = ? AND rule_ref = ?`),
  );

  return (batch) =>
    transaction(db, () => {
      const fence =
        batch.from === null
          ? first.run(batch.streamId, batch.partition, batch.to)
          : advance.run(batch.to, batch.streamId, batch.partition, batch.from);
      if (fence.changes === 0) return 'fenced';

      const workspaces = resolveWorkspaces(batch.items);
      const poison: PoisonRecord[] = [...batch.poison];
      const touchedLists = new Set<number>();
      const touchedWorkspaces = new Set<number>();
      let id = batch.items.length === 0 ? 0 : Number(takeIds.get(batch.items.length)!.value) - batch.items.length;
      for (const item of batch.items) {
        id += 1;
        const workspace = workspaces.get(item.workspaceId);
        if (workspace === undefined) {
          poison.push({ record: item.record, reason: `unknown workspace ${item.workspaceId}` });
          continue;
        }
        const { change } = item;
        if (change.kind === 'access_rule') {
          touchedWorkspaces.add(workspace.pk);
          const list = (item.listId === null ? undefined : workspace.lists.get(item.listId)) ?? workspace.defaultList;
          touchedLists.add(list);
          if (change.change === 'upsert') writeAccessRule(list, id, item.receivedAt, change.rule);
          else if (change.change === 'delete') deleteByRef.run(list, change.ruleRef);
          else for (const statement of deleteByValue) statement.run(list, actionCode(change.action), formatTarget(change.target));
        } else if (change.change === 'upsert') writeExpressionRule(change.kind, workspace.pk, id, item.receivedAt, change.rule);
        else deleteExpression[change.kind].run(workspace.pk, change.ruleRef);
      }
      for (const pk of touchedLists) touchList.run(pk);
      for (const pk of touchedWorkspaces) touchWorkspace.run(pk);
      for (const { record, reason } of poison) {
        const { offset, timestamp, key, headers, value } = record;
        letter.run(batch.now, reason, batch.streamId, batch.partition, offset, timestamp, key, JSON.stringify(headers), value);
      }
      return 'landed';
    });

  function writeAccessRule(list: number, id: number, receivedAt: number, rule: AccessRule): void {
    const statement = rule.ruleRef === null ? upsertByValue : upsertByRef;
    const { target } = rule;
    const levels = levelCode(rule.confidence, rule.severity);
    statement.run(
      list,
      id,
      rule.ruleRef,
      receivedAt,
      actionCode(rule.action),
      packV4(target),
      packV6(target),
      rule.expiresAt,
      levels,
      formatTarget(target),
      rule.name,
      rule.reason,
      json(rule.labels),
      json(rule.config),
      receivedAt,
    );
  }

  function writeExpressionRule(kind: ExpressionKind, workspacePk: number, id: number, receivedAt: number, rule: ExpressionRule): void {
    upsertExpression[kind].run(
      workspacePk,
      rule.ruleRef,
      id,
      receivedAt,
      rule.name,
      rule.type,
      rule.expression,
      rule.action,
      rule.order,
      rule.shortDescription,
      json(rule.config),
      rule.reason,
      json(rule.labels),
      rule.expiresAt,
      receivedAt,
    );
  }

  function resolveWorkspaces(items: readonly LandingItem[]): Map<string, ResolvedWorkspace> {
    const resolved = new Map<string, ResolvedWorkspace>();
    for (const id of new Set(items.map((item) => item.workspaceId))) {
      const row = workspaceRow.get(id);
      if (row === undefined) continue;
      const lists = listRows.all(Number(row.pk));
      const defaultList = Number(lists.find((list) => list.is_default === 1)!.pk);
      resolved.set(id, { pk: Number(row.pk), defaultList, lists: new Map(lists.map((list) => [String(list.id), Number(list.pk)])) });
    }
    return resolved;
  }
}

function perKind<T>(kinds: readonly ExpressionKind[], make: (kind: ExpressionKind) => T): Record<ExpressionKind, T> {
  return Object.fromEntries(kinds.map((kind) => [kind, make(kind)])) as Record<ExpressionKind, T>;
}
