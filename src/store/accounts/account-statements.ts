import { type AccessList, LIST_SETTINGS, type ListSetting } from '../../account/list.ts';
import { stateTag } from '../../account/tag.ts';
import { WeirError } from '../../errors.ts';
import { requireCanaryQuota } from '../canary/feeds.ts';
import type { Row } from '../rows.ts';
import { notify, one, type Value, type Work } from '../work.ts';

/**
 * Increments both revisions of a workspace and locks its row until the commit: landings and other changes of its lists wait. Returns its
 * pk.
 */
export function* changeWorkspace(id: string): Work<number> {
  const moved = 'revision = revision + 1, settings_revision = settings_revision + 1';
  const row = yield* notify(`UPDATE workspaces SET ${moved} WHERE id = $1 RETURNING pk`, id);
  if (row === undefined) throw noSuch('workspace', id);
  return Number(row.pk);
}

/** Locks a workspace's row until the commit. Returns its pk. */
export function* holdWorkspace(id: string): Work<number> {
  const row = yield* notify('UPDATE workspaces SET revision = revision WHERE id = $1 RETURNING pk', id);
  if (row === undefined) throw noSuch('workspace', id);
  return Number(row.pk);
}

export function* findWorkspace(id: string): Work<number> {
  const row = yield* one('SELECT pk FROM workspaces WHERE id = $1', id);
  if (row === undefined) throw noSuch('workspace', id);
  return Number(row.pk);
}

export function* feedRow(workspacePk: number, id: string): Work<Row> {
  const row = yield* one('SELECT * FROM feeds WHERE id = $1 AND workspace_pk = $2', id, workspacePk);
  if (row === undefined) throw noSuch('feed', id);
  return row;
}

/** Throws CHANGED unless `ifMatch` contains the state. */
export function requireState(state: object, ifMatch: readonly string[] | undefined): void {
  if (ifMatch !== undefined && !ifMatch.includes(stateTag(state))) {
    throw new WeirError('CHANGED', 'it has changed since you read it: read it again');
  }
}

/** Every process notices within a second. */
export function* moveKeyRevision(): Work<void> {
  yield* notify("UPDATE counters SET value = value + 1 WHERE name = 'key_revision'");
}

export function* create(now: string, table: string, row: Readonly<Record<string, Value>>): Work<Row> {
  const columns = Object.keys(row);
  const values = columns.map((_, i) => `$${i + 1}`);
  const text = `INSERT INTO ${table} (${columns}, created_at) VALUES (${values}, ${now}) RETURNING *`;
  return (yield* one(text, ...Object.values(row)))!;
}

export const listColumns = (list: Omit<AccessList, 'workspaceId' | 'revision' | 'isDefault' | 'sourceId'>): Record<string, Value> => ({
  id: list.id,
  name: list.name,
  ...Object.fromEntries(patchColumns(list, LIST_SETTINGS)),
});

export function* insertList(now: string, workspacePk: number, list: Omit<AccessList, 'workspaceId' | 'revision'>): Work<Row> {
  yield* requireCanaryQuota(workspacePk, list.canaryKeys);
  const row = { workspace_pk: workspacePk, is_default: list.isDefault ? 1 : 0, source_id: list.sourceId, ...listColumns(list) };
  return yield* create(now, 'lists', row);
}

export const patchColumns = <K extends string>(
  patch: { readonly [name in K]?: string | number | null | undefined },
  settings: Readonly<Record<K, ListSetting>>,
): [column: string, value: string | number | null][] =>
  (Object.keys(settings) as K[]).flatMap((name) => {
    const value = patch[name];
    return value === undefined ? [] : [[settings[name].field, value]];
  });

export const tooMany = (most: number, what: string, setting: string, remedy = 'delete one') =>
  new WeirError('REFUSED', `the workspace has ${most} ${what}, its limit: ${remedy}, or raise ${setting}`);

export const tooManyLists = (most: number) => tooMany(most, 'lists', 'MAX_LISTS');

export const noSuch = (what: string, id: string) => new WeirError('NOT_FOUND', `there is no such ${what}: ${id}`);
