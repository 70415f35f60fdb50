/** What people's commands do to rules, the same in both dialects (D9): a batch is undone, rules are deleted or set by their ids. */
import { isExpressionKind, RULE_KINDS, type RuleOperation } from '../../rule.ts';
import { byId, exists, IDENTITIES, isGivenUp, rowsOf, type Stretch, stretchesOf, undoSelections } from '../batches/undo-selections.ts';
import type { Row } from '../rows.ts';
import { one, run, type Value, type Work } from '../work.ts';
import { type RuleTable, ruleTable } from './rule-columns.ts';

/** An operation where it takes effect; the store's own numbers. */
export interface ResolvedOperation<O extends RuleOperation = RuleOperation> {
  readonly workspace: number;
  readonly list: number;
  /** The operation's own number. */
  readonly seq: number;
  /** When it was accepted, ms. */
  readonly at: number;
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
  const kept = operation.change === 'set_rules' ? yield* setRules({ operation, ...place }) : yield* deleteRules({ operation, ...place });
  return {
    more: operation.change === 'set_rules' ? 0 : -kept,
    kept,
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
  yield* keepNow(rules, [place, seq], ids);
  return yield* run(removeKept(rules, `${rules.place} = $1`), place, seq);
}

/** Keeps rules as they are under the operation's own number; `active`: those that are at an instant (ms). */
function* keepNow(rules: RuleTable, at: readonly [place: number, seq: number], ids: readonly number[], active?: number): Work<number> {
  const wanted = `id IN (${ids.map((_, i) => `$${i + 3}`)})`;
  const columns = rules.columns.join(', ');
  const isActive = active === undefined ? '' : ` AND (r.expires_at IS NULL OR r.expires_at > $${ids.length + 3})`;
  const found = `FROM ${rules.table} r WHERE ${byId(rules, 'r')} = $1 AND ${wanted}${isActive}`;
  const text = `INSERT INTO ${rules.before} (changed, existed, ${columns}) SELECT ${SEQ}, 1, ${columns} ${found}`;
  return yield* run(text, ...at, ...ids, ...(active === undefined ? [] : [active]));
}

/** How many rules were set; each of them is kept as it was. */
function* setRules({ workspace, list, seq, at, operation }: OperationOf<'set_rules'>): Work<number> {
  const { kind, ids, expiresAt, reason } = operation;
  if (ids.length === 0) return 0;
  const rules = ruleTable(kind);
  const place = RULE_KINDS[kind].scope === 'list' ? list : workspace;
  yield* keepNow(rules, [place, seq], ids, at);
  const given = Object.entries({ expires_at: expiresAt, reason }).filter(([, value]) => value !== undefined) as [string, Value][];
  const set = given.map(([column], i) => `, ${column} = $${i + 4}`).join('');
  return yield* run(
    `UPDATE ${rules.table} SET seq = ${SEQ}, updated_at = $3${set} WHERE ${keptBy(rules, `${rules.place} = $1`)}`,
    place,
    seq,
    at,
    ...given.map(([, value]) => value),
  );
}

/** The operation's own number; PostgreSQL takes a bare value in a SELECT for text. */
const SEQ = 'CAST($2 AS BIGINT)';

/** Removes the rules that the operation number `$2` has kept as they were; `where` finds their places. */
const removeKept = (rules: RuleTable, where: string) => `DELETE FROM ${rules.table} WHERE ${keptBy(rules, where)}`;

const keptBy = ({ before, key }: RuleTable, where: string) =>
  `(${key}) IN (SELECT ${key} FROM ${before} WHERE ${where} AND changed = $2 AND existed = 1)`;

function* undo({ workspace, seq, operation: { batchId } }: OperationOf<'undo'>): Work<Operated> {
  const lists = new Set<number>();
  let [more, kept] = [0, 0];
  const nothing = { more: 0, kept: 0, lists: [], expressions: false };
  if (yield* isGivenUp(workspace, batchId)) {
    yield* undoesNothing(workspace, seq);
    return nothing;
  }
  for (const { rules, byRefs } of IDENTITIES) {
    const stretches = yield* stretchesOf(rules, workspace, batchId);
    for (const byRef of byRefs) {
      const done = yield* undoIdentified(rules, byRef, stretches, [workspace, seq, batchId]);
      more += done.more;
      kept += done.kept;
    }
    if (rules.place === 'list_pk') for (const { place } of stretches) lists.add(place);
  }
  // Of several undos of one batch that were asked for at once, the first does it.
  if (kept === 0 && (yield* isUndoneBefore(workspace, seq, batchId))) {
    yield* undoesNothing(workspace, seq);
    return nothing;
  }
  yield* markUndone(workspace, batchId);
  return { more, kept, lists: [...lists], expressions: true };
}

/** Undoes a batch for the rules of one table that are identified alike. */
function* undoIdentified(
  rules: RuleTable,
  byRef: boolean,
  stretches: readonly Stretch[],
  values: readonly [workspace: number, seq: number, batchId: string],
): Work<Pick<Operated, 'more' | 'kept'>> {
  const { made, changed } = undoSelections(rules, byRef);
  const { table, before, place } = rules;
  const columns = rules.columns.join(', ');
  const of = (row: string) => rules.columns.map((column) => `${row}.${column}`).join(', ');
  const keep = `INSERT INTO ${before} (changed, existed, ${columns}) SELECT ${SEQ},`;
  const there = `${byId(rules, 'n')} = c.${place} AND n.id = c.id`;
  const either = rules.columns.map((column) => `CASE WHEN n.id IS NULL THEN c.${column} ELSE n.${column} END`).join(', ');
  let [more, kept] = [0, 0];
  for (const { place, first, last } of stretches) {
    const found = [...values, place, first, last] as const;
    // What is there now is kept first: it is what undoing this undo brings back.
    kept += yield* run(`${keep} 1, ${of('r')} FROM ${table} r WHERE ${made.all} AND ${made.open}`, ...found);
    kept += yield* run(
      `${keep} CASE WHEN n.id IS NULL THEN 0 ELSE 1 END, ${either} FROM ${before} c LEFT JOIN ${table} n ON ${there}
       WHERE ${changed.all} AND ${changed.open} AND (c.existed = 1 OR n.id IS NOT NULL)`,
      ...found,
    );
  }
  if (kept === 0) return { more, kept };
  const [, seq] = values;
  for (const list of new Set(stretches.map((stretch) => stretch.place))) {
    more -= yield* run(removeKept(rules, `${place} = $1 AND rule_ref IS ${byRef ? 'NOT NULL' : 'NULL'}`), list, seq);
  }
  // Those that come back are the ones that were kept just now: which they are is not asked again.
  const isKept = exists(`${before} k WHERE k.${place} = c.${place} AND k.changed = $2 AND k.id = c.id`);
  const restore = `INSERT INTO ${table} (${columns}) SELECT ${of('c')} FROM ${before} c WHERE ${changed.all} AND c.existed = 1 AND ${isKept}`;
  for (const { place, first, last } of stretches) more += yield* run(restore, ...values, place, first, last);
  return { more, kept };
}

/** Says of an undo that it is none: no batch is told to be undone by it. */
const undoesNothing = (workspace: number, seq: number): Work<number> =>
  run('UPDATE batches SET undoes = NULL WHERE workspace_pk = $1 AND first_seq = $2', workspace, seq);

/** Whether another undo of the batch stands. */
function* isUndoneBefore(workspace: number, seq: number, batchId: string): Work<boolean> {
  const other = yield* one(
    'SELECT 1 AS there FROM batches u WHERE u.undoes = $2 AND +u.workspace_pk = $1 AND u.undone = 0 AND u.first_seq <> $3 LIMIT 1',
    workspace,
    batchId,
    seq,
  );
  return other !== undefined;
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
