import type { DatabaseSync } from 'node:sqlite';
import { levelCode } from '../../feed/levels.ts';
import type { LandingBatch, LandingItem, PoisonRecord } from '../../ports/rule-store.ts';
import type { AccessRule, ExpressionKind, ExpressionRule, RuleChange } from '../../rule.ts';
import { formatTarget } from '../../signal/target.ts';
import { actionCode, jsonText, nearestInstant, packV4, packV6 } from '../columns.ts';
import { RuleCountChanges, writeRuleCounts } from '../rule-counts.ts';
import { drive, transaction } from './database.ts';
import { type LandingStatements, landingStatements } from './landing-statements.ts';

/** The landing transaction of the embedded store: fence, rules, dead letters and position, all or nothing. */
export function sqliteLanding(db: DatabaseSync): (batch: LandingBatch) => 'landed' | 'fenced' {
  const statements = landingStatements(db);
  return (batch) =>
    transaction(db, () => {
      if (!movePosition(statements, batch)) return 'fenced';
      const { counts, lists, workspaces, poison } = applyItems(statements, batch.items);
      drive(db, writeRuleCounts(counts));
      for (const pk of lists) statements.touchList.run(pk);
      for (const pk of workspaces) statements.touchWorkspace.run(pk);
      keepLetters(statements, batch, [...batch.poison, ...poison]);
      return 'landed';
    });
}

/** The fence: false when the position is not the one this consumer started from. */
function movePosition({ firstPosition, advance }: LandingStatements, { streamId, partition, from, to }: LandingBatch): boolean {
  const { changes } = from === null ? firstPosition.run(streamId, partition, to) : advance.run(to, streamId, partition, from);
  return changes !== 0;
}

/** What the items of a batch have changed: how many rules there are, and whose revisions move. */
interface Applied {
  readonly counts: RuleCountChanges;
  readonly lists: ReadonlySet<number>;
  readonly workspaces: ReadonlySet<number>;
  /** Items of unknown workspaces. */
  readonly poison: readonly PoisonRecord[];
}

/** Writes and deletes the rules of a batch, item by item; the n-th item has the n-th of its ids (SPEC D4.15). */
function applyItems(statements: LandingStatements, items: readonly LandingItem[]): Applied {
  const resolved = resolveWorkspaces(statements, items);
  const counts = new RuleCountChanges();
  const [lists, workspaces] = [new Set<number>(), new Set<number>()];
  const poison: PoisonRecord[] = [];
  const before = items.length === 0 ? 0 : Number(statements.takeIds.get(items.length)!.value) - items.length;
  for (const [n, { record, workspaceId, listId, receivedAt, change }] of items.entries()) {
    const workspace = resolved.get(workspaceId);
    const id = before + n + 1;
    if (workspace === undefined) poison.push({ record, reason: `unknown workspace ${workspaceId}` });
    else if (change.kind === 'access_rule') {
      const list = listId === null ? workspace.defaultList : workspace.lists.get(listId)!;
      workspaces.add(workspace.pk);
      lists.add(list);
      if (change.change === 'upsert') writeAccessRule(statements, list, id, receivedAt, change.rule);
      // Rules of this batch are counted at its end.
      else counts.add(workspace.pk, -deleteAccessRules(statements, list, change).filter((deleted) => deleted <= before).length);
    } else if (change.change === 'upsert') {
      const written = writeExpressionRule(statements, change.kind, workspace.pk, id, receivedAt, change.rule);
      if (written === id) counts.add(workspace.pk, 1);
    } else counts.add(workspace.pk, -Number(statements.deleteExpression[change.kind].run(workspace.pk, change.ruleRef).changes));
  }
  for (const row of lists.size === 0 ? [] : statements.newRules.all(before)) counts.add(Number(row.workspace_pk), Number(row.rules));
  return { counts, lists, workspaces, poison };
}

type AccessDelete = Exclude<Extract<RuleChange, { change: 'delete' | 'delete_by_value' }>, { kind: ExpressionKind }>;

/** The ids of the rules that it deletes. */
function deleteAccessRules({ deleteByRef, deleteByValue }: LandingStatements, list: number, change: AccessDelete): number[] {
  const rows =
    change.change === 'delete'
      ? deleteByRef.all(list, change.ruleRef)
      : deleteByValue.flatMap((statement) => statement.all(list, actionCode(change.action), formatTarget(change.target)));
  return rows.map((row) => Number(row.id));
}

function writeAccessRule(
  { upsertByRef, upsertByValue }: LandingStatements,
  list: number,
  id: number,
  receivedAt: number,
  rule: AccessRule,
): void {
  const { target } = rule;
  const statement = rule.ruleRef === null ? upsertByValue : upsertByRef;
  statement.run(
    list,
    id,
    rule.ruleRef,
    receivedAt,
    actionCode(rule.action),
    packV4(target),
    packV6(target),
    rule.expiresAt,
    levelCode(rule.confidence, rule.severity),
    formatTarget(target),
    rule.name,
    rule.reason,
    jsonText(rule.labels),
    jsonText(rule.config),
    receivedAt,
  );
}

/** Returns the rule's id: the given one if it is new. */
function writeExpressionRule(
  { upsertExpression }: LandingStatements,
  kind: ExpressionKind,
  workspacePk: number,
  id: number,
  receivedAt: number,
  rule: ExpressionRule,
): number {
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

function keepLetters({ letter }: LandingStatements, batch: LandingBatch, poison: readonly PoisonRecord[]): void {
  const { now, streamId, partition } = batch;
  for (const { record, reason } of poison) {
    const { offset, timestamp, key, headers, value } = record;
    letter.run(now, reason, streamId, partition, offset, nearestInstant(timestamp), key, JSON.stringify(headers), value);
  }
}

interface ResolvedWorkspace {
  readonly pk: number;
  readonly defaultList: number;
  /** Where rules for a list land, by its id: the default list where it is gone. */
  readonly lists: Map<string, number>;
}

/** Looks up the workspaces and lists of a batch, each once. */
function resolveWorkspaces(statements: LandingStatements, items: readonly LandingItem[]): Map<string, ResolvedWorkspace | undefined> {
  const resolved = new Map<string, ResolvedWorkspace | undefined>();
  for (const { workspaceId, listId } of items) {
    if (!resolved.has(workspaceId)) resolved.set(workspaceId, resolveWorkspace(statements, workspaceId));
    const workspace = resolved.get(workspaceId);
    if (workspace === undefined || listId === null || workspace.lists.has(listId)) continue;
    workspace.lists.set(listId, Number(statements.list.get(listId, workspace.pk)?.pk ?? workspace.defaultList));
  }
  return resolved;
}

function resolveWorkspace(statements: LandingStatements, id: string): ResolvedWorkspace | undefined {
  const row = statements.workspace.get(id);
  if (row === undefined) return undefined;
  const pk = Number(row.pk);
  return { pk, defaultList: Number(statements.defaultList.get(pk)!.pk), lists: new Map() };
}
