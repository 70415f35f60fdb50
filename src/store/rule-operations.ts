/** What people's commands do to rules, the same in both dialects (D9): a batch is undone, rules are deleted by their ids. */
import { isExpressionKind, KINDS, RULE_KINDS, type RuleOperation } from '../rule.ts';
import type { Row } from './rows.ts';
import { type RuleTable, ruleTable } from './rule-columns.ts';
import { all, one, run, type Work } from './work.ts';

/** An operation where it takes effect; the store's own numbers. */
export interface ResolvedOperation<O extends RuleOperation = RuleOperation> {
  readonly workspace: number;
  readonly list: number;
  /** The operation's own number. */
  readonly seq: number;
  readonly operation: O;
}

/** What an operation did: how many rules the workspace has more, or less, and the lists whose rules it changed. */
interface Operated {
  readonly more: number;
  readonly lists: readonly number[];
  /** How many rules it has kept as they were. */
  readonly kept: number;
  /** Whether it may have changed expression rules. */
  readonly expressions: boolean;
}

/** Does an operation. Belongs into the landing transaction. */
export function* operate({ operation, ...place }: ResolvedOperation): Work<Operated> {
  if (operation.change === 'undo') return yield* undo({ operation, ...place });
  const gone = yield* deleteRules({ operation, ...place });
  return {
    more: -gone,
    kept: gone,
    lists: RULE_KINDS[operation.kind].scope === 'list' ? [place.list] : [],
    expressions: isExpressionKind(operation.kind),
  };
}

type OperationOf<C extends RuleOperation['change']> = ResolvedOperation<Extract<RuleOperation, { change: C }>>;

/** How many rules are gone; each of them is kept. */
function* deleteRules({ workspace, list, seq, operation: { kind, ids } }: OperationOf<'delete_rules'>): Work<number> {
  if (ids.length === 0) return 0;
  const rules = ruleTable(kind);
  const place = RULE_KINDS[kind].scope === 'list' ? list : workspace;
  const wanted = `id IN (${ids.map((_, i) => `$${i + 3}`)})`;
  const columns = rules.columns.join(', ');
  const found = `FROM ${rules.table} r WHERE ${byId(rules, 'r')} = $1 AND ${wanted}`;
  yield* run(`INSERT INTO ${rules.before} (changed, existed, ${columns}) SELECT ${SEQ}, 1, ${columns} ${found}`, place, seq, ...ids);
  return yield* run(removeKept(rules, `${rules.place} = $1`), place, seq);
}

/** The operation's own number; PostgreSQL takes a bare value in a SELECT for text. */
const SEQ = 'CAST($2 AS BIGINT)';

/** The rows of one batch. The sign keeps SQLite from taking all batches of the workspace for the fewer rows. */
export const rowsOf = (workspace: string, batch: string, row: string) =>
  `${row}.batch_id = ${batch} AND +${row}.workspace_pk = ${workspace}`;

/** Removes the rules that the operation number `$2` has kept as they were; `where` finds their places. */
const removeKept = ({ table, before, key }: RuleTable, where: string) =>
  `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${before} WHERE ${where} AND changed = $2 AND existed = 1)`;

/** A rule of the table where it lies, found by its id. The sign keeps SQLite from searching a workspace for it. */
export const byId = ({ place }: RuleTable, row: string) => (place === 'list_pk' ? `${row}.list_pk` : `+${row}.workspace_pk`);

/** Where the numbers of a batch lie: in a list or, for the kinds without one, in the workspace. */
export interface Stretch {
  readonly place: number;
  readonly first: number;
  readonly last: number;
}

/** Where rules of this table that a batch has touched may be; the store's own numbers. */
export function* stretchesOf({ place }: RuleTable, workspace: number, batchId: string): Work<Stretch[]> {
  const rows = yield* all(
    `SELECT b.list_pk, b.workspace_pk, b.first_seq, b.last_seq FROM batches b WHERE ${rowsOf('$1', '$2', 'b')} ORDER BY b.first_seq`,
    workspace,
    batchId,
  );
  return rows.map((row) => ({ place: Number(row[place]), first: Number(row.first_seq), last: Number(row.last_seq) }));
}

/**
 * What undoing a batch means for the rules of one table that are identified by `rule_ref` or, access rules only, by their value. Values:
 * `$1` the workspace, `$2` the number of the undo, `$3` the batch, `$4` to `$6` a stretch of it. A rule that another batch has changed
 * since stays as it is.
 *
 * - `made`: the rules (r) that the batch made and that are there still; they go.
 * - `changed`: rules (c) as they were before the batch changed or deleted them first; they come back.
 */
export function undoSelections(rules: RuleTable, byRef: boolean): { made: string; changed: string } {
  const { table, before, place } = rules;
  const identified = (row: string) => `${row}.rule_ref IS ${byRef ? 'NOT NULL' : 'NULL'}`;
  const identity = byRef ? ['rule_ref'] : ['action', 'target'];
  const same = (a: string, b: string) =>
    [...[place, ...identity].map((column) => `${a}.${column} = ${b}.${column}`), identified(a)].join(' AND ');
  const ofBatch = (seq: string) =>
    `EXISTS (SELECT 1 FROM batches o WHERE ${rowsOf('$1', '$3', 'o')} AND ${seq} BETWEEN o.first_seq AND o.last_seq)`;
  // No other batch has changed the rule after this number, or has made and lost one like it, and it stands.
  const unchanged = (row: string, since: string) =>
    `NOT EXISTS (SELECT 1 FROM ${before} x WHERE ${same('x', row)} AND x.changed > ${since} AND x.changed <> $2
       AND NOT (${ofBatch('x.changed')} AND (x.id <= ${since} OR ${ofBatch('x.id')})) AND NOT ${isCancelled('x.changed', since)})`;
  // No other batch has made one like it that is there.
  const notMade = `NOT EXISTS (SELECT 1 FROM ${table} y WHERE ${same('y', 'c')} AND y.id > c.changed AND NOT ${ofBatch('y.id')})`;
  const within = (found: string, seq: string, row: string) => `${found} = $4 AND ${row}.${seq} BETWEEN $5 AND $6 AND ${identified(row)}`;
  return {
    made: `FROM ${table} r WHERE ${within(byId(rules, 'r'), 'id', 'r')} AND ${unchanged('r', 'r.id')}`,
    changed: `FROM ${before} c WHERE ${within(`c.${place}`, 'changed', 'c')} AND NOT ${ofBatch('c.id')}
      AND NOT EXISTS (SELECT 1 FROM ${before} f WHERE ${same('f', 'c')} AND f.id = c.id AND f.changed < c.changed AND ${ofBatch('f.changed')})
      AND ${unchanged('c', 'c.changed')} AND ${notMade}`,
  };
}

/** Whether the change of this number is of a batch that is undone, or of the undoing of one that is all later than `since`. */
const isCancelled = (seq: string, since: string) =>
  `EXISTS (SELECT 1 FROM batches o WHERE o.workspace_pk = $1 AND o.last_seq >= ${seq}
     AND o.first_seq = (SELECT max(m.first_seq) FROM batches m WHERE m.workspace_pk = $1 AND m.first_seq <= ${seq})
     AND (o.undone = 1 OR ${since} < (SELECT min(z.first_seq) FROM batches z WHERE ${rowsOf('$1', 'o.undoes', 'z')})))`;

/** The tables of rules, each with the ways in which its rules are identified. */
export const IDENTITIES: readonly { rules: RuleTable; byRef: boolean }[] = KINDS.flatMap((kind) => {
  const rules = ruleTable(kind);
  return RULE_KINDS[kind].holds === 'target' ? [false, true].map((byRef) => ({ rules, byRef })) : [{ rules, byRef: true }];
});

function* undo({ workspace, seq, operation: { batchId } }: OperationOf<'undo'>): Work<Operated> {
  const lists = new Set<number>();
  let [more, kept] = [0, 0];
  if (yield* isGivenUp(workspace, batchId)) {
    yield* run('UPDATE batches SET undoes = NULL WHERE workspace_pk = $1 AND first_seq = $2', workspace, seq);
    return { more, kept, lists: [], expressions: false };
  }
  for (const { rules, byRef } of IDENTITIES) {
    const { made, changed } = undoSelections(rules, byRef);
    const { table, before, place } = rules;
    const columns = rules.columns.join(', ');
    const of = (row: string) => rules.columns.map((column) => `${row}.${column}`).join(', ');
    const keep = (existed: 0 | 1, row: string) =>
      `INSERT INTO ${before} (changed, existed, ${columns}) SELECT ${SEQ}, ${existed}, ${of(row)}`;
    const here = (row: string) => `SELECT 1 FROM ${table} n WHERE ${byId(rules, 'n')} = ${row}.${place} AND n.id = ${row}.id`;
    const stretches = yield* openStretches(rules, workspace, batchId);
    for (const { place, first, last } of stretches) {
      const values = [workspace, seq, batchId, place, first, last] as const;
      // What is there now is kept first: it is what undoing this undo brings back.
      kept += yield* run(`${keep(1, 'r')} ${made}`, ...values);
      kept += yield* run(
        `${keep(1, 'n')} FROM (SELECT c.${rules.place}, c.id ${changed}) c JOIN ${table} n ON ${byId(rules, 'n')} = c.${rules.place} AND n.id = c.id`,
        ...values,
      );
      kept += yield* run(`${keep(0, 'c')} ${changed} AND c.existed = 1 AND NOT EXISTS (${here('c')})`, ...values);
    }
    for (const place of new Set(stretches.map((stretch) => stretch.place))) {
      more -= yield* run(removeKept(rules, `${rules.place} = $1 AND rule_ref IS ${byRef ? 'NOT NULL' : 'NULL'}`), place, seq);
      if (rules.place === 'list_pk') lists.add(place);
    }
    const isKept = `EXISTS (SELECT 1 FROM ${before} k WHERE k.${place} = c.${place} AND k.changed = $2 AND k.id = c.id)`;
    for (const { place, first, last } of stretches) {
      const restore = `INSERT INTO ${table} (${columns}) SELECT ${of('c')} ${changed} AND c.existed = 1 AND ${isKept}`;
      more += yield* run(restore, workspace, seq, batchId, place, first, last);
    }
  }
  yield* markUndone(workspace, batchId);
  return { more, kept, lists: [...lists], expressions: true };
}

/** Says of a batch that an undo of it stands; where it is an undo itself, also what that says of the batch that it undid, and so on. */
function* markUndone(workspace: number, batchId: string): Work<void> {
  const marked = new Set<string>();
  for (let id: string | null = batchId; id !== null && !marked.has(id); ) {
    const stands = 'EXISTS (SELECT 1 FROM batches u WHERE u.undoes = $2 AND +u.workspace_pk = $1 AND u.undone = 0)';
    const undone = `CASE WHEN ${stands} THEN 1 ELSE 0 END`;
    yield* run(`UPDATE batches SET undone = ${undone} WHERE batch_id = $2 AND +workspace_pk = $1`, workspace, id);
    marked.add(id);
    const row: Row | undefined = yield* one(`SELECT b.undoes FROM batches b WHERE ${rowsOf('$1', '$2', 'b')} LIMIT 1`, workspace, id);
    id = (row?.undoes ?? null) as string | null;
  }
}

/** The number up to which a workspace has given up what its batches replaced (D9.10); 0: nothing. */
export function* givenUpUntil(workspace: number): Work<number> {
  return Number((yield* one('SELECT until_seq FROM given_up WHERE workspace_pk = $1', workspace))?.until_seq ?? 0);
}

/** Whether what the batch replaced is given up: a part of it would come back, or nothing. */
export function* isGivenUp(workspace: number, batchId: string): Work<boolean> {
  const row = yield* one(`SELECT min(b.first_seq) AS seq FROM batches b WHERE ${rowsOf('$1', '$2', 'b')}`, workspace, batchId);
  return row?.seq !== null && Number(row?.seq) <= (yield* givenUpUntil(workspace));
}

/** Nothing comes back into a list that is deleted. */
function* openStretches(rules: RuleTable, workspace: number, batchId: string): Work<Stretch[]> {
  const stretches = yield* stretchesOf(rules, workspace, batchId);
  if (rules.place === 'workspace_pk') return stretches;
  const open: Stretch[] = [];
  for (const stretch of stretches) {
    if ((yield* one('SELECT 1 AS there FROM lists WHERE pk = $1', stretch.place)) !== undefined) open.push(stretch);
  }
  return open;
}
