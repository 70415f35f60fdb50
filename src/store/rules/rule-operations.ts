/** Operations: undo a batch, delete or set rules by id (D9). */
import { isExpressionKind, RULE_KINDS, type RuleOperation } from '../../rule.ts';
import { byId, exists, IDENTITIES, isGivenUp, rowsOf, type Stretch, stretchesOf, undoSelections } from '../batches/undo-selections.ts';
import type { Row } from '../rows.ts';
import { one, run, type Value, type Work } from '../work.ts';
import { type RuleTable, ruleTable } from './rule-columns.ts';

export interface ResolvedOperation<O extends RuleOperation = RuleOperation> {
  readonly workspace: number;
  readonly list: number;
  readonly seq: number;
  /** Accepted, ms. */
  readonly at: number;
  readonly operation: O;
}

interface Operated {
  readonly more: number;
  readonly lists: readonly number[];
  readonly previous: number;
  readonly expressions: boolean;
}

/** Runs in the landing transaction. */
export function* operate({ operation, ...place }: ResolvedOperation): Work<Operated> {
  if (operation.change === 'undo') return yield* undo({ operation, ...place });
  const previous =
    operation.change === 'set_rules' ? yield* setRules({ operation, ...place }) : yield* deleteRules({ operation, ...place });
  return {
    more: operation.change === 'set_rules' ? 0 : -previous,
    previous,
    lists: RULE_KINDS[operation.kind].scope === 'list' ? [place.list] : [],
    expressions: isExpressionKind(operation.kind),
  };
}

type OperationOf<C extends RuleOperation['change']> = ResolvedOperation<Extract<RuleOperation, { change: C }>>;

/** Returns the number of deleted rules, which are stored as previous versions. */
function* deleteRules({ workspace, list, seq, operation: { kind, ids } }: OperationOf<'delete_rules'>): Work<number> {
  if (ids.length === 0) return 0;
  const rules = ruleTable(kind);
  const place = RULE_KINDS[kind].scope === 'list' ? list : workspace;
  yield* storeNow(rules, [place, seq], ids);
  return yield* run(removeStored(rules, `${rules.place} = $1`), place, seq);
}

/** Under the operation's number. `active`: only rules active at this instant (ms). */
function* storeNow(rules: RuleTable, at: readonly [place: number, seq: number], ids: readonly number[], active?: number): Work<number> {
  const wanted = `id IN (${ids.map((_, i) => `$${i + 3}`)})`;
  const columns = rules.columns.join(', ');
  const isActive = active === undefined ? '' : ` AND (r.expires_at IS NULL OR r.expires_at > $${ids.length + 3})`;
  const found = `FROM ${rules.table} r WHERE ${byId(rules, 'r')} = $1 AND ${wanted}${isActive}`;
  const text = `INSERT INTO ${rules.before} (changed, existed, ${columns}) SELECT ${SEQ}, 1, ${columns} ${found}`;
  return yield* run(text, ...at, ...ids, ...(active === undefined ? [] : [active]));
}

/** Returns the number of changed rules, which are stored as previous versions. */
function* setRules({ workspace, list, seq, at, operation }: OperationOf<'set_rules'>): Work<number> {
  const { kind, ids, expiresAt, reason } = operation;
  if (ids.length === 0) return 0;
  const rules = ruleTable(kind);
  const place = RULE_KINDS[kind].scope === 'list' ? list : workspace;
  yield* storeNow(rules, [place, seq], ids, at);
  const given = Object.entries({ expires_at: expiresAt, reason }).filter(([, value]) => value !== undefined) as [string, Value][];
  const set = given.map(([column], i) => `, ${column} = $${i + 4}`).join('');
  return yield* run(
    `UPDATE ${rules.table} SET seq = ${SEQ}, updated_at = $3${set} WHERE ${storedBy(rules, `${rules.place} = $1`)}`,
    place,
    seq,
    at,
    ...given.map(([, value]) => value),
  );
}

/** PostgreSQL would treat a bare value in SELECT as text. */
const SEQ = 'CAST($2 AS BIGINT)';

/** `where` selects their places. */
const removeStored = (rules: RuleTable, where: string) => `DELETE FROM ${rules.table} WHERE ${storedBy(rules, where)}`;

const storedBy = ({ before, key }: RuleTable, where: string) =>
  `(${key}) IN (SELECT ${key} FROM ${before} WHERE ${where} AND changed = $2 AND existed = 1)`;

function* undo({ workspace, seq, operation: { batchId } }: OperationOf<'undo'>): Work<Operated> {
  const lists = new Set<number>();
  let [more, previous] = [0, 0];
  const nothing = { more: 0, previous: 0, lists: [], expressions: false };
  if (yield* isGivenUp(workspace, batchId)) {
    yield* undoesNothing(workspace, seq);
    return nothing;
  }
  for (const { rules, byRefs } of IDENTITIES) {
    const stretches = yield* stretchesOf(rules, workspace, batchId);
    for (const byRef of byRefs) {
      const done = yield* undoIdentified(rules, byRef, stretches, [workspace, seq, batchId]);
      more += done.more;
      previous += done.previous;
    }
    if (rules.place === 'list_pk') for (const { place } of stretches) lists.add(place);
  }
  // Of concurrent undos of a batch the first one counts.
  if (previous === 0 && (yield* isUndoneBefore(workspace, seq, batchId))) {
    yield* undoesNothing(workspace, seq);
    return nothing;
  }
  yield* markUndone(workspace, batchId);
  return { more, previous, lists: [...lists], expressions: true };
}

function* undoIdentified(
  rules: RuleTable,
  byRef: boolean,
  stretches: readonly Stretch[],
  values: readonly [workspace: number, seq: number, batchId: string],
): Work<Pick<Operated, 'more' | 'previous'>> {
  const { made, changed } = undoSelections(rules, byRef);
  const { table, before, place } = rules;
  const columns = rules.columns.join(', ');
  const of = (row: string) => rules.columns.map((column) => `${row}.${column}`).join(', ');
  const keep = `INSERT INTO ${before} (changed, existed, ${columns}) SELECT ${SEQ},`;
  const there = `${byId(rules, 'n')} = c.${place} AND n.id = c.id`;
  const either = rules.columns.map((column) => `CASE WHEN n.id IS NULL THEN c.${column} ELSE n.${column} END`).join(', ');
  let [more, previous] = [0, 0];
  for (const { place, first, last } of stretches) {
    const found = [...values, place, first, last] as const;
    // Stores the current rules first: an undo of this undo restores them.
    previous += yield* run(`${keep} 1, ${of('r')} FROM ${table} r WHERE ${made.all} AND ${made.open}`, ...found);
    previous += yield* run(
      `${keep} CASE WHEN n.id IS NULL THEN 0 ELSE 1 END, ${either} FROM ${before} c LEFT JOIN ${table} n ON ${there}
       WHERE ${changed.all} AND ${changed.open} AND (c.existed = 1 OR n.id IS NOT NULL)`,
      ...found,
    );
  }
  if (previous === 0) return { more, previous };
  const [, seq] = values;
  for (const list of new Set(stretches.map((stretch) => stretch.place))) {
    more -= yield* run(removeStored(rules, `${place} = $1 AND rule_ref IS ${byRef ? 'NOT NULL' : 'NULL'}`), list, seq);
  }
  // The rules to restore are those just stored; does not select them again.
  const isStored = exists(`${before} k WHERE k.${place} = c.${place} AND k.changed = $2 AND k.id = c.id`);
  const restore = `INSERT INTO ${table} (${columns}) SELECT ${of('c')} FROM ${before} c WHERE ${changed.all} AND c.existed = 1 AND ${isStored}`;
  for (const { place, first, last } of stretches) more += yield* run(restore, ...values, place, first, last);
  return { more, previous };
}

const undoesNothing = (workspace: number, seq: number): Work<number> =>
  run('UPDATE batches SET undoes = NULL WHERE workspace_pk = $1 AND first_seq = $2', workspace, seq);

function* isUndoneBefore(workspace: number, seq: number, batchId: string): Work<boolean> {
  const other = yield* one(
    'SELECT 1 AS there FROM batches u WHERE u.undoes = $2 AND +u.workspace_pk = $1 AND u.undone = 0 AND u.first_seq <> $3 LIMIT 1',
    workspace,
    batchId,
    seq,
  );
  return other !== undefined;
}

/** If it is an undo itself, also updates the batch that it undid, recursively. */
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
