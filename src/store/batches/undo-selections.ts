/** Which rules an undo affects, for rule-operations.ts and undo-preview.ts (D9). */
import { KINDS, RULE_KINDS } from '../../rule.ts';
import { type RuleTable, ruleTable } from '../rules/rule-columns.ts';
import { all, one, type Work } from '../work.ts';

/** The sign keeps SQLite from reading all batches of the workspace. */
export const rowsOf = (workspace: string, batch: string, row: string) =>
  `${row}.batch_id = ${batch} AND +${row}.workspace_pk = ${workspace}`;

/** Finds a rule by id. The sign keeps SQLite from searching a workspace. */
export const byId = ({ place }: RuleTable, row: string) => (place === 'list_pk' ? `${row}.list_pk` : `+${row}.workspace_pk`);

/** Tables with the ways to identify their rules: by `rule_ref` or, access rules only, by value. */
export const IDENTITIES: readonly { readonly rules: RuleTable; readonly byRefs: readonly boolean[] }[] = KINDS.map((kind) => ({
  rules: ruleTable(kind),
  byRefs: RULE_KINDS[kind].holds === 'target' ? [false, true] : [true],
}));

/** A list or, for kinds without lists, a workspace (pk). */
export interface Stretch {
  readonly place: number;
  readonly first: number;
  readonly last: number;
}

/** A batch of deletes by id, or an undo, may have changed rules in any of its lists. Skips deleted lists. */
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
    // Merges entries applied together, even if they alternate between lists.
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

/** Its own list; for an undo also the undone batch's, recursively. */
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

/** In order of creation. */
function* openLists(lists: Iterable<number>): Work<number[]> {
  const open: number[] = [];
  for (const list of [...lists].sort((a, b) => a - b)) {
    if ((yield* one('SELECT 1 AS there FROM lists WHERE pk = $1', list)) !== undefined) open.push(list);
  }
  return open;
}

/** Checks row by row. The OFFSET keeps PostgreSQL's planner from joining whole tables, which takes minutes without statistics. */
export const exists = (rows: string) => `EXISTS (SELECT 1 FROM ${rows} LIMIT 1 OFFSET 0)`;

/** SQL conditions. Values: `$1` workspace, `$2` number of the undo, `$3` batch, `$4` place, `$5` and `$6` range of numbers. */
export interface UndoSelections {
  /** Rules (r) created by the batch; `open`: unchanged since, they are removed. */
  readonly made: { readonly all: string; readonly open: string };
  /** Versions (c) before the batch; `open`: unchanged since, they are restored. `settled`: restored by an active undo. */
  readonly changed: { readonly all: string; readonly open: string; readonly settled: string };
}

export function undoSelections(rules: RuleTable, byRef: boolean): UndoSelections {
  const { table, before, place } = rules;
  const identified = (row: string) => `${row}.rule_ref IS ${byRef ? 'NOT NULL' : 'NULL'}`;
  const identity = byRef ? ['rule_ref'] : ['action', 'target'];
  const same = (a: string, b: string) =>
    [...[place, ...identity].map((column) => `${a}.${column} = ${b}.${column}`), identified(a)].join(' AND ');
  const ofBatch = (seq: string) => exists(`batches o WHERE ${rowsOf('$1', '$3', 'o')} AND ${seq} BETWEEN o.first_seq AND o.last_seq`);
  // No active change by another batch after this number, including created and deleted ones.
  const unchanged = (row: string, since: string) =>
    `NOT ${exists(`${before} x WHERE ${same('x', row)} AND x.changed > ${since} AND x.changed <> $2
       AND NOT (${ofBatch('x.changed')} AND (x.id <= ${since} OR ${ofBatch('x.id')})) AND NOT ${isCancelled('x.changed', since)}`)}`;
  // No other batch created an equal rule that exists.
  const notMade = `NOT ${exists(`${table} y WHERE ${same('y', 'c')} AND y.id > c.changed AND NOT ${ofBatch('y.id')}`)}`;
  const within = (found: string, seq: string, row: string) => `${found} = $4 AND ${row}.${seq} BETWEEN $5 AND $6 AND ${identified(row)}`;
  const earlier = `${same('f', 'c')} AND f.id = c.id AND f.changed < c.changed AND ${ofBatch('f.changed')}`;
  // An undo has one number and stores each touched rule once.
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

/** Whether the change belongs to an undone batch, or to the undo of one entirely later than `since`. */
const isCancelled = (seq: string, since: string) =>
  exists(`batches o WHERE o.workspace_pk = $1 AND o.last_seq >= ${seq}
     AND o.first_seq = (SELECT max(m.first_seq) FROM batches m WHERE m.workspace_pk = $1 AND m.first_seq <= ${seq})
     AND (o.undone = 1 OR ${since} < (SELECT min(z.first_seq) FROM batches z WHERE ${rowsOf('$1', 'o.undoes', 'z')}))`);

/** Dropped replaced versions (D9.10); 0: none. */
export function* givenUpUntil(workspace: number): Work<number> {
  return Number((yield* one('SELECT until_seq FROM given_up WHERE workspace_pk = $1', workspace))?.until_seq ?? 0);
}

/** Even partly. */
export function* isGivenUp(workspace: number, batchId: string): Work<boolean> {
  const row = yield* one(`SELECT min(b.first_seq) AS seq FROM batches b WHERE ${rowsOf('$1', '$2', 'b')}`, workspace, batchId);
  return row?.seq !== null && Number(row?.seq) <= (yield* givenUpUntil(workspace));
}
