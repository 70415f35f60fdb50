/** Activity of workspaces per minute and hour (SPEC D18.11). */
import {
  ACTIVITY_FIELDS,
  ACTIVITY_STEPS,
  type ActivityCounts,
  type ActivityStoreReads,
  type ActivityStoreWrites,
  NO_ACTIVITY,
} from '../../ports/activity.ts';
import type { NumberedItem } from '../batches/batches.ts';
import { WORKSPACE_PK } from '../row-ids.ts';
import { all, allOf, type Changes, run, runRows, type Value, type Work } from '../work.ts';

const COLUMNS = ['accepted', 'failed', 'landed', 'pulls', 'not_modified', 'refused'];
const ADDED = `ON CONFLICT (workspace_pk, step, slot) DO UPDATE SET ${COLUMNS.map((column) => `${column} = activity.${column} + excluded.${column}`)}`;

interface Counted {
  readonly workspace: number;
  readonly minute: number;
  readonly counts: ActivityCounts;
}

/** In a fixed order, to prevent deadlocks. */
function* writeActivity(counted: readonly Counted[]): Work<void> {
  const rows = counted
    .toSorted((a, b) => a.workspace - b.workspace)
    .flatMap(({ workspace, minute, counts }) =>
      ACTIVITY_STEPS.map(([step]): Value[] => [
        workspace,
        step,
        Math.floor(minute / step),
        ...ACTIVITY_FIELDS.map((field) => counts[field]),
      ]),
    );
  yield* runRows(rows, (values) => `INSERT INTO activity (workspace_pk, step, slot, ${COLUMNS}) VALUES ${values} ${ADDED}`);
}

/** Outcomes of entries; undos and changes in place do not count. */
const ENTRIES: ReadonlySet<string> = new Set(['upsert', 'delete', 'delete_by_value']);

/** Runs in the landing transaction. */
export function writeLanded(items: readonly NumberedItem[], now: number): Work<void> {
  const landed = new Map<number, number>();
  for (const { item, workspace } of items) {
    const { change } = item;
    if (ENTRIES.has(change.change)) landed.set(workspace, (landed.get(workspace) ?? 0) + 1);
  }
  const minute = Math.floor(now / 60_000);
  return writeActivity([...landed].map(([workspace, count]) => ({ workspace, minute, counts: { ...NO_ACTIVITY, landed: count } })));
}

const SLOTS = `SELECT a.* FROM activity a WHERE a.workspace_pk = ${WORKSPACE_PK} AND a.step = $2 AND a.slot BETWEEN $3 AND $4 ORDER BY a.slot`;

export const activityReads = {
  *activity(workspaceId: string, { step, from, to }: Parameters<ActivityStoreReads['activity']>[1]) {
    const rows = yield* all(SLOTS, workspaceId, step, from, to);
    return rows.map((row) => ({
      slot: Number(row.slot),
      ...{ accepted: Number(row.accepted), failed: Number(row.failed), landed: Number(row.landed) },
      ...{ pulls: Number(row.pulls), notModified: Number(row.not_modified), refused: Number(row.refused) },
    }));
  },
};

export const activityChanges = {
  *noteActivity(_now, counts) {
    const ids = counts.map(({ workspaceId }) => workspaceId);
    const rows = yield* allOf(ids, (places) => `SELECT pk, id FROM workspaces WHERE id IN (${places})`);
    const pks = new Map(rows.map(({ id, pk }) => [String(id), Number(pk)]));
    const counted = counts.map(({ workspaceId, minute, ...noted }) => ({ workspace: pks.get(workspaceId), minute, counts: noted }));
    yield* writeActivity(counted.filter((each): each is Counted => each.workspace !== undefined));
  },
} satisfies Changes<ActivityStoreWrites>;

/** Up to `limit` per slot length. */
export function* forgetActivity(atMost: (table: string, condition: string) => string, now: number, limit: number): Work<number> {
  let removed = 0;
  for (const [step, retention] of ACTIVITY_STEPS) {
    const first = Math.floor((now / 60_000 - retention) / step);
    removed += yield* run(`DELETE FROM activity WHERE ${atMost('activity', `slot < $1 AND step = ${step}`)}`, first, limit);
  }
  return removed;
}
