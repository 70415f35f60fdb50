import type { DatabaseSync } from 'node:sqlite';
import { levelCode } from '../../feed/levels.ts';
import type { LandingBatch, LandingItem, PoisonRecord } from '../../ports/rule-store.ts';
import { type AccessRule, EXPRESSION_KINDS, type ExpressionKind, type ExpressionRule, perKind, RULE_KINDS } from '../../rule.ts';
import { formatTarget } from '../../signal/target.ts';
import { actionCode, jsonText, nearestInstant, packV4, packV6 } from '../columns.ts';
import { RuleCountChanges, writeRuleCounts } from '../rule-counts.ts';
import { ACCESS_BY_REF, ACCESS_BY_VALUE, EXPRESSION_BY_REF, keepCreated } from '../rule-tables.ts';
import { drive, transaction } from './database.ts';

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

interface ResolvedWorkspace {
  readonly pk: number;
  readonly defaultList: number;
  /** Where rules for a list land, by its id: the default list where it is gone. */
  readonly lists: Map<string, number>;
}

/** The landing transaction of the embedded store: fence, rules, dead letters and position, all or nothing. */
export function sqliteLanding(db: DatabaseSync): (batch: LandingBatch) => 'landed' | 'fenced' {
  const first = db.prepare('INSERT INTO positions (stream_id, "partition", next_offset) VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
  const advance = db.prepare('UPDATE positions SET next_offset = ? WHERE stream_id = ? AND "partition" = ? AND next_offset = ?');
  const workspaceRow = db.prepare('SELECT pk FROM workspaces WHERE id = ?');
  const defaultListRow = db.prepare('SELECT pk FROM lists WHERE workspace_pk = ? AND is_default = 1');
  const listRow = db.prepare('SELECT pk FROM lists WHERE id = ? AND workspace_pk = ?');
  const takeIds = db.prepare("UPDATE counters SET value = value + ? WHERE name = 'rule_id' RETURNING value");
  const touchList = db.prepare('UPDATE lists SET revision = revision + 1 WHERE pk = ?');
  const touchWorkspace = db.prepare('UPDATE workspaces SET revision = revision + 1 WHERE pk = ?');
  const letter = db.prepare(
    'INSERT INTO dead_letters (at, reason, stream_id, "partition", record_offset, timestamp, key, headers, value) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const upsertByRef = db.prepare(accessUpsert(ACCESS_BY_REF));
  const upsertByValue = db.prepare(accessUpsert(ACCESS_BY_VALUE));
  const deleteByRef = db.prepare('DELETE FROM access_rules WHERE list_pk = ? AND rule_ref = ? RETURNING id');
  // Two statements, each on its partial index, which is named: by itself SQLite would search the whole list for the second.
  const deleteByValue = ['access_rules_value WHERE rule_ref IS NULL', 'access_rules_ref_value WHERE rule_ref IS NOT NULL'].map((rules) =>
    db.prepare(`DELETE FROM access_rules INDEXED BY ${rules} AND list_pk = ? AND action = ? AND target = ? RETURNING id`),
  );
  // Ids only grow: those of this batch are behind all others.
  const newRules = db.prepare(
    'SELECT l.workspace_pk, count(*) AS rules FROM access_rules r JOIN lists l ON l.pk = r.list_pk WHERE r.id > ? GROUP BY l.workspace_pk',
  );
  const upsertExpression = perKind(EXPRESSION_KINDS, (kind) => db.prepare(`${expressionUpsert(RULE_KINDS[kind].table)} RETURNING id`));
  const deleteExpression = perKind(EXPRESSION_KINDS, (kind) =>
    db.prepare(`DELETE FROM ${RULE_KINDS[kind].table} WHERE workspace_pk = ? AND rule_ref = ?`),
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
      const counts = new RuleCountChanges();
      const before = batch.items.length === 0 ? 0 : Number(takeIds.get(batch.items.length)!.value) - batch.items.length;
      let id = before;
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
          const list = item.listId === null ? workspace.defaultList : workspace.lists.get(item.listId)!;
          touchedLists.add(list);
          if (change.change === 'upsert') writeAccessRule(list, id, item.receivedAt, change.rule);
          else {
            const deleted =
              change.change === 'delete'
                ? deleteByRef.all(list, change.ruleRef)
                : deleteByValue.flatMap((statement) => statement.all(list, actionCode(change.action), formatTarget(change.target)));
            // Rules of this batch are counted at its end.
            counts.add(workspace.pk, -deleted.filter((rule) => Number(rule.id) <= before).length);
          }
        } else if (change.change === 'upsert') {
          const written = writeExpressionRule(change.kind, workspace.pk, id, item.receivedAt, change.rule);
          if (written === id) counts.add(workspace.pk, 1);
        } else counts.add(workspace.pk, -Number(deleteExpression[change.kind].run(workspace.pk, change.ruleRef).changes));
      }
      for (const row of touchedLists.size === 0 ? [] : newRules.all(before)) counts.add(Number(row.workspace_pk), Number(row.rules));
      drive(db, writeRuleCounts(counts));
      for (const pk of touchedLists) touchList.run(pk);
      for (const pk of touchedWorkspaces) touchWorkspace.run(pk);
      for (const { record, reason } of poison) {
        const { offset, timestamp, key, headers, value } = record;
        const at = nearestInstant(timestamp);
        letter.run(batch.now, reason, batch.streamId, batch.partition, offset, at, key, JSON.stringify(headers), value);
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
      jsonText(rule.labels),
      jsonText(rule.config),
      receivedAt,
    );
  }

  /** Returns the rule's id: the given one if it is new. */
  function writeExpressionRule(kind: ExpressionKind, workspacePk: number, id: number, receivedAt: number, rule: ExpressionRule): number {
    const row = upsertExpression[kind].get(
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
      jsonText(rule.config),
      rule.reason,
      jsonText(rule.labels),
      rule.expiresAt,
      receivedAt,
    );
    return Number(row!.id);
  }

  /** Looks up the workspaces and lists of a batch, each once. */
  function resolveWorkspaces(items: readonly LandingItem[]): Map<string, ResolvedWorkspace | undefined> {
    const resolved = new Map<string, ResolvedWorkspace | undefined>();
    for (const { workspaceId, listId } of items) {
      if (!resolved.has(workspaceId)) resolved.set(workspaceId, resolveWorkspace(workspaceId));
      const workspace = resolved.get(workspaceId);
      if (workspace === undefined || listId === null || workspace.lists.has(listId)) continue;
      workspace.lists.set(listId, Number(listRow.get(listId, workspace.pk)?.pk ?? workspace.defaultList));
    }
    return resolved;
  }

  function resolveWorkspace(id: string): ResolvedWorkspace | undefined {
    const row = workspaceRow.get(id);
    if (row === undefined) return undefined;
    const pk = Number(row.pk);
    return { pk, defaultList: Number(defaultListRow.get(pk)!.pk), lists: new Map() };
  }
}
