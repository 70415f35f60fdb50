/** The audit log: a row per change, in the change's own transaction. */
import type { Author } from '../../account/caller.ts';
import type { AuditedChange, AuditRow, Page, PageRequest } from '../../ports/stored/account-store.ts';
import type { AuditLogRow } from '../../ports/stored/audit.ts';
import { pageOf } from '../../ports/stored/paginate.ts';
import { WORKSPACE_PK } from '../row-ids.ts';
import { type Row, textOrNull } from '../rows.ts';
import { all, run, type Work } from '../work.ts';
import { addUsage, bytesOf } from './storage-usage.ts';

interface Audited {
  /** null: no workspace. */
  readonly workspacePk?: number | null;
  readonly by?: Author | undefined;
  readonly change?: AuditedChange | undefined;
}

/** Characters of JSON; a longer change is not stored. */
const LONGEST = 4096;

export function* audit(now: string, event: string, object: string, { workspacePk = null, by, change }: Audited = {}): Work<void> {
  const json = change === undefined ? null : JSON.stringify(change);
  const text = json !== null && json.length > LONGEST ? null : json;
  const bytes = bytesOf(text, by?.actor ?? null);
  yield* run(
    `INSERT INTO audit (at, event, object, workspace_pk, key_id, actor, person, change, bytes, act)
     VALUES (${now}, $1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    event,
    object,
    workspacePk,
    by?.keyId ?? null,
    by?.actor ?? null,
    by?.personId ?? null,
    text,
    bytes,
    by?.act ?? null,
  );
  if (workspacePk !== null) yield* addUsage('audit', workspacePk, bytes);
}

type State = Readonly<Record<string, unknown>>;

export function changed(before: State, after: State): AuditedChange {
  const names = Object.keys(after).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  const those = (state: State) => Object.fromEntries(names.map((name) => [name, state[name] ?? null]));
  return { before: those(before), after: those(after) };
}

/** Writes no row if nothing differs. */
export function* auditChange(
  now: string,
  event: string,
  object: string,
  of: Audited,
  [before, after]: readonly [State, State],
): Work<void> {
  const change = changed(before, after);
  if (Object.keys(change.after ?? {}).length > 0) yield* audit(now, event, object, { ...of, change });
}

const PAGE = `SELECT a.* FROM audit a WHERE a.workspace_pk = ${WORKSPACE_PK} AND a.id < $2
  ORDER BY a.id DESC LIMIT $3`;
const PAGE_OF_NONE = 'SELECT a.* FROM audit a WHERE a.workspace_pk IS NULL AND a.id < $1 ORDER BY a.id DESC LIMIT $2';

export function* auditPage(workspaceId: string | null, { after, limit }: PageRequest): Work<Page<AuditRow>> {
  const from = after === null ? Number.MAX_SAFE_INTEGER : Number(after);
  const rows = yield* workspaceId === null ? all(PAGE_OF_NONE, from, limit + 1) : all(PAGE, workspaceId, from, limit + 1);
  return pageOf(rows.map(auditRowOf), limit, ({ id }) => String(id));
}

export function* auditBehind(workspaceId: string, id: number, limit: number): Work<AuditRow[]> {
  const rows = yield* all(
    `SELECT a.* FROM audit a WHERE a.workspace_pk = ${WORKSPACE_PK} AND a.id > $2 ORDER BY a.id LIMIT $3`,
    workspaceId,
    id,
    limit,
  );
  return rows.map(auditRowOf);
}

const byOf = ({ key_id: keyId, actor, person, act }: Row): Author => ({
  keyId: textOrNull(keyId),
  actor: textOrNull(actor),
  ...(person !== null && { personId: String(person) }),
  ...(act != null && { act: String(act) }),
});

export const auditRowOf = (row: Row): AuditRow => ({
  id: Number(row.id),
  at: Number(row.at),
  event: String(row.event),
  object: String(row.object),
  by: byOf(row),
  change: row.change === null ? null : (JSON.parse(String(row.change)) as AuditedChange),
});

export function* auditSince(id: number, limit: number): Work<AuditLogRow[]> {
  const text =
    'SELECT a.*, w.id AS workspace FROM audit a LEFT JOIN workspaces w ON w.pk = a.workspace_pk WHERE a.id > $1 ORDER BY a.id LIMIT $2';
  return (yield* all(text, id, limit)).map((row) => ({ ...auditRowOf(row), workspaceId: textOrNull(row.workspace) }));
}
