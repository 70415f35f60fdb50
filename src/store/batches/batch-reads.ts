import type { BatchInfo, ChangeOrigin } from '../../ports/stored/rule-store.ts';
import { inChunks } from '../../schedule/chunks.ts';
import { workspacePk } from '../row-ids.ts';
import { type Row, textOrNull } from '../rows.ts';
import { all, one, type Work } from '../work.ts';
import { DEEDS } from './batches.ts';
import { byId, givenUpUntil, IDENTITIES, rowsOf, stretchesOf } from './undo-selections.ts';

export function* newestBatches(workspaceId: string, { before, limit }: { before?: string; limit: number }): Work<BatchInfo[]> {
  const workspace = yield* workspacePk(workspaceId);
  if (workspace === undefined) return [];
  let below = Number.MAX_SAFE_INTEGER;
  if (before !== undefined) {
    const row = yield* one(`SELECT min(b.first_seq) AS seq FROM batches b WHERE ${rowsOf('$1', '$2', 'b')}`, workspace, before);
    below = Number(row?.seq ?? 0);
  }
  const found = new Map<string, BatchInfo>();
  // A batch has a row per landing.
  for (;;) {
    const rows = yield* all(
      `SELECT first_seq, batch_id FROM batches WHERE workspace_pk = $1 AND first_seq < $2 AND batch_id IS NOT NULL
       ORDER BY first_seq DESC LIMIT $3`,
      workspace,
      below,
      limit,
    );
    for (const { batch_id } of rows) {
      const id = String(batch_id);
      if (found.size < limit && !found.has(id)) found.set(id, (yield* infoOf(workspace, id))!);
    }
    if (found.size === limit || rows.length < limit) return [...found.values()];
    below = Number(rows.at(-1)!.first_seq);
  }
}

export function* batchOf(workspaceId: string, batchId: string): Work<BatchInfo | undefined> {
  const workspace = yield* workspacePk(workspaceId);
  return workspace === undefined ? undefined : yield* infoOf(workspace, batchId.toLowerCase());
}

function* infoOf(workspace: number, batchId: string): Work<BatchInfo | undefined> {
  const rows = yield* all(
    `SELECT b.*, l.id AS list_id FROM batches b LEFT JOIN lists l ON l.pk = b.list_pk WHERE ${rowsOf('$1', '$2', 'b')} ORDER BY b.first_seq`,
    workspace,
    batchId,
  );
  if (rows.length === 0) return undefined;
  const undone = yield* one(
    'SELECT batch_id FROM batches u WHERE u.undoes = $2 AND +u.workspace_pk = $1 AND u.undone = 0 ORDER BY first_seq DESC LIMIT 1',
    workspace,
    batchId,
  );
  const first = rows[0];
  const concerned = yield* concernedBy(workspace, batchId, rows);
  const isListDeleted = rows.every((row) => row.list_id === null) && !(yield* reaches(workspace, batchId));
  return {
    id: batchId,
    firstSeq: Number(first.first_seq),
    ...concerned,
    keyId: textOrNull(first.key_id),
    ...namedIn(first),
    receivedAt: Number(first.received_at),
    landedAt: Math.max(...rows.map((row) => Number(row.landed_at))),
    entries: rows.reduce((sum, row) => sum + Number(row.last_seq) - Number(row.first_seq) + 1, 0),
    what: deedIn(rows),
    undoes: textOrNull(first.undoes),
    undoneBy: textOrNull(undone?.batch_id),
    undoable: !isListDeleted && Number(first.first_seq) > (yield* givenUpUntil(workspace)),
    isListDeleted,
  };
}

/** An undo concerns what the undone batch concerned, recursively; unknown if that is no longer stored (D38.1). */
function* concernedBy(workspace: number, batchId: string, own: readonly Row[]): Work<Pick<BatchInfo, 'listId' | 'lists' | 'hasTargets'>> {
  let rows = own;
  const seen = new Set([batchId]);
  for (let id = textOrNull(own[0]!.undoes); id !== null && rows.length > 0 && !seen.has(id); id = textOrNull(rows[0]?.undoes ?? null)) {
    seen.add(id);
    rows = yield* all(
      `SELECT b.list_pk, b.undoes, b.has_targets, l.id AS list_id FROM batches b LEFT JOIN lists l ON l.pk = b.list_pk
       WHERE ${rowsOf('$1', '$2', 'b')} ORDER BY b.first_seq`,
      workspace,
      id,
    );
  }
  const known = rows.map((row) => (row.has_targets === null ? null : Number(row.has_targets) === 1));
  const hasTargets = known.includes(true) ? true : known.length === 0 || known.includes(null) ? null : false;
  if (hasTargets === false) return { listId: null, lists: 0, hasTargets };
  const touched = rows.length === 0 ? own : rows.filter((_, i) => known[i] !== false);
  return { listId: textOrNull(touched[0]!.list_id), lists: new Set(touched.map((row) => Number(row.list_pk))).size, hasTargets };
}

/** null: a row without this information. */
function deedIn(rows: readonly Row[]): BatchInfo['what'] {
  if (rows.some(({ undoes }) => undoes !== null)) return 'undone';
  if (rows.some(({ did }) => did === null)) return null;
  const did = rows.reduce((all, row) => all | Number(row.did), 0);
  const has = (deed: number) => (did & deed) === deed;
  if (did === 0) return 'undone';
  if (has(DEEDS.refreshed)) return 'refreshed';
  // A move to another list is sent there and deleted here.
  if (has(DEEDS.changed) || has(DEEDS.sent | DEEDS.deleted)) return 'changed';
  return has(DEEDS.deleted) ? 'deleted' : 'sent';
}

const namedIn = ({ actor, person }: Row) => ({
  ...(actor !== null && { actor: String(actor) }),
  ...(person !== null && { personId: String(person) }),
});

/** Whether an undo could change anything: an existing list, or expression rules. */
function* reaches(workspace: number, batchId: string): Work<boolean> {
  for (const { rules } of IDENTITIES) {
    for (const { place, first, last } of yield* stretchesOf(rules, workspace, batchId)) {
      if (rules.place === 'list_pk') return true;
      const made = `SELECT 1 AS there FROM ${rules.table} r WHERE ${byId(rules, 'r')} = $1 AND r.id BETWEEN $2 AND $3 LIMIT 1`;
      const changed = `SELECT 1 AS there FROM ${rules.before} c WHERE c.${rules.place} = $1 AND c.changed BETWEEN $2 AND $3 LIMIT 1`;
      for (const text of [made, changed]) if ((yield* one(text, place, first, last)) !== undefined) return true;
    }
  }
  return false;
}

const ASKED = 500;

export function* originsOf(workspaceId: string, seqs: readonly number[]): Work<Map<number, ChangeOrigin>> {
  const workspace = yield* workspacePk(workspaceId);
  return workspace === undefined ? new Map() : yield* originsIn(workspace, seqs);
}

/** `workspace`: pk. */
export function* originsIn(workspace: number, seqs: readonly number[]): Work<Map<number, ChangeOrigin>> {
  const found = new Map<number, ChangeOrigin>();
  const wanted = [...new Set(seqs)];
  for (const slice of inChunks(wanted, ASKED)) {
    const values = slice.map((_, i) => (i === 0 ? '(CAST($2 AS BIGINT))' : `($${i + 2})`));
    const rows = yield* all(
      `WITH wanted (seq) AS (VALUES ${values})
       SELECT w.seq, b.batch_id, b.key_id, b.actor, b.person, b.undoes, b.landed_at FROM wanted w JOIN batches b ON b.workspace_pk = $1
       AND b.first_seq = (SELECT max(x.first_seq) FROM batches x WHERE x.workspace_pk = $1 AND x.first_seq <= w.seq) AND b.last_seq >= w.seq`,
      workspace,
      ...slice,
    );
    for (const row of rows) {
      const origin = { batchId: textOrNull(row.batch_id), keyId: textOrNull(row.key_id), ...namedIn(row) };
      found.set(Number(row.seq), { ...origin, undoes: textOrNull(row.undoes), landedAt: Number(row.landed_at) });
    }
  }
  return found;
}
