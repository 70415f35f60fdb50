/** Which rules an undo means, the same for what does it (rule-operations.ts) and what tells of it before (undo-preview.ts) (D9). */
import { KINDS, RULE_KINDS } from '../../rule.ts';
import { type RuleTable, ruleTable } from '../rules/rule-columns.ts';
import { all, one, type Work } from '../work.ts';

/** The rows of one batch. The sign keeps SQLite from taking all batches of the workspace for the fewer rows. */
export const rowsOf = (workspace: string, batch: string, row: string) =>
  `${row}.batch_id = ${batch} AND +${row}.workspace_pk = ${workspace}`;

/** A rule of the table where it lies, found by its id. The sign keeps SQLite from searching a workspace for it. */
export const byId = ({ place }: RuleTable, row: string) => (place === 'list_pk' ? `${row}.list_pk` : `+${row}.workspace_pk`);

/** The tables of rules, each with the ways in which its rules are identified: by `rule_ref` or, access rules only, by their value. */
export const IDENTITIES: readonly { readonly rules: RuleTable; readonly byRefs: readonly boolean[] }[] = KINDS.map((kind) => ({
  rules: ruleTable(kind),
  byRefs: RULE_KINDS[kind].holds === 'target' ? [false, true] : [true],
}));

/** Where rules that a batch has touched may be: in a list or, for the kinds without one, in the workspace; the store's own numbers. */
export interface Stretch {
  readonly place: number;
  readonly first: number;
  readonly last: number;
}

/**
 * Where rules of this table that a batch has touched may be. What a batch of people's deletes or an undo has changed lies in whatever lists
 * its batch had, not only in its own. A list that is deleted is none: nothing comes back into it.
 */
export function* stretchesOf({ place }: RuleTable, workspace: number, batchId: string): Work<Stretch[]> {
  const rows = yield* all(
    `SELECT b.list_pk, b.first_seq, b.last_seq, b.undoes FROM batches b WHERE ${rowsOf('$1', '$2', 'b')} ORDER BY b.first_seq`,
    workspace,
    batchId,
  );
  const runs: { first: number; last: number; lists: Set<number> }[] = [];
  for (const row of rows) {
    const [first, last] = [Number(row.first_seq), Number(row.last_seq)];
    const lists = yield* listsOf(workspace, row.undoes as string | null, Number(row.list_pk));
    const before = runs.at(-1);
    // Entries that landed together are looked at together, however they alternate between lists.
    if (before?.last !== first - 1) runs.push({ first, last, lists });
    else {
      before.last = last;
      for (const list of lists) before.lists.add(list);
    }
  }
  if (place === 'workspace_pk') return runs.map(({ first, last }) => ({ place: workspace, first, last }));
  const open = new Set(yield* openLists(new Set(runs.flatMap(({ lists }) => [...lists]))));
  return runs.flatMap(({ first, last, lists }) =>
    [...lists].filter((list) => open.has(list)).map((list) => ({ place: list, first, last })),
  );
}

/** The lists in which an entry may have changed rules: its own and, where it is an undo, those of the batch that it undid, and so on. */
export function* listsOf(workspace: number, undoes: string | null, own: number): Work<Set<number>> {
  const lists = new Set([own]);
  const seen = new Set<string>();
  for (let id = undoes; id !== null && !seen.has(id); ) {
    seen.add(id);
    const rows = yield* all(`SELECT DISTINCT b.list_pk, b.undoes FROM batches b WHERE ${rowsOf('$1', '$2', 'b')}`, workspace, id);
    for (const row of rows) lists.add(Number(row.list_pk));
    id = (rows[0]?.undoes ?? null) as string | null;
  }
  return lists;
}

/** Those that are there, in the order in which they were made. */
function* openLists(lists: Iterable<number>): Work<number[]> {
  const open: number[] = [];
  for (const list of [...lists].sort((a, b) => a - b)) {
    if ((yield* one('SELECT 1 AS there FROM lists WHERE pk = $1', list)) !== undefined) open.push(list);
  }
  return open;
}

/**
 * Whether there is such a row, looked up for one row after the other. The OFFSET keeps the planner of PostgreSQL from joining whole tables,
 * which takes minutes where it has no statistics of them yet.
 */
export const exists = (rows: string) => `EXISTS (SELECT 1 FROM ${rows} LIMIT 1 OFFSET 0)`;

/** Conditions of SQL. Values: `$1` the workspace, `$2` the number of the undo, `$3` the batch, `$4` a place, `$5` and `$6` numbers there. */
export interface UndoSelections {
  /** Of the rules (r): those that the batch made under these numbers; those of them that no other batch has changed since go. */
  readonly made: { readonly all: string; readonly open: string };
  /**
   * Of the rules as they were (c) before the batch changed or deleted them first, under these numbers: those that no other batch has
   * changed since come back. `settled`: an undo of the batch that stands has put it right.
   */
  readonly changed: { readonly all: string; readonly open: string; readonly settled: string };
}

/**
 * What undoing a batch means for the rules of one table that are identified by `rule_ref` or by their value. A rule that another batch has
 * changed since stays as it is.
 */
export function undoSelections(rules: RuleTable, byRef: boolean): UndoSelections {
  const { table, before, place } = rules;
  const identified = (row: string) => `${row}.rule_ref IS ${byRef ? 'NOT NULL' : 'NULL'}`;
  const identity = byRef ? ['rule_ref'] : ['action', 'target'];
  const same = (a: string, b: string) =>
    [...[place, ...identity].map((column) => `${a}.${column} = ${b}.${column}`), identified(a)].join(' AND ');
  const ofBatch = (seq: string) => exists(`batches o WHERE ${rowsOf('$1', '$3', 'o')} AND ${seq} BETWEEN o.first_seq AND o.last_seq`);
  // No other batch has changed the rule after this number, or has made and lost one like it, and it stands.
  const unchanged = (row: string, since: string) =>
    `NOT ${exists(`${before} x WHERE ${same('x', row)} AND x.changed > ${since} AND x.changed <> $2
       AND NOT (${ofBatch('x.changed')} AND (x.id <= ${since} OR ${ofBatch('x.id')})) AND NOT ${isCancelled('x.changed', since)}`)}`;
  // No other batch has made one like it that is there.
  const notMade = `NOT ${exists(`${table} y WHERE ${same('y', 'c')} AND y.id > c.changed AND NOT ${ofBatch('y.id')}`)}`;
  const within = (found: string, seq: string, row: string) => `${found} = $4 AND ${row}.${seq} BETWEEN $5 AND $6 AND ${identified(row)}`;
  const earlier = `${same('f', 'c')} AND f.id = c.id AND f.changed < c.changed AND ${ofBatch('f.changed')}`;
  // An undo is one number, and has kept each rule that it touched once.
  const byUndo = exists(`${before} z WHERE z.${place} = c.${place} AND z.changed = u.first_seq AND z.id = c.id`);
  return {
    made: { all: within(byId(rules, 'r'), 'id', 'r'), open: unchanged('r', 'r.id') },
    changed: {
      all: `${within(`c.${place}`, 'changed', 'c')} AND NOT ${ofBatch('c.id')} AND NOT ${exists(`${before} f WHERE ${earlier}`)}`,
      open: `${unchanged('c', 'c.changed')} AND ${notMade}`,
      settled: exists(`batches u WHERE u.undoes = $3 AND +u.workspace_pk = $1 AND u.undone = 0 AND ${byUndo}`),
    },
  };
}

/** Whether the change of this number is of a batch that is undone, or of the undoing of one that is all later than `since`. */
const isCancelled = (seq: string, since: string) =>
  exists(`batches o WHERE o.workspace_pk = $1 AND o.last_seq >= ${seq}
     AND o.first_seq = (SELECT max(m.first_seq) FROM batches m WHERE m.workspace_pk = $1 AND m.first_seq <= ${seq})
     AND (o.undone = 1 OR ${since} < (SELECT min(z.first_seq) FROM batches z WHERE ${rowsOf('$1', 'o.undoes', 'z')}))`);

/** The number up to which a workspace has given up what its batches replaced (D9.10); 0: nothing. */
export function* givenUpUntil(workspace: number): Work<number> {
  return Number((yield* one('SELECT until_seq FROM given_up WHERE workspace_pk = $1', workspace))?.until_seq ?? 0);
}

/** Whether what the batch replaced is given up: a part of it would come back, or nothing. */
export function* isGivenUp(workspace: number, batchId: string): Work<boolean> {
  const row = yield* one(`SELECT min(b.first_seq) AS seq FROM batches b WHERE ${rowsOf('$1', '$2', 'b')}`, workspace, batchId);
  return row?.seq !== null && Number(row?.seq) <= (yield* givenUpUntil(workspace));
}
