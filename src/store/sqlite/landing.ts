import type { DatabaseSync } from 'node:sqlite';
import { levelCode } from '../../feed/levels.ts';
import type { LandingBatch, LandingItem, PoisonRecord } from '../../ports/rule-store.ts';
import { type ExpressionKind, isExpressionKind, type RuleChange } from '../../rule.ts';
import { formatTarget } from '../../signal/target.ts';
import { type NumberedItem, segmentsOf, writeSegments } from '../batches.ts';
import { actionCode, jsonText, nearestInstant, packV4, packV6 } from '../columns.ts';
import { countOperation, DayCounts } from '../feed-days.ts';
import { operate } from '../operations.ts';
import { RuleCountChanges, writeRuleCounts } from '../rule-counts.ts';
import { drive, transaction } from './database.ts';
import { type DeleteStatements, type LandingStatements, landingStatements } from './landing-statements.ts';

/** The landing transaction of the embedded store: fence, rules, dead letters and position, all or nothing. */
export function sqliteLanding(db: DatabaseSync): (batch: LandingBatch) => 'landed' | 'fenced' {
  const statements = landingStatements(db);
  return (batch) =>
    transaction(db, () => {
      if (!movePosition(statements, batch)) return 'fenced';
      const { counts, lists, workspaces, expressions, poison } = applyItems(db, statements, batch);
      drive(db, writeRuleCounts(counts));
      for (const pk of lists) statements.touchList.run(pk);
      for (const pk of workspaces) statements.touchWorkspace.run(pk);
      for (const pk of expressions) statements.touchExpressions.run(pk);
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
  /** Workspaces whose expression rules have changed. */
  readonly expressions: ReadonlySet<number>;
  /** Items of unknown workspaces. */
  readonly poison: readonly PoisonRecord[];
}

/** Writes and deletes the rules of a batch, item by item; the n-th item has the n-th of its numbers (SPEC D4.15). */
function applyItems(db: DatabaseSync, statements: LandingStatements, { items, now }: LandingBatch): Applied {
  const { known, poison } = numberItems(statements, items);
  const segments = segmentsOf(known);
  drive(db, writeSegments(segments, { now }));
  const counts = new RuleCountChanges();
  const days = new DayCounts(known);
  const [lists, workspaces, expressions] = [new Set<number>(), new Set<number>(), new Set<number>()];
  const note = (workspace: number, more: number, changed: readonly number[]) => {
    if (more !== 0) counts.add(workspace, more);
    for (const list of changed) lists.add(list);
    if (changed.length > 0) workspaces.add(workspace);
  };
  let segment = 0;
  for (const { item, seq, workspace, list } of known) {
    if (seq > segments[segment].last) segment += 1;
    const { change, receivedAt } = item;
    if (change.change === 'undo' || change.change === 'delete_rules') {
      const done = drive(db, operate({ workspace, list, seq, operation: change }));
      note(workspace, done.more, done.lists);
      if (done.expressions) expressions.add(workspace);
      drive(db, countOperation(days, { workspace, seq, change, ...done }));
      continue;
    }
    const isAccess = change.kind === 'access_rule';
    const more = applyChange(statements, {
      change,
      receivedAt,
      seq,
      firstSeq: segments[segment].first.seq,
      place: isAccess ? list : workspace,
    });
    note(workspace, more, isAccess ? [list] : []);
    if (!isAccess) expressions.add(workspace);
  }
  drive(db, days.write(now));
  return { counts, lists, workspaces, expressions, poison };
}

/** One change where it takes effect: the pk of a list or a workspace. */
interface PlacedChange<C extends RuleChange = RuleChange> {
  readonly change: C;
  readonly place: number;
  readonly receivedAt: number;
  readonly seq: number;
  /** Of its batch's items that stand together: what was written since is the batch's own. */
  readonly firstSeq: number;
}

/** By how many rules there are more, or less, afterwards. */
function applyChange(statements: LandingStatements, { change, ...rest }: PlacedChange): number {
  if (change.change === 'upsert') return upsertRule(statements, { change, ...rest });
  const { place, seq, firstSeq } = rest;
  const [targets, identity] = deletion(statements, change);
  let less = 0;
  for (const { keep, remove } of targets) {
    keep.run(seq, place, ...identity, firstSeq);
    less += Number(remove.run(place, ...identity).changes);
  }
  return -less;
}

type Delete = Exclude<RuleChange, { change: 'upsert' }>;

/** The statements that delete, and what identifies the rules. */
function deletion(
  { deleteByRef, deleteByValue, deleteExpression }: LandingStatements,
  change: Delete,
): [DeleteStatements[], (string | number)[]] {
  if (change.change === 'delete_by_value') return [deleteByValue, [actionCode(change.action), formatTarget(change.target)]];
  return [[isExpressionKind(change.kind) ? deleteExpression[change.kind] : deleteByRef], [change.ruleRef]];
}

type Upsert = Extract<RuleChange, { change: 'upsert' }>;

/** 1 where the rule is new. */
function upsertRule(statements: LandingStatements, { change, place, receivedAt, seq, firstSeq }: PlacedChange<Upsert>): number {
  const { rule } = change;
  const stamps = [jsonText(rule.config), receivedAt, seq] as const;
  if ('expression' in rule) {
    const values = [rule.name, rule.type, rule.expression, rule.action, rule.order, rule.shortDescription, jsonText(rule.config)];
    const last = [rule.reason, jsonText(rule.labels), rule.expiresAt, receivedAt, seq];
    const { insert, keep, update } = statements.expression[change.kind as ExpressionKind];
    if (insert.run(place, rule.ruleRef, seq, receivedAt, ...values, ...last).changes !== 0) return 1;
    keep.run(seq, place, rule.ruleRef, firstSeq);
    update.run(receivedAt, receivedAt, ...values, ...last, place, rule.ruleRef);
    return 0;
  }
  const { target, ruleRef } = rule;
  const [action, text] = [actionCode(rule.action), formatTarget(target)];
  const about = [action, packV4(target), packV6(target), text] as const;
  const values = [
    rule.expiresAt,
    levelCode(rule.confidence, rule.severity),
    rule.name,
    rule.reason,
    jsonText(rule.labels),
    ...stamps,
  ] as const;
  const { insert, keep, update } = ruleRef === null ? statements.accessByValue : statements.accessByRef;
  if (insert.run(place, seq, ruleRef, receivedAt, ...about, ...values).changes !== 0) return 1;
  const identity = ruleRef === null ? [action, text] : [ruleRef];
  keep.run(seq, place, ...identity, firstSeq);
  update.run(receivedAt, receivedAt, ...(ruleRef === null ? [] : about), ...values, place, ...identity);
  return 0;
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

/** The items of known workspaces with their places and numbers. */
function numberItems(statements: LandingStatements, items: readonly LandingItem[]): { known: NumberedItem[]; poison: PoisonRecord[] } {
  const resolved = new Map<string, ResolvedWorkspace | undefined>();
  const known: NumberedItem[] = [];
  const poison: PoisonRecord[] = [];
  const before = items.length === 0 ? 0 : Number(statements.takeIds.get(items.length)!.value) - items.length;
  for (const [n, item] of items.entries()) {
    const { record, workspaceId, listId } = item;
    if (!resolved.has(workspaceId)) resolved.set(workspaceId, resolveWorkspace(statements, workspaceId));
    const workspace = resolved.get(workspaceId);
    if (workspace === undefined) poison.push({ record, reason: `unknown workspace ${workspaceId}` });
    else known.push({ item, seq: before + n + 1, workspace: workspace.pk, list: listOf(statements, workspace, listId) });
  }
  return { known, poison };
}

function listOf({ list }: LandingStatements, { pk, defaultList, lists }: ResolvedWorkspace, id: string | null): number {
  if (id === null) return defaultList;
  const known = lists.get(id) ?? Number(list.get(id, pk)?.pk ?? defaultList);
  lists.set(id, known);
  return known;
}

function resolveWorkspace(statements: LandingStatements, id: string): ResolvedWorkspace | undefined {
  const row = statements.workspace.get(id);
  if (row === undefined) return undefined;
  const pk = Number(row.pk);
  return { pk, defaultList: Number(statements.defaultList.get(pk)!.pk), lists: new Map() };
}
