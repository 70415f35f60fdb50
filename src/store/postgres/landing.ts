import type { LandingBatch, LandingItem, PoisonRecord } from '../../ports/rule-store.ts';
import { nearestInstant } from '../columns.ts';
import { compact, type ResolvedChange } from '../compact.ts';
import { RuleCountChanges, writeRuleCounts } from '../rule-counts.ts';
import { type Database, drive, type Session } from './database.ts';
import { runStatements } from './rule-statements.ts';

/** How long a landing transaction may take, ms. */
const LIMIT = 30_000;

/**
 * The landing transaction: fence, rules, dead letters and position, all or nothing.
 * May be done twice: after a commit whose outcome is not known the second try finds itself fenced, and the consumer reads the position again.
 */
export function land(db: Database, batch: LandingBatch): Promise<'landed' | 'fenced'> {
  return db.transaction(
    async (session) => {
      if (!(await movePosition(session, batch))) return 'fenced';
      const workspaces = await lockWorkspaces(session, batch.items);
      const { changes, poison } = resolve(batch.items, workspaces, await takeIds(session, batch.items.length));
      await writeRules(session, changes);
      const lists = new Set(changes.filter(({ change }) => change.kind === 'access_rule').map(({ list }) => list));
      if (lists.size > 0) await session.run('UPDATE lists SET revision = revision + 1 WHERE pk = ANY($1)', [...lists]);
      await keepLetters(session, batch, [...batch.poison, ...poison]);
      return 'landed';
    },
    { repeatable: true, limit: LIMIT },
  );
}

/** Writes the rules, and how many more each workspace has. */
async function writeRules(session: Session, changes: readonly ResolvedChange[]): Promise<void> {
  const workspaceOf = new Map(changes.map(({ list, workspace }) => [list, workspace]));
  const counts = new RuleCountChanges();
  for (const run of compact(changes)) {
    for (const { text, rows, scope, firstId } of runStatements(run)) {
      const outcome = await session.run(text, JSON.stringify(rows), ...(firstId === undefined ? [] : [firstId]));
      for (const row of outcome.rows) {
        const place = Number(row.place);
        counts.add(scope === 'list' ? workspaceOf.get(place)! : place, Number(row.rules));
      }
    }
  }
  await drive(session, writeRuleCounts(counts));
}

/** The fence: false when the position is not the one this consumer started from. Another owner's transaction on it is waited for. */
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

interface ResolvedWorkspace {
  readonly pk: number;
  defaultList: number;
  readonly lists: Map<string, number>;
}

/**
 * Finds the workspaces and lists of a batch, moves the workspaces' revisions, and holds their rows until the commit, in one order.
 * Whoever changes a workspace's lists or rules holds its row: landings on several partitions cannot deadlock, and a list cannot
 * be deleted under a landing.
 */
async function lockWorkspaces(session: Session, items: readonly LandingItem[]): Promise<Map<string, ResolvedWorkspace>> {
  const found = new Map<string, ResolvedWorkspace>();
  const ids = new Set(items.map((item) => item.workspaceId));
  // Only access rules are in feeds.
  const feedIds = new Set(items.filter(({ change }) => change.kind === 'access_rule').map((item) => item.workspaceId));
  const locked = await session.run(
    `WITH locked AS MATERIALIZED (SELECT pk FROM workspaces WHERE id = ANY($1) ORDER BY pk FOR NO KEY UPDATE)
     UPDATE workspaces w SET revision = revision + CASE WHEN w.id = ANY($2) THEN 1 ELSE 0 END
     FROM locked WHERE w.pk = locked.pk RETURNING w.pk, w.id`,
    [...ids].filter(isText),
    [...feedIds].filter(isText),
  );
  const byPk = new Map<number, ResolvedWorkspace>();
  for (const row of locked.rows) {
    const workspace = { pk: Number(row.pk), defaultList: 0, lists: new Map<string, number>() };
    byPk.set(workspace.pk, workspace);
    found.set(String(row.id), workspace);
  }
  const named = new Set(items.map((item) => item.listId).filter((id) => id !== null));
  const lists = await session.run(
    'SELECT pk, id, workspace_pk, is_default FROM lists WHERE workspace_pk = ANY($1) AND (is_default = 1 OR id = ANY($2))',
    [...byPk.keys()],
    [...named].filter(isText),
  );
  for (const row of lists.rows) {
    const workspace = byPk.get(Number(row.workspace_pk))!;
    workspace.lists.set(String(row.id), Number(row.pk));
    if (row.is_default === 1) workspace.defaultList = Number(row.pk);
  }
  return found;
}

/** A header of a foreign message may hold U+0000, which nothing here is named. */
const isText = (text: string) => !text.includes('\0');

/** One id for each item, in the order of the items: which rule has which id does not depend on the engine. */
async function takeIds(session: Session, count: number): Promise<number[]> {
  if (count === 0) return [];
  const { rows } = await session.run("SELECT nextval('rule_ids') AS id FROM generate_series(1, $1)", count);
  return rows.map(({ id }) => Number(id));
}

function resolve(items: readonly LandingItem[], workspaces: ReadonlyMap<string, ResolvedWorkspace>, ids: readonly number[]) {
  const changes: ResolvedChange[] = [];
  const poison: PoisonRecord[] = [];
  for (const [i, { record, workspaceId, listId, receivedAt, change }] of items.entries()) {
    const workspace = workspaces.get(workspaceId);
    if (workspace === undefined) poison.push({ record, reason: `unknown workspace ${workspaceId}` });
    else {
      const list = (listId === null ? undefined : workspace.lists.get(listId)) ?? workspace.defaultList;
      changes.push({ workspace: workspace.pk, list, receivedAt, id: ids[i], change });
    }
  }
  return { changes, poison };
}

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
