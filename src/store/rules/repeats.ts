/** Blocks of targets that were blocked before last longer, in lists that say so (SPEC D56). */
import { blockedAgain, NEVER, type Repeat, type RepeatState, repeatOf, type SavedRepeat } from '../../account/repeat.ts';
import { DAY } from '../../clock.ts';
import type { Page, PageRequest } from '../../ports/stored/account-store.ts';
import { pageOf } from '../../ports/stored/paginate.ts';
import type { AccessRule } from '../../rule.ts';
import { formatTarget } from '../../signal/target.ts';
import type { NumberedItem, Segment } from '../batches/batches.ts';
import { stretchesOf } from '../batches/undo-selections.ts';
import { actionCode } from '../columns.ts';
import type { Row } from '../rows.ts';
import { all, allOf, one, run, runRows, type Work } from '../work.ts';
import { ruleTable } from './rule-columns.ts';

/** Targets stored per list; beyond, those that ended first are deleted. */
const MOST = 100_000;
const CHECKED = 65_536;

interface Stored extends RepeatState {
  /** Number of the block, and the state before its batch; 0 blocks: none. */
  readonly seq: number;
  readonly before: Pick<RepeatState, 'blocks' | 'endsAt'>;
}

interface RepeatList {
  readonly pk: number;
  readonly repeat: Repeat;
  /** undefined: not stored. */
  readonly states: Map<string, Stored | undefined>;
  readonly changed: Set<string>;
  readonly targetsByRef: Map<string, string>;
  readonly targetsById: Map<number, string>;
}

const NO_BLOCKS = { blocks: 0, endsAt: 0 };

/** Values: the list's pk, and a JSON array of targets, or of rows. */
export interface RepeatStatements {
  readonly read: string;
  readonly write: string;
  /** `write` takes one row, as values: faster in SQLite than JSON. */
  readonly isByRow?: true;
}

/** The columns of a row of JSON, with PostgreSQL's types. */
const GIVEN = {
  ...{ target: 'text', blocks: 'int', ends_at: 'bigint', sent: 'bigint', seq: 'bigint' },
  ...{ blocks_before: 'int', ends_before: 'bigint' },
};
const NAMES = Object.keys(GIVEN);
const INTO = `INSERT INTO repeat_blocks (list_pk, ${NAMES})`;
const CONFLICT = `ON CONFLICT (list_pk, target) DO UPDATE SET ${NAMES.slice(1).map((name) => `${name} = excluded.${name}`)}`;

export const SQLITE_REPEATS: RepeatStatements = {
  read: 'SELECT r.* FROM json_each($2) wanted CROSS JOIN repeat_blocks r ON r.list_pk = $1 AND r.target = wanted.value',
  write: `${INTO} VALUES ($1, ${NAMES.map((_, i) => `$${i + 2}`)}) ${CONFLICT}`,
  isByRow: true,
};

export const POSTGRES_REPEATS: RepeatStatements = {
  read: `SELECT r.* FROM json_array_elements_text($2) AS wanted (target)
    CROSS JOIN LATERAL (SELECT * FROM repeat_blocks r WHERE r.list_pk = $1 AND r.target = wanted.target OFFSET 0) r`,
  write: `${INTO} SELECT $1, ${NAMES} FROM json_to_recordset($2) AS given (${Object.entries(GIVEN).map((each) => each.join(' '))}) ${CONFLICT}`,
};

/** The items with the expiries of repeated blocks. Runs in the landing transaction, after the segments are written. */
export function* withRepeats(
  known: readonly NumberedItem[],
  segments: readonly Segment[],
  statements: RepeatStatements,
): Work<readonly NumberedItem[]> {
  const isUndo = ({ item }: NumberedItem) => item.change.change === 'undo';
  if (!known.some((each) => each.repeat !== undefined || isUndo(each))) return known;
  const items: NumberedItem[] = [];
  let [from, segment] = [0, 0];
  for (const [at, each] of known.entries()) {
    if (!isUndo(each)) continue;
    yield* step(known.slice(from, at));
    yield* revert(each);
    items.push(each);
    from = at + 1;
  }
  yield* step(known.slice(from));
  return items;

  function* step(own: readonly NumberedItem[]): Work<void> {
    const lists = yield* readLists(own, statements);
    for (const each of own) {
      while (each.seq > segments[segment]!.last) segment += 1;
      const list = each.item.sourceId === undefined ? lists.get(each.list) : undefined;
      items.push(list === undefined ? each : repeated(list, each, segments[segment]!.first.seq));
    }
    for (const list of lists.values()) yield* write(list, own, statements);
  }
}

function repeated(list: RepeatList, numbered: NumberedItem, firstSeq: number): NumberedItem {
  const { item, seq } = numbered;
  const { change, receivedAt } = item;
  const isOfPerson = item.actor !== undefined || item.personId !== undefined;
  const end = (target: string | undefined) => {
    const state = target === undefined ? undefined : list.states.get(target);
    if (target === undefined || state === undefined) return;
    list.states.set(target, isOfPerson ? undefined : { ...state, endsAt: Math.min(state.endsAt, receivedAt) });
    list.changed.add(target);
  };
  if (change.change === 'delete_by_value' && change.action === 'block') end(formatTarget(change.target));
  else if (change.change === 'delete' && change.kind === 'access_rule') end(list.targetsByRef.get(change.ruleRef));
  else if (change.change === 'delete_rules') for (const id of change.ids) end(list.targetsById.get(id));
  else if (change.change === 'set_rules') set(list, change.ids, change.expiresAt);
  else if (change.change === 'upsert' && change.kind === 'access_rule' && change.rule.action === 'block') {
    const rule = lengthened(list, change.rule, { receivedAt, seq, firstSeq, hasEnd: item.hasEnd === true });
    return { ...numbered, item: { ...item, change: { ...change, rule } } };
  }
  return numbered;
}

function set({ states, changed, targetsById }: RepeatList, ids: readonly number[], expiresAt: number | null | undefined): void {
  for (const id of expiresAt === undefined ? [] : ids) {
    const target = targetsById.get(id);
    const state = target === undefined ? undefined : states.get(target);
    if (target === undefined || state === undefined) continue;
    states.set(target, { ...state, endsAt: expiresAt ?? NEVER });
    changed.add(target);
  }
}

function lengthened(
  { repeat, states, changed, targetsByRef, targetsById }: RepeatList,
  rule: AccessRule,
  {
    receivedAt,
    seq,
    firstSeq,
    hasEnd,
  }: { readonly receivedAt: number; readonly seq: number; readonly firstSeq: number; readonly hasEnd: boolean },
): AccessRule {
  const target = formatTarget(rule.target);
  if (rule.ruleRef !== null) targetsByRef.set(rule.ruleRef, target);
  // The id of a new rule: a later item of the step may name it.
  targetsById.set(seq, target);
  if (rule.expiresAt === null) return rule;
  const state = states.get(target);
  // The expiry was rounded up to a second: this is the duration as sent.
  const sent = rule.expiresAt - Math.ceil(receivedAt / 1000) * 1000;
  const next = blockedAgain(state, repeat, receivedAt, sent);
  const before = state === undefined ? NO_BLOCKS : state.seq >= firstSeq ? state.before : state;
  const expiresAt = hasEnd ? rule.expiresAt : Math.ceil(next.endsAt / 1000) * 1000;
  // An imported block that landed after its state.
  const isRestored = hasEnd && state?.seq === 0 && state.endsAt === expiresAt;
  states.set(target, isRestored ? { ...state, seq } : { ...next, endsAt: expiresAt, seq, before });
  changed.add(target);
  return expiresAt === rule.expiresAt ? rule : { ...rule, expiresAt };
}

function* readLists(items: readonly NumberedItem[], { read }: RepeatStatements): Work<Map<number, RepeatList>> {
  const lists = new Map<number, RepeatList>();
  for (const [pk, own] of Map.groupBy(items, ({ list }) => list)) {
    const [{ repeat }] = own as [NumberedItem];
    if (repeat === undefined) continue;
    const changes = own.flatMap(({ item }) => (item.sourceId === undefined ? [item.change] : []));
    const refs = changes.flatMap((change) => (change.change === 'delete' && change.kind === 'access_rule' ? [change.ruleRef] : []));
    const ids = changes.flatMap((change) =>
      (change.change === 'delete_rules' || change.change === 'set_rules') && change.kind === 'access_rule' ? change.ids : [],
    );
    const of = `FROM access_rules WHERE list_pk = $1 AND action = ${actionCode('block')}`;
    const byRef = yield* allOf(refs, (places) => `SELECT rule_ref, target ${of} AND rule_ref IN (${places})`, pk);
    const byId = yield* allOf(ids, (places) => `SELECT id, target ${of} AND id IN (${places})`, pk);
    const targetsByRef = new Map(byRef.map(({ rule_ref: ref, target }) => [String(ref), String(target)]));
    const targetsById = new Map(byId.map(({ id, target }) => [Number(id), String(target)]));
    const named = changes.flatMap((change) =>
      change.change === 'delete_by_value'
        ? [formatTarget(change.target)]
        : change.change === 'upsert' && change.kind === 'access_rule' && change.rule.action === 'block'
          ? [formatTarget(change.rule.target)]
          : [],
    );
    const targets = [...new Set([...named, ...targetsByRef.values(), ...targetsById.values()])].sort();
    const rows = targets.length === 0 ? [] : yield* all(read, pk, JSON.stringify(targets));
    const states = new Map(rows.map((row): [string, Stored] => [String(row.target), { ...stateOf(row), seq: Number(row.seq) }]));
    lists.set(pk, { pk, repeat, states, changed: new Set(), targetsByRef, targetsById });
  }
  return lists;
}

const stateOf = (row: Row) => ({
  ...{ blocks: Number(row.blocks), endsAt: Number(row.ends_at), sent: Number(row.sent) },
  before: { blocks: Number(row.blocks_before), endsAt: Number(row.ends_before) },
});

function* write(
  { pk, repeat, states, changed }: RepeatList,
  items: readonly NumberedItem[],
  { write: text, isByRow }: RepeatStatements,
): Work<void> {
  // Neighbours share pages.
  const stored = [...changed].sort().flatMap((target) => {
    const state = states.get(target);
    if (state === undefined) return [];
    const { blocks, endsAt, sent, seq, before } = state;
    return [{ target, blocks, ends_at: endsAt, sent, seq, blocks_before: before.blocks, ends_before: before.endsAt }];
  });
  if (isByRow) for (const row of stored) yield* run(text, pk, ...Object.values(row));
  else if (stored.length > 0) yield* run(text, pk, JSON.stringify(stored));
  const gone = [...changed].filter((target) => states.get(target) === undefined);
  yield* allOf(gone, (places) => `DELETE FROM repeat_blocks WHERE list_pk = $1 AND target IN (${places}) RETURNING blocks`, pk);
  const [first, last] = [items[0]!, items.at(-1)!];
  if (Math.floor((first.seq - 1) / CHECKED) === Math.floor(last.seq / CHECKED)) return;
  // A day more than the setting: acceptance times of several processes differ.
  yield* run('DELETE FROM repeat_blocks WHERE list_pk = $1 AND ends_at < $2', pk, last.item.receivedAt - repeat.within - DAY);
  const end = yield* one('SELECT ends_at FROM repeat_blocks WHERE list_pk = $1 ORDER BY ends_at DESC LIMIT 1 OFFSET $2', pk, MOST);
  if (end !== undefined) yield* run('DELETE FROM repeat_blocks WHERE list_pk = $1 AND ends_at <= $2', pk, Number(end.ends_at));
}

function* revert({ workspace, item: { change } }: NumberedItem): Work<void> {
  if (change.change !== 'undo') return;
  const stretches = yield* stretchesOf(ruleTable('access_rule'), workspace, change.batchId);
  // One pass over a list, not one for each stretch: a batch may have as many as entries.
  for (const [list, own] of Map.groupBy(stretches, ({ place }) => place)) {
    const values = [list, own[0]!.first, own.at(-1)!.last, workspace, change.batchId];
    const where = `list_pk = $1 AND seq BETWEEN $2 AND $3 AND EXISTS (SELECT 1 FROM batches b WHERE b.workspace_pk = $4 AND b.batch_id = $5
      AND b.last_seq >= seq AND b.first_seq = (SELECT max(m.first_seq) FROM batches m WHERE m.workspace_pk = $4 AND m.first_seq <= seq))`;
    yield* run(`DELETE FROM repeat_blocks WHERE ${where} AND blocks_before = 0`, ...values);
    yield* run(`UPDATE repeat_blocks SET blocks = blocks_before, ends_at = ends_before, seq = 0 WHERE ${where}`, ...values);
  }
}

/** For readers: lists by UUID. */
export function* repeatsOf(workspaceId: string, of: readonly { readonly listId: string; readonly target: string }[]) {
  const found: { listId: string; target: string; blocks: number; sent: number; repeat: string }[] = [];
  for (const [listId, own] of Map.groupBy(of, (each) => each.listId)) {
    const list = yield* repeatList(workspaceId, listId);
    if (list === undefined) continue;
    const targets = own.map(({ target }) => target);
    const text = (places: string) =>
      `SELECT target, blocks, sent FROM repeat_blocks WHERE list_pk = $1 AND blocks > 1 AND target IN (${places})`;
    for (const { target, blocks, sent } of yield* allOf(targets, text, Number(list.pk))) {
      found.push({ listId, target: String(target), blocks: Number(blocks), sent: Number(sent), repeat: String(list.repeat) });
    }
  }
  return found;
}

/** The states of a list that may still count at `now`, ms, by target. */
export function* repeatPage(
  workspaceId: string,
  listId: string,
  { after, limit, now }: PageRequest & { readonly now: number },
): Work<Page<SavedRepeat>> {
  const list = yield* repeatList(workspaceId, listId);
  if (list === undefined) return { items: [], next: null };
  const rows = yield* all(
    'SELECT * FROM repeat_blocks WHERE list_pk = $1 AND target > $2 AND ends_at >= $3 ORDER BY target LIMIT $4',
    ...[Number(list.pk), after ?? '', now - repeatOf(String(list.repeat))!.within, limit + 1],
  );
  const items = rows.map((row) => ({ ...stateOf(row), listId, target: String(row.target) }));
  return pageOf(items, limit, ({ target }) => target);
}

/** After the rules landed, which counted each block as the first. The number stays if the block is the same: an undo finds it. */
export function* restoreRepeats(_now: string, workspaceId: string, states: readonly SavedRepeat[]): Work<void> {
  for (const [listId, own] of Map.groupBy(states, (state) => state.listId)) {
    const list = yield* repeatList(workspaceId, listId);
    if (list === undefined) continue;
    const rows = new Map(
      own.map(({ target, blocks, endsAt, sent, before }) => [
        target,
        [Number(list.pk), target, blocks, endsAt, sent, 0, before.blocks, before.endsAt],
      ]),
    );
    const seq = 'seq = CASE WHEN repeat_blocks.ends_at = excluded.ends_at THEN repeat_blocks.seq ELSE 0 END';
    yield* runRows(rows.values(), (values) => `${INTO} VALUES ${values} ${CONFLICT.replace('seq = excluded.seq', seq)}`);
  }
}

const repeatList = (workspaceId: string, listId: string) =>
  one(
    'SELECT l.pk, l.repeat FROM workspaces w JOIN lists l ON l.workspace_pk = w.pk WHERE w.id = $1 AND l.id = $2 AND l.repeat IS NOT NULL',
    workspaceId,
    listId,
  );

export const forgetRepeats = (listPk: number): Work<number> => run('DELETE FROM repeat_blocks WHERE list_pk = $1', listPk);
