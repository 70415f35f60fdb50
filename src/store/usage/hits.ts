/** Drops that bouncers reported, by list and day (D31.4). */
import { dayOf } from '../../clock.ts';
import { type HistoryWrites, type HitReport, type HitWindow, type ListHits, WINDOW_RETENTION } from '../../ports/history.ts';
import { inChunks } from '../../schedule/chunks.ts';
import { WORKSPACE_PK, workspacePk } from '../row-ids.ts';
import { all, allOf, type Changes, run, runRows, type Work } from '../work.ts';

const ALL_LISTS = 0;
const AT_ONCE = 200;
/** Clients parse sums as doubles. */
const MOST = Number.MAX_SAFE_INTEGER;

const FORGET = `DELETE FROM hit_windows WHERE workspace_pk = $1 AND at <
  (SELECT at FROM hit_windows WHERE workspace_pk = $1 ORDER BY at DESC LIMIT 1 OFFSET ${WINDOW_RETENTION.ofWorkspace})`;
const added = (column: string) =>
  `${column} = CASE WHEN feed_days.${column} > ${MOST} - excluded.${column} THEN ${MOST} ELSE feed_days.${column} + excluded.${column} END`;
const ADDED = `ON CONFLICT (workspace_pk, list_pk, day) DO UPDATE SET ${['hits', 'hit_bytes'].map(added)}`;

interface Counted {
  packets: number;
  bytes: number;
}

function* record(workspaceId: string, reports: readonly HitReport[], at: number): Work<Map<string | null, number>> {
  const counted = new Map<string | null, number>();
  const workspace = yield* workspacePk(workspaceId);
  if (workspace === undefined) return counted;
  const lists = yield* listsOf(workspace, reports);
  const sums = new Map<number, Counted>();
  const windows = reports.flatMap((report) => report.windows.map((window) => ({ ...window, listId: report.listId })));
  const unseen = yield* remember(workspace, windows, at);
  for (const { digest, listId, hits } of windows) {
    // A repetition within these reports counts once.
    if (digest !== null && !unseen.delete(digest)) continue;
    for (const hit of hits) {
      const list = listId === null ? lists.byName.get(hit.list ?? '') : lists.byId.get(listId);
      for (const pk of list === undefined ? [ALL_LISTS] : [list.pk, ALL_LISTS]) addTo(sums, pk, hit);
      const id = list?.id ?? null;
      counted.set(id, (counted.get(id) ?? 0) + hit.packets);
    }
  }
  yield* write(workspace, dayOf(at), sums);
  yield* run(FORGET, workspace);
  return counted;
}

function* remember(workspace: number, windows: readonly HitWindow[], at: number): Work<Set<string>> {
  // A fixed order, to prevent deadlocks.
  const digests = windows.flatMap(({ digest }) => digest ?? []).sort();
  const unseen = new Set<string>();
  for (const piece of inChunks(digests, AT_ONCE)) {
    const rows = piece.map((_, n) => `($1, $${n + 3}, $2)`);
    const text = `INSERT INTO hit_windows (workspace_pk, digest, at) VALUES ${rows} ON CONFLICT DO NOTHING RETURNING digest`;
    for (const row of yield* all(text, workspace, at, ...piece)) unseen.add(String(row.digest));
  }
  return unseen;
}

function addTo(sums: Map<number, Counted>, pk: number, { packets, bytes }: HitWindow['hits'][number]): void {
  const known = sums.get(pk) ?? { packets: 0, bytes: 0 };
  known.packets = Math.min(MOST, known.packets + packets);
  known.bytes = Math.min(MOST, known.bytes + bytes);
  sums.set(pk, known);
}

function* listsOf(workspace: number, reports: readonly HitReport[]) {
  const names = reports.flatMap(({ windows }) => windows.flatMap(({ hits }) => hits.flatMap(({ list }) => list ?? [])));
  const ids = reports.flatMap(({ listId }) => listId ?? []);
  const byName = new Map<string, { readonly pk: number; readonly id: string }>();
  const byId = new Map<string, { readonly pk: number; readonly id: string }>();
  for (const [column, wanted] of [
    ['name', names],
    ['id', ids],
  ] as const) {
    const text = (places: string) => `SELECT pk, id, name FROM lists WHERE workspace_pk = $1 AND ${column} IN (${places})`;
    const rows = yield* allOf([...new Set(wanted)], text, workspace);
    // Of lists with the same name the oldest wins.
    for (const row of rows.sort((a, b) => Number(b.pk) - Number(a.pk))) {
      const list = { pk: Number(row.pk), id: String(row.id) };
      byName.set(String(row.name), list);
      byId.set(list.id, list);
    }
  }
  return { byName, byId };
}

/** In the order of landings, to prevent deadlocks. */
function* write(workspace: number, day: number, sums: ReadonlyMap<number, Counted>): Work<void> {
  const rows = [...sums].sort(([a], [b]) => a - b).map(([pk, { packets, bytes }]) => [workspace, pk, day, packets, bytes]);
  yield* runRows(rows, (values) => `INSERT INTO feed_days (workspace_pk, list_pk, day, hits, hit_bytes) VALUES ${values} ${ADDED}`);
}

const sumOf = (column: string) => `CASE WHEN sum(d.${column}) > ${MOST} THEN ${MOST} ELSE sum(d.${column}) END`;
const HITS = `SELECT d.list_pk, l.id, ${sumOf('hits')} AS hits, ${sumOf('hit_bytes')} AS bytes, max(d.day) AS day FROM feed_days d
  LEFT JOIN lists l ON l.pk = d.list_pk AND l.workspace_pk = d.workspace_pk
  WHERE d.workspace_pk = ${WORKSPACE_PK} AND d.day >= $2 AND d.hits > 0 GROUP BY d.list_pk, l.id`;

export function* listHits(workspaceId: string, from: number): Work<ListHits[]> {
  const rows = yield* all(HITS, workspaceId, from);
  return rows.flatMap(({ list_pk, id, hits, bytes, day }) =>
    id === null && Number(list_pk) !== ALL_LISTS
      ? []
      : [{ listId: id === null ? null : String(id), hits: Number(hits), bytes: Number(bytes), lastDay: Number(day) }],
  );
}

export const hitChanges = { recordHits: (_now, ...args) => record(...args) } satisfies Changes<Pick<HistoryWrites, 'recordHits'>>;
