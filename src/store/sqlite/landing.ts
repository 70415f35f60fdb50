import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { levelCode } from '../../document/levels.ts';
import type { LandingBatch, LandingItem, PoisonRecord } from '../../ports/landing.ts';
import { type ExpressionKind, isExpressionKind, type RuleChange } from '../../rule.ts';
import { namedBy } from '../../signal/named-rules.ts';
import { formatTarget } from '../../signal/target.ts';
import { type ListPlace, type NumberedItem, placed, segmentsOf, writeSegments } from '../batches/batches.ts';
import { actionCode, jsonText, nearestInstant, packV4, packV6 } from '../columns.ts';
import { textOrNull } from '../rows.ts';
import { RuleCountChanges, writeRuleCounts } from '../rules/rule-counts.ts';
import { operate } from '../rules/rule-operations.ts';
import { countOperation, DayCounts } from '../seen/feed-days.ts';
import type { Value } from '../work.ts';
import { drive, transaction } from './database.ts';
import { type DeleteStatements, type LandingStatements, landingStatements, type UpsertStatements } from './landing-statements.ts';

/** The landing transaction of the embedded store: fence, rules, dead letters and position, all or nothing. */
export function sqliteLanding(db: DatabaseSync): (batch: LandingBatch) => 'landed' | 'fenced' {
  const statements = landingStatements(db);
  return (batch) =>
    transaction(db, () => {
      if (!movePosition(statements, batch)) return 'fenced';
      const { counts, kept, lists, workspaces, expressions, poison } = applyItems(db, statements, batch);
      drive(db, writeRuleCounts(counts));
      drive(db, writeRuleCounts(kept, 'kept_counts'));
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
  /** How many rules are kept as they were. */
  readonly kept: RuleCountChanges;
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
  const [counts, kept] = [new RuleCountChanges(), new RuleCountChanges()];
  const days = new DayCounts(known);
  const [lists, workspaces, expressions] = [new Set<number>(), new Set<number>(), new Set<number>()];
  let segment = 0;
  for (const { item, seq, workspace, list } of known) {
    if (seq > segments[segment].last) segment += 1;
    const { change, receivedAt } = item;
    if (change.change === 'undo' || change.change === 'delete_rules') {
      const done = drive(db, operate({ workspace, list, seq, operation: change }));
      if (done.more !== 0) counts.add(workspace, done.more);
      if (done.kept !== 0) kept.add(workspace, done.kept);
      for (const changed of done.lists) lists.add(changed);
      if (done.lists.length > 0) workspaces.add(workspace);
      if (done.expressions) expressions.add(workspace);
      drive(db, countOperation(days, { workspace, seq, change, ...done }));
      continue;
    }
    const isAccess = change.kind === 'access_rule';
    const at = { place: isAccess ? list : workspace, receivedAt, seq, firstSeq: segments[segment].first.seq, kept: 0 };
    const more = change.change === 'upsert' ? upsertRule(statements, change, at) : -deleteRules(statements, change, at);
    if (more !== 0) counts.add(workspace, more);
    if (at.kept !== 0) kept.add(workspace, at.kept);
    if (isAccess) {
      lists.add(list);
      workspaces.add(workspace);
    } else expressions.add(workspace);
  }
  drive(db, days.write(now));
  return { counts, kept, lists, workspaces, expressions, poison };
}

/** Where and as what a change takes effect. */
interface Place {
  /** The pk of a list or a workspace. */
  readonly place: number;
  readonly receivedAt: number;
  readonly seq: number;
  /** Of its batch's items that stand together: what was written since is the batch's own. */
  readonly firstSeq: number;
  /** How many rules the change has kept as they were. */
  kept: number;
}

type Delete = Exclude<RuleChange, { change: 'upsert' }>;

/** How many rules are gone. */
function deleteRules(statements: LandingStatements, change: Delete, at: Place): number {
  const [targets, identity] = deletion(statements, change);
  let gone = 0;
  for (const { keep, remove } of targets) {
    keepRules(keep, identity, at);
    gone += Number(remove.run(at.place, ...identity).changes);
  }
  return gone;
}

/** The statements that delete, and what identifies the rules. */
function deletion(
  { deleteByRef, deleteByValue, deleteExpression }: LandingStatements,
  change: Delete,
): [DeleteStatements[], (string | number)[]] {
  const named = namedBy(change);
  if (named.by === 'value') return [deleteByValue, [actionCode(named.action), named.target]];
  return [[isExpressionKind(change.kind) ? deleteExpression[change.kind] : deleteByRef], [named.ruleRef]];
}

type Upsert = Extract<RuleChange, { change: 'upsert' }>;

/** 1 where the rule is new. */
function upsertRule(statements: LandingStatements, change: Upsert, at: Place): 0 | 1 {
  const { kind, rule } = change;
  const { place, receivedAt, seq } = at;
  const [labels, config] = [jsonText(rule.labels), jsonText(rule.config)];
  if ('expression' in rule) {
    const { ruleRef, name, type, expression, action, order, shortDescription, reason, expiresAt } = rule;
    const values = [name, type, expression, action, order, shortDescription, config, reason, labels, expiresAt, receivedAt, seq];
    return write(statements.expression[kind as ExpressionKind], [place, ruleRef, seq, receivedAt, ...values], [ruleRef], at);
  }
  const { ruleRef, target, name, reason, expiresAt } = rule;
  const named = namedBy(change);
  const text = named.by === 'value' ? named.target : formatTarget(target);
  const [action, levels] = [actionCode(rule.action), levelCode(rule.confidence, rule.severity)];
  const [v4, v6] = [packV4(target), packV6(target)];
  const row = [place, seq, ruleRef, receivedAt, action, v4, v6, text, expiresAt, levels, name, reason, labels, config, receivedAt, seq];
  return named.by === 'value'
    ? write(statements.accessByValue, row, [action, text], at)
    : write(statements.accessByRef, row, [named.ruleRef], at);
}

/** Writes a row of all columns; 1 where the rule is new. Rules that are there come in rows, as new ones do: the last one says what to try first. */
function write(statements: UpsertStatements, row: readonly Value[], identity: readonly Value[], at: Place): 0 | 1 {
  const { insert, keep, update, last } = statements;
  const isKept = last.wasThere && keepRules(keep, identity, at);
  if (!isKept && insert.run(...row).changes !== 0) {
    last.wasThere = false;
    return 1;
  }
  last.wasThere ||= keepRules(keep, identity, at);
  update.run(...row);
  return 0;
}

/** Keeps the rules that a change is about as they are; whether there are any that are not its own batch's. */
function keepRules(keep: StatementSync, identity: readonly Value[], at: Place): boolean {
  const rules = Number(keep.run(at.seq, at.place, ...identity, at.firstSeq).changes);
  at.kept += rules;
  return rules > 0;
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
  /** Lists that rules are for, by their ids. */
  readonly lists: Map<string, ListPlace>;
}

/** The items of known workspaces with their places and numbers. */
function numberItems(statements: LandingStatements, items: readonly LandingItem[]): { known: NumberedItem[]; poison: PoisonRecord[] } {
  const resolved = new Map<string, ResolvedWorkspace | undefined>();
  const known: NumberedItem[] = [];
  const poison: PoisonRecord[] = [];
  const before = items.length === 0 ? 0 : Number(statements.takeIds.get(items.length)!.value) - items.length;
  for (const [n, item] of items.entries()) {
    const { record, workspaceId } = item;
    if (!resolved.has(workspaceId)) resolved.set(workspaceId, resolveWorkspace(statements, workspaceId));
    const workspace = resolved.get(workspaceId);
    if (workspace === undefined) poison.push({ record, reason: `unknown workspace ${workspaceId}` });
    else known.push({ seq: before + n + 1, workspace: workspace.pk, ...placed(item, listOf(statements, workspace, item.listId)) });
  }
  return { known, poison };
}

/** Where rules for a list land: in the default list where it is gone. */
function listOf({ list }: LandingStatements, { pk, defaultList, lists }: ResolvedWorkspace, id: string | null): ListPlace {
  const known = id === null ? undefined : lists.get(id);
  if (known !== undefined) return known;
  const row = id === null ? undefined : list.get(id, pk);
  const place = row === undefined ? { pk: defaultList, sourceId: null } : { pk: Number(row.pk), sourceId: textOrNull(row.source_id) };
  if (id !== null) lists.set(id, place);
  return place;
}

function resolveWorkspace(statements: LandingStatements, id: string): ResolvedWorkspace | undefined {
  const row = statements.workspace.get(id);
  if (row === undefined) return undefined;
  const pk = Number(row.pk);
  return { pk, defaultList: Number(statements.defaultList.get(pk)!.pk), lists: new Map() };
}
