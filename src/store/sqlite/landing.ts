import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { LandingBatch, PoisonRecord } from '../../ports/landing.ts';
import { isExpressionKind, isOperation, type RuleChange } from '../../rule.ts';
import { namedBy } from '../../signal/named-rules.ts';
import { type ListPlace, listPlaceOf, type NumberedItem, segmentsOf, writeSegments } from '../batches/batches.ts';
import { CanaryNeeded, watchLarge } from '../canary/landing.ts';
import { type Staged, startCanaries } from '../canary/start.ts';
import { actionCode, nearestInstant } from '../columns.ts';
import { Changed, type Located, numberItems, writeWaiting } from '../landing.ts';
import { SQLITE_REPEATS, withRepeats } from '../rules/repeats.ts';
import { rowOf } from '../rules/rule-columns.ts';
import type { Value } from '../work.ts';
import { drive, transaction } from './database.ts';
import { type DeleteStatements, type LandingStatements, landingStatements, type UpsertStatements } from './landing-statements.ts';

/** One transaction: fence, rules, dead letters and position. */
export function sqliteLanding(db: DatabaseSync): (batch: LandingBatch) => 'landed' | 'fenced' {
  const statements = landingStatements(db);
  const land = (batch: LandingBatch, large: readonly Staged[]): 'landed' | 'fenced' =>
    transaction(db, () => {
      if (!movePosition(statements, batch)) return 'fenced';
      for (const each of large) drive(db, startCanaries(String(batch.now), each));
      const { known, poison } = numberItems(batch.items, takeNumbers(statements, batch.items.length), locator(statements));
      const changed = applyItems(db, statements, known, batch.now);
      for (const work of [changed.count(batch.now), watchLarge(known, batch.now), ...changed.write(batch.now)]) drive(db, work);
      const { lists, workspaces, expressions } = changed;
      for (const pk of lists) statements.touchList.run(pk);
      for (const pk of workspaces) statements.touchWorkspace.run(pk);
      for (const pk of expressions) statements.touchExpressions.run(pk);
      keepLetters(statements, batch, [...batch.poison, ...poison, ...drive(db, writeWaiting(String(batch.now), batch.waiting))]);
      return 'landed';
    });
  return (batch) => {
    try {
      return land(batch, []);
    } catch (error) {
      if (!(error instanceof CanaryNeeded)) throw error;
      return land(batch, error.large);
    }
  };
}

/** The fence: false if the position is not this consumer's start. */
function movePosition({ firstPosition, advance }: LandingStatements, { streamId, partition, from, to }: LandingBatch): boolean {
  const { changes } = from === null ? firstPosition.run(streamId, partition, to) : advance.run(to, streamId, partition, from);
  return changes !== 0;
}

/** Applies items in order with their numbers (SPEC D4.15). */
function applyItems(db: DatabaseSync, statements: LandingStatements, numbered: readonly NumberedItem[], now: number): Changed {
  const segments = segmentsOf(numbered);
  drive(db, writeSegments(segments, { now }));
  const known = drive(db, withRepeats(numbered, segments, SQLITE_REPEATS));
  const changed = new Changed(known);
  let segment = 0;
  for (const each of known) {
    const { item, seq, workspace, list } = each;
    if (seq > segments[segment].last) segment += 1;
    const { change, receivedAt } = item;
    if (isOperation(change)) {
      drive(db, changed.operate(each, change));
      continue;
    }
    const isAccess = change.kind === 'access_rule';
    const at = { place: isAccess ? list : workspace, receivedAt, seq, firstSeq: segments[segment].first.seq, previous: 0 };
    const more = change.change === 'upsert' ? upsertRule(statements, change, at) : -deleteRules(statements, change, at);
    if (more !== 0) changed.counts.add(workspace, more);
    if (at.previous !== 0) changed.previous.add(workspace, at.previous);
    if (isAccess) {
      changed.lists.add(list);
      changed.workspaces.add(workspace);
    } else changed.expressions.add(workspace);
  }
  return changed;
}

interface Place {
  /** List or workspace pk. */
  readonly place: number;
  readonly receivedAt: number;
  readonly seq: number;
  /** First number of the consecutive items of its batch: rules written since belong to the batch. */
  readonly firstSeq: number;
  previous: number;
}

type Delete = Exclude<RuleChange, { change: 'upsert' }>;

function deleteRules(statements: LandingStatements, change: Delete, at: Place): number {
  const [targets, identity] = deletion(statements, change);
  let removed = 0;
  for (const { keep, remove } of targets) {
    keepRules(keep, identity, at);
    removed += Number(remove.run(at.place, ...identity).changes);
  }
  return removed;
}

function deletion(
  { deleteByRef, deleteByValue, deleteExpression }: LandingStatements,
  change: Delete,
): [DeleteStatements[], (string | number)[]] {
  const named = namedBy(change);
  if (named.by === 'value') return [deleteByValue, [actionCode(named.action), named.target]];
  return [[isExpressionKind(change.kind) ? deleteExpression[change.kind] : deleteByRef], [named.ruleRef]];
}

type Upsert = Extract<RuleChange, { change: 'upsert' }>;

function upsertRule(statements: LandingStatements, change: Upsert, at: Place): 0 | 1 {
  const { kind, rule } = change;
  const { place, receivedAt, seq } = at;
  const named = namedBy(change);
  const text = named.by === 'value' ? named.target : undefined;
  const row = rowOf(rule, { place, id: seq, createdAt: receivedAt, updatedAt: receivedAt, seq }, text);
  if (named.by === 'value') return write(statements.accessByValue, row, [actionCode(named.action), named.target], at);
  return write(isExpressionKind(kind) ? statements.expression[kind] : statements.accessByRef, row, [named.ruleRef], at);
}

/** Returns 1 for a new rule. New and existing rules come in blocks: the last one decides what to try first. */
function write(statements: UpsertStatements, row: readonly Value[], identity: readonly Value[], at: Place): 0 | 1 {
  const { insert, keep, update, last } = statements;
  const isStored = last.wasThere && keepRules(keep, identity, at);
  if (!isStored && insert.run(...row).changes !== 0) {
    last.wasThere = false;
    return 1;
  }
  last.wasThere ||= keepRules(keep, identity, at);
  update.run(...row);
  return 0;
}

/** Whether there are any from other batches. */
function keepRules(keep: StatementSync, identity: readonly Value[], at: Place): boolean {
  const rules = Number(keep.run(at.seq, at.place, ...identity, at.firstSeq).changes);
  at.previous += rules;
  return rules > 0;
}

function keepLetters({ letter }: LandingStatements, batch: LandingBatch, poison: readonly PoisonRecord[]): void {
  const { now, streamId, partition } = batch;
  for (const { record, reason } of poison) {
    const { offset, timestamp, key, headers, value } = record;
    letter.run(now, reason, streamId, partition, offset, nearestInstant(timestamp), key, JSON.stringify(headers), value);
  }
}

function takeNumbers({ takeIds }: LandingStatements, count: number): (n: number) => number {
  const before = count === 0 ? 0 : Number(takeIds.get(count)!.value) - count;
  return (n) => before + n + 1;
}

function locator(statements: LandingStatements): (workspaceId: string) => Located | undefined {
  const known = new Map<string, Located | undefined>();
  return (id) => {
    if (!known.has(id)) known.set(id, locate(statements, id));
    return known.get(id);
  };
}

function locate({ workspace, defaultList, list }: LandingStatements, id: string): Located | undefined {
  const row = workspace.get(id);
  if (row === undefined) return undefined;
  const pk = Number(row.pk);
  const byDefault = listPlaceOf(defaultList.get(pk)!);
  const lists = new Map<string | null, ListPlace>([[null, byDefault]]);
  return {
    pk,
    listOf(listId) {
      const known = lists.get(listId);
      if (known !== undefined) return known;
      const found = list.get(listId, pk);
      const place = found === undefined ? byDefault : listPlaceOf(found);
      lists.set(listId, place);
      return place;
    },
  };
}
