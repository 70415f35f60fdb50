import { setImmediate as turn } from 'node:timers/promises';
import type { LandingBatch, PoisonRecord } from '../../ports/landing.ts';
import { isExpressionKind, isOperation } from '../../rule.ts';
import { listPlaceOf, type NumberedItem, segmentsOf, writeSegments } from '../batches/batches.ts';
import { CanaryNeeded, watchLarge } from '../canary/landing.ts';
import { type Staged, startCanaries } from '../canary/start.ts';
import { nearestInstant } from '../columns.ts';
import { Changed, type Located, numberItems, writeWaiting } from '../landing.ts';
import type { Row } from '../rows.ts';
import { compact, type ResolvedChange } from '../rules/compact.ts';
import { POSTGRES_REPEATS, withRepeats } from '../rules/repeats.ts';
import { type Outcome, run, type Work } from '../work.ts';
import { type Database, drive, driveAtOnce, type Session } from './database.ts';
import { type BulkStatement, runStatements } from './rule-statements.ts';

/** ms; with canaries the rules of up to 20 feeds are copied. */
const [LIMIT, WITH_CANARIES] = [30_000, 300_000];

/**
 * One transaction: fence, rules, dead letters and position. Repeatable: after a commit with unknown outcome the retry is fenced, and the
 * consumer reads the position again.
 */
export const land = (db: Database, batch: LandingBatch, mostAreNew: MostAreNew): Promise<'landed' | 'fenced'> =>
  landOnce(db, batch, mostAreNew, []).catch((error: unknown) => {
    if (!(error instanceof CanaryNeeded)) throw error;
    return landOnce(db, batch, mostAreNew, error.large);
  });

const landOnce = (db: Database, batch: LandingBatch, mostAreNew: MostAreNew, large: readonly Staged[]): Promise<'landed' | 'fenced'> =>
  db.transaction(
    async (session) => {
      if (!(await movePosition(session, batch))) return 'fenced';
      const { workspaces, seqs } = await lockWorkspaces(session, batch);
      for (const each of large) await drive(session, startCanaries(String(batch.now), each));
      const { known, poison } = numberItems(
        batch.items,
        (n) => seqs[n],
        (id) => workspaces.get(id),
      );
      await applyItems(session, known, batch, mostAreNew);
      const refused = await drive(session, writeWaiting(String(batch.now), batch.waiting));
      await keepLetters(session, batch, [...batch.poison, ...poison, ...refused]);
      return 'landed';
    },
    { repeatable: true, limit: large.length === 0 ? LIMIT : WITH_CANARIES },
  );

async function applyItems(session: Session, numbered: readonly NumberedItem[], batch: LandingBatch, mostAreNew: MostAreNew): Promise<void> {
  const segments = segmentsOf(numbered);
  await drive(session, writeSegments(segments, batch));
  const known = await drive(session, withRepeats(numbered, segments, POSTGRES_REPEATS));
  const changed = new Changed(known);
  let changes: SizedChange[] = [];
  const flush = async () => {
    await writeRules(session, changes, changed, mostAreNew);
    changes = [];
  };
  let segment = 0;
  for (const each of known) {
    const { item, seq, workspace, list } = each;
    if (seq > segments[segment].last) segment += 1;
    const { change, receivedAt, batchId } = item;
    if (isOperation(change)) {
      await flush();
      await drive(session, changed.operate(each, change));
    } else {
      const size = item.record.value.length;
      changes.push({ workspace, list, receivedAt, id: seq, batch: batchId, firstId: segments[segment].first.seq, change, size });
      if (change.kind === 'access_rule') changed.lists.add(list);
    }
  }
  await flush();
  await drive(session, changed.count(batch.now));
  await drive(session, watchLarge(known, batch.now));
  await driveAtOnce(session, [...changed.write(batch.now), touchLists(changed.lists)]);
}

function* touchLists(lists: ReadonlySet<number>): Work<void> {
  if (lists.size === 0) return;
  yield* run(`UPDATE lists SET revision = revision + 1 WHERE pk IN (${[...lists].map((_, i) => `$${i + 1}`)})`, ...lists);
}

/** With the length of its message in characters. */
interface SizedChange extends ResolvedChange {
  readonly size: number;
}

/** A few milliseconds, which other threads wait for. */
const STEP = 2000;
const STEP_TEXT = 1 << 19;

function* stepsOf(changes: readonly SizedChange[]): Generator<readonly SizedChange[]> {
  let [from, text] = [0, 0];
  for (const [i, { size }] of changes.entries()) {
    if (i > from && (i - from === STEP || text + size > STEP_TEXT)) {
      yield changes.slice(from, i);
      [from, text] = [i, 0];
    }
    text += size;
  }
  if (from < changes.length) yield changes.slice(from);
}

async function writeRules(
  session: Session,
  changes: readonly SizedChange[],
  { counts, previous }: Changed,
  mostAreNew: MostAreNew,
): Promise<void> {
  const workspaceOf = new Map(changes.map(({ list, workspace }) => [list, workspace]));
  const count = ({ rows }: Outcome, scope: BulkStatement['scope']) => {
    for (const row of rows) {
      const place = Number(row.place);
      const workspace = scope === 'list' ? workspaceOf.get(place)! : place;
      counts.add(workspace, Number(row.rules));
      previous.add(workspace, Number(row.kept));
    }
  };
  for (const step of stepsOf(changes)) {
    await turn();
    for (const folded of compact(step)) {
      for (const statement of runStatements(folded)) {
        const { text, scope, firstId } = statement;
        const isTried = mostAreNew.get(text) !== false;
        const rows = isTried ? await insertNew(session, statement, mostAreNew, count) : statement.rows;
        if (rows.length === 0) continue;
        const outcome = await session.run(text, JSON.stringify(rows), ...(firstId === undefined ? [] : [firstId]));
        count(outcome, scope);
        // `rows` no longer contains the new rules if `insertNew` ran.
        if (!isTried) mostAreNew.set(text, 2 * rulesOf(outcome) >= rows.length);
      }
    }
  }
}

/** Whether most rules of the last statement were new: they usually come in blocks. */
export type MostAreNew = Map<string, boolean>;
const rulesOf = ({ rows }: Outcome): number => rows.reduce((sum, row) => sum + Number(row.rules), 0);

/** Returns the remaining rows; for other statements all. */
async function insertNew(
  session: Session,
  { text, insertNew: insertText, rows, scope }: BulkStatement,
  mostAreNew: MostAreNew,
  count: (outcome: Outcome, scope: BulkStatement['scope']) => void,
): Promise<BulkStatement['rows']> {
  if (insertText === undefined) return rows;
  const outcome = await session.run(insertText, JSON.stringify(rows), rows.length);
  count(outcome, scope);
  const written = rulesOf(outcome);
  mostAreNew.set(text, 2 * written >= rows.length);
  if (written === rows.length) return [];
  const ids = new Set(outcome.rows.flatMap((row) => String(row.ids).split(',')).map(Number));
  return rows.filter(({ id }) => !ids.has(Number(id)));
}

/** The fence: false if the position is not this consumer's start. Waits for another owner's transaction. */
async function movePosition(session: Session, { streamId, partition, from, to }: LandingBatch): Promise<boolean> {
  const { count } =
    from === null
      ? await session.run(
          'INSERT INTO positions (stream_id, "partition", next_offset) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
          streamId,
          partition,
          to,
        )
      : await session.run(
          'UPDATE positions SET next_offset = $3 WHERE stream_id = $1 AND "partition" = $2 AND next_offset = $4',
          streamId,
          partition,
          to,
          from,
        );
  return count === 1;
}

/**
 * Increments the workspaces' revisions, locks their rows until the commit in a fixed order, then allocates numbers. Every change of a
 * workspace's lists or rules locks its row: landings on several partitions cannot deadlock, and no list is deleted during a landing.
 */
async function lockWorkspaces(session: Session, { items, waiting = [] }: LandingBatch) {
  const ids = new Set([...items, ...waiting].map(({ workspaceId }) => workspaceId));
  // Only access rules are in feeds.
  const feedIds = new Set(
    items.filter(({ change }) => change.change === 'undo' || change.kind === 'access_rule').map((item) => item.workspaceId),
  );
  const expressionIds = new Set(
    items.filter(({ change }) => change.change === 'undo' || isExpressionKind(change.kind)).map((item) => item.workspaceId),
  );
  const locked = await session.run(
    `WITH locked AS MATERIALIZED (SELECT pk FROM workspaces WHERE id = ANY($1) ORDER BY pk FOR NO KEY UPDATE)
     UPDATE workspaces w SET revision = revision + CASE WHEN w.id = ANY($2) THEN 1 ELSE 0 END,
       expression_revision = expression_revision + CASE WHEN w.id = ANY($3) THEN 1 ELSE 0 END
     FROM locked WHERE w.pk = locked.pk RETURNING w.pk, w.id`,
    [...ids].filter(isText),
    [...feedIds].filter(isText),
    [...expressionIds].filter(isText),
  );
  const named = new Set(items.map((item) => item.listId).filter((id) => id !== null));
  // Numbers follow the order of the items: rule ids do not depend on the engine.
  const lists = await session.run(
    `WITH taken AS MATERIALIZED (SELECT string_agg(nextval('rule_ids')::text, ',') AS seqs FROM generate_series(1, $3))
     SELECT pk, id, workspace_pk, is_default, source_id, repeat, CASE WHEN row_number() OVER () = 1 THEN seqs END AS seqs
     FROM taken LEFT JOIN lists ON workspace_pk = ANY($1) AND (is_default = 1 OR id = ANY($2))`,
    locked.rows.map((row) => Number(row.pk)),
    [...named].filter(isText),
    items.length,
  );
  // One row without a list if no workspace is known.
  const byWorkspace = Map.groupBy(lists.rows, (row) => Number(row.workspace_pk));
  const workspaces = new Map(locked.rows.map(({ id, pk }) => [String(id), located(Number(pk), byWorkspace.get(Number(pk))!)]));
  const seqs = String(lists.rows[0]!.seqs).split(',');
  return { workspaces, seqs: seqs.map(Number) };
}

/** `rows` include the default list. */
function located(pk: number, rows: readonly Row[]): Located {
  const lists = new Map(rows.map((row) => [String(row.id), listPlaceOf(row)]));
  const byDefault = listPlaceOf(rows.find((row) => row.is_default === 1)!);
  return { pk, listOf: (id) => (id === null ? undefined : lists.get(id)) ?? byDefault };
}

/** Headers of foreign messages may contain U+0000, which no name here does. */
const isText = (text: string) => !text.includes('\0');

async function keepLetters(session: Session, { streamId, partition, now }: LandingBatch, poison: readonly PoisonRecord[]): Promise<void> {
  if (poison.length === 0) return;
  const rows = poison.map(({ record: { offset, timestamp, key, headers, value }, reason }) => ({
    reason: reason.replaceAll('\0', '\u2400').toWellFormed(),
    record_offset: offset,
    timestamp: nearestInstant(timestamp),
    key: JSON.stringify(key),
    headers: JSON.stringify(headers),
    value: JSON.stringify(value),
  }));
  await session.run(
    `INSERT INTO dead_letters (at, stream_id, "partition", reason, record_offset, timestamp, key, headers, value)
     SELECT $1, $2, $3, * FROM json_to_recordset($4) AS given
     (reason text, record_offset bigint, "timestamp" bigint, key text, headers text, value text)`,
    now,
    streamId,
    partition,
    JSON.stringify(rows),
  );
}
