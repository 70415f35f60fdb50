/** Reads of a few lists of a workspace through indexes, however many it has; the same in both dialects. */
import { type FeedKind, type FeedProfile, feedRevision } from '../account/feed.ts';
import type { SnapshotHead, WorkspaceDirectory } from '../ports/rule-store.ts';
import { isStorableText } from '../signal/validate.ts';
import { guardRailsOf, listOf, profileOf, type Row, workspaceProfileOf } from './rows.ts';
import { all, one, type Work } from './work.ts';

/** What rules are read from: one list of a workspace, or all of them. */
export interface RuleSource {
  readonly workspacePk: number;
  readonly head: SnapshotHead;
  readonly lists: readonly { readonly pk: number; readonly id: string }[];
}

// A list whose name is the UUID of another one.
const FIND = `SELECT * FROM lists WHERE id = $2 AND workspace_pk = $1
  UNION ALL SELECT * FROM lists WHERE workspace_pk = $1 AND name = $3 AND id <> $2 ORDER BY pk`;

/** `findNamed` of the port. The revision is read first: a change that comes between moves it past the one that is returned. */
export function* findNamed(now: string, workspaceId: string, ref: string): Work<WorkspaceDirectory | undefined> {
  const workspace = yield* findWorkspace(now, workspaceId);
  if (workspace === undefined) return undefined;
  const id = ref.toLowerCase();
  const rows = isStorableText(ref) ? yield* all(FIND, Number(workspace.pk), id, ref) : [];
  const byId = rows.filter((row) => row.id === id);
  return {
    id: workspaceId,
    name: String(workspace.name),
    revision: Number(workspace.revision),
    takenAt: Number(workspace.taken_at),
    lists: (byId.length > 0 ? byId : rows).map((row) => listOf(row, workspaceId)),
  };
}

/** `listCount` of the port. */
export function* listCount(workspaceId: string): Work<number> {
  const row = yield* one('SELECT count(*) AS lists FROM workspaces w JOIN lists l ON l.workspace_pk = w.pk WHERE w.id = $1', workspaceId);
  return Number(row?.lists);
}

/** The source of a feed: of the list with the UUID, or of the workspace (null). Undefined when there is no such workspace or list. */
export function* ruleSource(now: string, workspaceId: string, feedId: string | null): Work<RuleSource | undefined> {
  const workspace = yield* findWorkspace(now, workspaceId);
  if (workspace === undefined) return undefined;
  const workspacePk = Number(workspace.pk);
  const rows = feedId === null ? yield* allLists(workspacePk) : yield* oneList(workspacePk, feedId);
  if (rows.length === 0) return undefined;
  const [kind, profile, own]: [FeedKind, FeedProfile, unknown] =
    feedId === null ? ['workspace', workspaceProfileOf(workspace), workspace.revision] : ['list', profileOf(rows[0]), rows[0].revision];
  const revision = feedRevision(profile, Number(own), Number(workspace.revision));
  return {
    workspacePk,
    head: { kind, profile, guardRails: guardRailsOf(workspace), revision, takenAt: Number(workspace.taken_at) },
    lists: rows.map((row) => ({ pk: Number(row.pk), id: String(row.id) })),
  };
}

function* findWorkspace(now: string, id: string): Work<Row | undefined> {
  return yield* one(`SELECT w.*, ${now} AS taken_at FROM workspaces w WHERE id = $1`, id);
}

function* allLists(workspacePk: number): Work<Row[]> {
  return yield* all('SELECT pk, id FROM lists WHERE workspace_pk = $1 ORDER BY pk', workspacePk);
}

function* oneList(workspacePk: number, id: string): Work<Row[]> {
  return yield* all('SELECT * FROM lists WHERE id = $1 AND workspace_pk = $2', id, workspacePk);
}
