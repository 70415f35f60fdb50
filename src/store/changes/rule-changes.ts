/**
 * Counts what a landing did per list and sender (SPEC D32.2), in the landing transaction: a crash neither loses nor doubles counts.
 */

import { isExpressionKind, KINDS, type Kind, RULE_KINDS } from '../../rule.ts';
import { inChunks } from '../../schedule/chunks.ts';
import type { NumberedItem } from '../batches/batches.ts';
import { byId } from '../batches/undo-selections.ts';
import { ruleTable } from '../rules/rule-columns.ts';
import { all, runRows, type Value, type Work } from '../work.ts';

/** Consecutive items of one sender, kind and list (workspace for kinds without lists). */
interface Run {
  readonly workspace: number;
  readonly place: number;
  readonly kind: Kind;
  readonly sender: string;
  readonly first: number;
  last: number;
  /** null: none; undefined: several. */
  batchId: string | null | undefined;
  reason: string | null | undefined;
  added: number;
  renewed: number;
  removed: number;
}

/** Reason, characters. */
const LONGEST = 200;

/** `listsOf`: by the undo's number. */
function runsOf(items: readonly NumberedItem[], listsOf: ReadonlyMap<number, readonly number[]>): Run[] {
  const runs: Run[] = [];
  let open = new Map<string, Run>();
  for (const { item, seq, workspace, list } of items) {
    const { change, batchId } = item;
    const isUndo = change.change === 'undo';
    const sender = JSON.stringify([
      item.keyId,
      item.actor ?? null,
      item.personId ?? null,
      item.sourceId ?? null,
      isUndo ? change.batchId : null,
      ...(change.change === 'set_rules' ? [true] : []),
    ]);
    const said = change.change === 'upsert' ? change.rule.reason : change.change === 'set_rules' ? change.reason : null;
    const reason = said?.slice(0, LONGEST).toWellFormed() ?? null;
    // Items after an undo do not continue earlier runs.
    if (isUndo) open = new Map();
    const places = isUndo ? undone(workspace, listsOf.get(seq) ?? []) : ofKind(change.kind, workspace, list);
    for (const [kind, place] of places) {
      const key = `${kind} ${place}`;
      const known = open.get(key);
      if (known?.sender === sender) {
        known.last = seq;
        if (known.batchId !== batchId) known.batchId = undefined;
        if (known.reason !== reason) known.reason = undefined;
        continue;
      }
      const begun = { workspace, place, kind, sender, first: seq, last: seq, batchId, reason, added: 0, renewed: 0, removed: 0 };
      runs.push(begun);
      open.set(key, begun);
    }
    if (isUndo) open = new Map();
  }
  return runs;
}

type Places = readonly (readonly [kind: Kind, place: number])[];
const ofKind = (kind: Kind, workspace: number, list: number): Places => [[kind, RULE_KINDS[kind].scope === 'list' ? list : workspace]];
const undone = (workspace: number, lists: readonly number[]): Places =>
  KINDS.flatMap((kind): Places => (isExpressionKind(kind) ? [[kind, workspace]] : lists.map((list) => [kind, list])));

const COUNTED = "(SELECT value FROM counters WHERE name = 'expired_until')";
const isActive = (row: string) => `(${row}.expires_at IS NULL OR ${row}.expires_at > ${COUNTED})`;
const flag = (condition: string) => `CASE WHEN ${condition} THEN 1 ELSE 0 END`;

/** Latest change first, with the current state of each. */
function previousVersions(kind: Kind): string {
  const rules = ruleTable(kind);
  const now = (more: string) =>
    flag(`EXISTS (SELECT 1 FROM ${rules.table} r WHERE ${byId(rules, 'r')} = c.${rules.place} AND r.id = c.id${more})`);
  return `SELECT c.changed, c.id, c.existed, ${flag(isActive('c'))} AS active, ${now('')} AS there, ${now(` AND ${isActive('r')}`)} AS is_active
    FROM ${rules.before} c WHERE c.${rules.place} = $1 AND c.changed BETWEEN $2 AND $3 ORDER BY c.changed DESC`;
}

const ROWS = 100;

const made = (kind: Kind, runs: number) => {
  const rules = ruleTable(kind);
  const values = Array.from({ length: runs }, (_, i) => `(${[1, 2, 3].map((n) => `CAST($${3 * i + n} AS BIGINT)`)})`);
  return `WITH wanted (place, since, until) AS (VALUES ${values}) SELECT w.since,
    (SELECT count(*) FROM ${rules.table} r WHERE ${byId(rules, 'r')} = w.place AND r.id BETWEEN w.since AND w.until) AS rules FROM wanted w`;
};

/** Runs after the items, in the landing transaction. */
export class LandedChanges {
  readonly #items: readonly NumberedItem[];
  readonly #undone = new Map<number, readonly number[]>();
  #runs: readonly Run[] = [];

  constructor(items: readonly NumberedItem[]) {
    this.#items = items;
  }

  undid(seq: number, lists: readonly number[]): void {
    this.#undone.set(seq, lists);
  }

  /**
   * Adds per workspace the change in stored rules and in previous versions. The common case, one sender that creates rules in one list,
   * needs no statement.
   */
  *count({ counts, previous }: Readonly<Record<'counts' | 'previous', ReadonlyMap<number, number>>>): Work<void> {
    this.#runs = runsOf(this.#items, this.#undone);
    for (const [workspace, runs] of Map.groupBy(this.#runs, (each) => each.workspace)) {
      let removed = 0;
      if ((previous.get(workspace) ?? 0) > 0) {
        for (const own of Map.groupBy(runs, ({ kind, place }) => `${kind} ${place}`).values())
          removed += yield* countPrevious(own, runs.length > 1);
      }
      const [only] = runs;
      if (runs.length === 1 && JSON.parse(only!.sender)[4] === null) only!.added += (counts.get(workspace) ?? 0) + removed;
      else yield* countMade(runs);
    }
  }

  /** By place. Comes after `count`. */
  get nets(): { readonly workspace: number; readonly place: number; readonly net: number }[] {
    const ofLists = this.#runs.filter(({ kind }) => kind === 'access_rule');
    return ofLists.map(({ workspace, place, added, removed }) => ({ workspace, place, net: added - removed }));
  }

  *write(now: number): Work<void> {
    const sums = new Map<string, Run>();
    for (const each of this.#runs) {
      if (each.added + each.renewed + each.removed === 0) continue;
      const key = [each.workspace, each.place, each.kind, each.sender].join(' ');
      const known = sums.get(key);
      if (known === undefined) sums.set(key, { ...each });
      else {
        for (const field of ['added', 'renewed', 'removed'] as const) known[field] += each[field];
        for (const field of ['batchId', 'reason'] as const) if (known[field] !== each[field]) known[field] = undefined;
      }
    }
    const minute = Math.floor(now / 60_000);
    const rows = [...sums.values()].map(
      (each): ChangeRow => ({ ...each, place: isExpressionKind(each.kind) ? 0 : each.place, minute, expired: 0 }),
    );
    yield* writeRows(rows);
  }
}

/** `withLost`: also counts rules created and removed again. */
function* countPrevious(runs: readonly Run[], withLost: boolean): Work<number> {
  const [{ kind, place, first }] = runs as [Run];
  const rows = yield* all(previousVersions(kind), place, first, runs.at(-1)!.last);
  const after = new Map<number, { there: boolean; active: boolean }>();
  let [removed, at] = [0, runs.length - 1];
  for (const row of rows) {
    const [changed, id] = [Number(row.changed), Number(row.id)];
    while (runs[at]!.first > changed) at -= 1;
    const run = runs[at]!;
    const next = after.get(id) ?? { there: Number(row.there) === 1, active: Number(row.is_active) === 1 };
    const before = { there: Number(row.existed) === 1, active: Number(row.existed) === 1 && Number(row.active) === 1 };
    if (withLost && !after.has(id) && !next.there && id >= first) runs.findLast((each) => each.first <= id)!.added += 1;
    after.set(id, before);
    removed += Number(before.there) - Number(next.there);
    if (before.active && next.active) run.renewed += 1;
    else if (before.active) run.removed += 1;
    else if (next.active) run.added += 1;
  }
  return removed;
}

function* countMade(all_: readonly Run[]): Work<void> {
  for (const [kind, runs] of Map.groupBy(all_, (each) => each.kind)) {
    for (const slice of inChunks(runs, ROWS)) {
      const rows = yield* all(made(kind, slice.length), ...slice.flatMap(({ place, first, last }) => [place, first, last]));
      const found = new Map(rows.map((row) => [Number(row.since), Number(row.rules)]));
      for (const each of slice) each.added += found.get(each.first) ?? 0;
    }
  }
}

interface ChangeRow extends Pick<Run, 'workspace' | 'place' | 'kind' | 'sender' | 'batchId' | 'reason' | 'added' | 'renewed' | 'removed'> {
  readonly minute: number;
  readonly expired: number;
}

const COUNTS = ['added', 'renewed', 'removed', 'expired'] as const;
const COLUMNS = ['workspace_pk', 'minute', 'place', 'kind', 'sender', ...COUNTS, 'batch_id', 'reason'];
const same = (column: string) => `${column} = CASE WHEN rule_changes.${column} = excluded.${column} THEN rule_changes.${column} END`;
const ADDED = `ON CONFLICT (workspace_pk, minute, place, kind, sender) DO UPDATE SET
  ${COUNTS.map((column) => `${column} = rule_changes.${column} + excluded.${column}`)}, ${same('batch_id')}, ${same('reason')}`;

/** `''`: none; NULL: several. */
const textOf = (value: string | null | undefined): string | null => (value === undefined ? null : (value ?? ''));

/** In a fixed order, to prevent deadlocks. */
function* writeRows(rows: readonly ChangeRow[]): Work<void> {
  const sorted = rows
    .toSorted((a, b) => a.workspace - b.workspace || a.minute - b.minute || a.place - b.place)
    .map((each): Value[] => [
      ...[each.workspace, each.minute, each.place, each.kind, each.sender],
      ...COUNTS.map((column) => each[column]),
      ...[textOf(each.batchId), textOf(each.reason)],
    ]);
  yield* runRows(sorted, (values) => `INSERT INTO rule_changes (${COLUMNS}) VALUES ${values} ${ADDED}`);
}

/** Rules of a list, or of a kind without lists (0), that expired within a minute. */
export interface ExpiredRules {
  readonly workspace: number;
  readonly place: number;
  readonly kind: Kind;
  readonly minute: number;
  readonly rules: number;
}

/** Runs in the transaction that counts them. */
export const writeExpired = (found: readonly ExpiredRules[]): Work<void> =>
  writeRows(
    found.map(({ rules, ...place }) => ({
      ...place,
      sender: '',
      added: 0,
      renewed: 0,
      removed: 0,
      expired: rules,
      batchId: null,
      reason: null,
    })),
  );
