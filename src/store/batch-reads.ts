/** What is known of batches and of what undoing one would do, the same in both dialects (D9). */
import type { BatchInfo, RuleOrigin, UndoPreview } from '../ports/rule-store.ts';
import { workspacePk } from './places.ts';
import { type Row, textOrNull } from './rows.ts';
import { byId, givenUpUntil, IDENTITIES, isGivenUp, rowsOf, stretchesOf, undoSelections } from './rule-operations.ts';
import { all, one, type Value, type Work } from './work.ts';

/** `batches` of the port. */
export function* newestBatches(workspaceId: string, { before, limit }: { before?: string; limit: number }): Work<BatchInfo[]> {
  const workspace = yield* workspacePk(workspaceId);
  if (workspace === undefined) return [];
  let below = Number.MAX_SAFE_INTEGER;
  if (before !== undefined) {
    const row = yield* one(`SELECT min(b.first_seq) AS seq FROM batches b WHERE ${rowsOf('$1', '$2', 'b')}`, workspace, before);
    below = Number(row?.seq ?? 0);
  }
  const found = new Map<string, BatchInfo>();
  // A batch has a row for each landing that it was spread over.
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

/** `batch` of the port. */
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
  return {
    id: batchId,
    listId: textOrNull(first.list_id),
    keyId: textOrNull(first.key_id),
    receivedAt: Number(first.received_at),
    landedAt: Math.max(...rows.map((row) => Number(row.landed_at))),
    entries: rows.reduce((sum, row) => sum + Number(row.last_seq) - Number(row.first_seq) + 1, 0),
    undoes: textOrNull(first.undoes),
    undoneBy: textOrNull(undone?.batch_id),
    undoable: Number(first.first_seq) > (yield* givenUpUntil(workspace)),
  };
}

/** Shown of each kind of effect. */
const SAMPLE = 10;
/** No operation has this number: what would be done is asked for before it has one. */
const NO_SEQ = -1;

/** `undoPreview` of the port. */
export function* undoPreview(workspaceId: string, batchId: string): Work<UndoPreview> {
  const preview = { removes: 0, restores: 0, touched: 0 };
  const sample: string[] = [];
  const workspace = yield* workspacePk(workspaceId);
  const isKnown = workspace !== undefined && !(yield* isGivenUp(workspace, batchId));
  for (const { rules, byRef } of isKnown ? IDENTITIES : []) {
    const { made, changed } = undoSelections(rules, byRef);
    const { table, before, place } = rules;
    const there = `EXISTS (SELECT 1 FROM ${table} n WHERE ${byId(rules, 'n')} = c.${place} AND n.id = c.id)`;
    for (const stretch of yield* stretchesOf(rules, workspace!, batchId)) {
      const values: Value[] = [workspace!, NO_SEQ, batchId, stretch.place, stretch.first, stretch.last];
      const counts = [
        ['removes', made, ''],
        ['removes', changed, `AND c.existed = 0 AND ${there}`],
        ['restores', changed, 'AND c.existed = 1'],
      ] as const;
      for (const [effect, selection, condition] of counts) preview[effect] += yield* count(`${selection} ${condition}`, values);
      if (sample.length < SAMPLE) {
        const rows = yield* all(`SELECT ${shown('r', place)} ${made} ORDER BY r.id LIMIT ${SAMPLE}`, ...values);
        const back = yield* all(`SELECT ${shown('c', place)} ${changed} AND c.existed = 1 ORDER BY c.id LIMIT ${SAMPLE}`, ...values);
        sample.push(...rows.map((row) => `remove ${sampleText(row)}`), ...back.map((row) => `restore ${sampleText(row)}`));
      }
      const own = `rule_ref IS ${byRef ? 'NOT NULL' : 'NULL'}`;
      const range = [stretch.place, stretch.first, stretch.last];
      preview.touched += yield* count(`FROM ${table} r WHERE ${byId(rules, 'r')} = $1 AND ${own} AND id BETWEEN $2 AND $3`, range);
      preview.touched += yield* distinct(
        `FROM ${before} WHERE ${place} = $1 AND ${own} AND changed BETWEEN $2 AND $3 AND id NOT BETWEEN $2 AND $3`,
        range,
      );
    }
  }
  const { removes, restores, touched } = preview;
  return { removes, restores, keeps: Math.max(0, touched - removes - restores), sample: sample.slice(0, SAMPLE) };
}

const shown = (row: string, place: string) =>
  place === 'list_pk'
    ? `${row}.rule_ref, ${row}.target AS what, ${row}.action`
    : `${row}.rule_ref, ${row}.expression AS what, ${row}.action`;
const ACTION: Readonly<Record<string, string>> = { '0': 'block', '1': 'allow' };
const sampleText = ({ rule_ref, what, action }: Row) =>
  [ACTION[String(action)] ?? action, what, ...(rule_ref === null ? [] : [`(${rule_ref})`])].join(' ');

function* count(from: string, values: readonly Value[]): Work<number> {
  return Number((yield* one(`SELECT count(*) AS rules ${from}`, ...values))!.rules);
}
function* distinct(from: string, values: readonly Value[]): Work<number> {
  return Number((yield* one(`SELECT count(DISTINCT id) AS rules ${from}`, ...values))!.rules);
}

/** Rules that one statement asks for. */
const ASKED = 500;

/** `origins` of the port. */
export function* originsOf(workspaceId: string, seqs: readonly number[]): Work<Map<number, RuleOrigin>> {
  const found = new Map<number, RuleOrigin>();
  const workspace = yield* workspacePk(workspaceId);
  if (workspace === undefined) return found;
  const wanted = [...new Set(seqs)];
  for (let at = 0; at < wanted.length; at += ASKED) {
    const slice = wanted.slice(at, at + ASKED);
    const values = slice.map((_, i) => (i === 0 ? '(CAST($2 AS BIGINT))' : `($${i + 2})`));
    const rows = yield* all(
      `WITH wanted (seq) AS (VALUES ${values})
       SELECT w.seq, b.batch_id, b.key_id FROM wanted w JOIN batches b ON b.workspace_pk = $1
       AND b.first_seq = (SELECT max(x.first_seq) FROM batches x WHERE x.workspace_pk = $1 AND x.first_seq <= w.seq) AND b.last_seq >= w.seq`,
      workspace,
      ...slice,
    );
    for (const row of rows) found.set(Number(row.seq), { batchId: textOrNull(row.batch_id), keyId: textOrNull(row.key_id) });
  }
  return found;
}
