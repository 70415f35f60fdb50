import { WeirError } from '../../errors.ts';
import type { Replacement, ReplacementReads, ReplacementState, ReplacementWrites } from '../../ports/stored/replacement-store.ts';
import { WORKSPACE_PK } from '../row-ids.ts';
import type { Row } from '../rows.ts';
import { all, type Changes, one, type Reads, run, type Value, type Work } from '../work.ts';

const SELECT = `SELECT r.id, w.id AS workspace_id, r.list_id, r.state, r.created_at, r.touched_at, r.held_until, r.published, r.head
  FROM replacements r JOIN workspaces w ON w.pk = r.workspace_pk`;

const replacementOf = (row: Row): Replacement => ({
  id: String(row.id),
  workspaceId: String(row.workspace_id),
  listId: String(row.list_id),
  state: row.state as ReplacementState,
  createdAt: Number(row.created_at),
  touchedAt: Number(row.touched_at),
  lockedUntil: Number(row.held_until),
  published: Number(row.published),
  head: String(row.head),
});

export const replacementReads = {
  *replacement(workspaceId, id) {
    const row = yield* one(`${SELECT} WHERE w.id = $1 AND r.id = $2`, workspaceId, id);
    return row && replacementOf(row);
  },
  *replacementPiece(id, piece, n) {
    const row = yield* one(
      `SELECT p.body FROM replacement_pieces p JOIN replacements r ON r.pk = p.replacement_pk WHERE r.id = $1 AND p.piece = $2 AND p.n = $3`,
      id,
      piece,
      n,
    );
    return row && (row.body as Uint8Array);
  },
  *abandonedReplacements(now, limit) {
    const rows = yield* all(`${SELECT} WHERE r.state IN ('planning', 'running') AND r.held_until < $1 ORDER BY r.pk LIMIT $2`, now, limit);
    return rows.map(replacementOf);
  },
} satisfies Reads<ReplacementReads>;

export const replacementChanges = {
  *openReplacement(_now, { id, workspaceId, listId, slot, state, createdAt, lockedUntil, head }, { most, idleBefore }) {
    // A list has only its newest open or waiting replacement.
    yield* fail(`list_id = $1 AND state IN ('open', 'planned')`, [listId], OTHER_CONTENT);
    if (state === 'planning') {
      // A key with signal:write alone must not block the list by planning for ever.
      if (slot !== 'parts') yield* fail(`list_id = $1 AND state = 'planning' AND slot = 'parts'`, [listId], OTHER_CONTENT);
      yield* requireFree(listId);
    }
    const slots = `workspace_pk = ${WORKSPACE_PK} AND slot = $2`;
    const isFull = function* () {
      const used = `SELECT count(*) AS n FROM replacements WHERE ${slots} AND state IN ('open', 'planning', 'planned', 'running')`;
      return most > 0 && Number((yield* one(used, workspaceId, slot))?.n) >= most;
    };
    if (yield* isFull()) {
      yield* fail(`${slots} AND state IN ('open', 'planned') AND touched_at <= $3`, [workspaceId, slot, idleBefore], IDLE);
      const text = `${most} lists of this workspace are being replaced: try again when one of them is done`;
      if (yield* isFull()) throw new WeirError('LIMITED', text, { cause: { retryAfter: 60 } });
    }
    yield* run(
      `INSERT INTO replacements (id, workspace_pk, list_id, state, created_at, touched_at, held_until, published, head, slot)
       VALUES ($2, ${WORKSPACE_PK}, $3, $4, $5, $5, $6, 0, $7, $8)`,
      workspaceId,
      id,
      listId,
      state,
      createdAt,
      lockedUntil,
      head,
      slot,
    );
  },
  *storeReplacementPiece(_now, id, piece, n, body, now) {
    const count = yield* run(`UPDATE replacements SET touched_at = $2 WHERE id = $1 AND state IN ('open', 'planning')`, id, now);
    if (count === 0) return false;
    yield* run(
      `INSERT INTO replacement_pieces (replacement_pk, piece, n, body) SELECT pk, $2, $3, $4 FROM replacements WHERE id = $1
       ON CONFLICT (replacement_pk, piece, n) DO UPDATE SET body = excluded.body`,
      id,
      piece,
      n,
      body,
    );
    return true;
  },
  *moveReplacement(_now, id, { from, to, head, published, expected, lockedBefore, now, lockedUntil }) {
    if ((to === 'planning' || to === 'held') && from !== to) {
      const row = yield* one('SELECT list_id FROM replacements WHERE id = $1', id);
      if (row !== undefined && to === 'planning') yield* requireFree(String(row.list_id));
      if (row !== undefined && to === 'held')
        yield* run(`UPDATE replacements SET state = 'failed' WHERE list_id = $1 AND state = 'held'`, String(row.list_id));
    }
    const count = yield* run(
      `UPDATE replacements SET state = $3, head = coalesce($4, head), published = coalesce($5, published), touched_at = $7, held_until = $8
       WHERE id = $1 AND state = $2 AND published = coalesce($6, published) AND held_until = coalesce($9, held_until)`,
      id,
      from,
      to,
      head ?? null,
      published ?? null,
      expected ?? null,
      now,
      lockedUntil,
      lockedBefore ?? null,
    );
    return count > 0;
  },
} satisfies Changes<ReplacementWrites>;

function* fail(condition: string, values: readonly Value[], reason: string): Work<void> {
  for (const { pk, state, head } of yield* all(`SELECT pk, state, head FROM replacements WHERE ${condition}`, ...values)) {
    const failed = JSON.stringify({ ...(JSON.parse(String(head)) as object), reason });
    yield* run(`UPDATE replacements SET state = 'failed', head = $3 WHERE pk = $1 AND state = $2`, Number(pk), String(state), failed);
  }
}

function* requireFree(listId: string): Work<void> {
  const other = yield* one(`SELECT id FROM replacements WHERE list_id = $1 AND state IN ('planning', 'running')`, listId);
  if (other !== undefined) throw new WeirError('REFUSED', 'the list is being replaced: try again when that is done');
}

const OTHER_CONTENT = 'another content was sent for the same list';
const IDLE = 'it received nothing for ten minutes, and another replacement needed its slot: send it again';

/** Also of those that receive no more content, ms. */
const ENDED_RETENTION = 7 * 86_400_000;
const OPEN_RETENTION = 86_400_000;
/** Without a decision, ms. */
const ON_HOLD_RETENTION = 30 * 86_400_000;

/** First their pieces. */
export function* sweepReplacements(now: number, limit: number): Work<number> {
  yield* run(`UPDATE replacements SET state = 'failed' WHERE state = 'held' AND touched_at < $1`, now - ON_HOLD_RETENTION);
  const ended = `state IN ('done', 'failed') OR (state IN ('open', 'planned') AND touched_at < $1)`;
  const pieces = yield* all(
    `SELECT p.replacement_pk, p.piece, p.n FROM replacement_pieces p JOIN replacements r ON r.pk = p.replacement_pk
     WHERE ${ended} LIMIT $2`,
    now - OPEN_RETENTION,
    limit,
  );
  for (const { replacement_pk, piece, n } of pieces)
    yield* run(
      'DELETE FROM replacement_pieces WHERE replacement_pk = $1 AND piece = $2 AND n = $3',
      Number(replacement_pk),
      String(piece),
      Number(n),
    );
  if (pieces.length > 0) return pieces.length;
  const open = yield* run(`DELETE FROM replacements WHERE state IN ('open', 'planned') AND touched_at < $1`, now - OPEN_RETENTION);
  return open + (yield* run(`DELETE FROM replacements WHERE state IN ('done', 'failed') AND touched_at < $1`, now - ENDED_RETENTION));
}
