/** SPEC D15.53. */

import { isoTime } from '../clock.ts';
import type { StoreReads } from '../ports/store.ts';
import type { AuditRow, PageRequest } from '../ports/stored/account-store.ts';
import { feedNamesIn } from './rules/rule-json.ts';

export interface AuditNames {
  readonly keys: ReadonlyMap<string, string>;
  /** Lists, feeds, keys, workspaces, organizations. */
  readonly objects: ReadonlyMap<string, string>;
}

export async function auditNames(store: Pick<StoreReads, 'names' | 'workspace'>, workspaceId: string): Promise<AuditNames> {
  const [{ keys, feeds }, workspace] = await Promise.all([feedNamesIn(store, workspaceId), store.workspace(workspaceId)]);
  return { keys, objects: new Map([...feeds, ...keys, ...(workspace === undefined ? [] : [[workspaceId, workspace.name] as const])]) };
}

/** A deleted object keeps its last name. */
export function auditJson({ id, at, event, object, by, change }: AuditRow, { keys, objects }: AuditNames) {
  const was = change?.before?.name ?? change?.after?.name;
  return {
    id,
    at: isoTime(at),
    event,
    object,
    name: objects.get(object) ?? (typeof was === 'string' ? was : null),
    actor: by.actor,
    person: by.personId ?? null,
    key_id: by.keyId,
    act: by.act ?? null,
    key_name: keys.get(by.keyId ?? '') ?? null,
    before: change?.before ?? null,
    after: change?.after ?? null,
    names: Object.fromEntries(
      (JSON.stringify(change)?.match(UUIDS) ?? []).flatMap((each) => (objects.has(each) ? [[each, objects.get(each)!]] : [])),
    ),
  };
}

const UUIDS = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Absent conditions match every row. */
interface AuditConditions {
  /** A part of it. */
  readonly event?: string | undefined;
  /** A name, a provider's id, or a system user. */
  readonly by?: string | undefined;
  readonly keyId?: string | undefined;
  /** Id, name, or an act. */
  readonly object?: string | undefined;
  /** ms */
  readonly since?: number | undefined;
}

export const isWanted = (row: AuditRow, name: string | null, { event, by, keyId, object }: AuditConditions): boolean =>
  (event === undefined || row.event.includes(event)) &&
  (by === undefined || row.by.actor === by || row.by.personId === by) &&
  (keyId === undefined || row.by.keyId === keyId) &&
  (object === undefined || row.object === object || name === object || row.by.act === object);

/** Rows per read and per page. */
const READ = 500;
const MOST_LOOKED = 10_000;

/** Newest first. A page may be short although more rows follow; only `next` tells. */
export async function auditSearch(
  { store, workspaceId, pause }: { readonly store: Pick<StoreReads, 'auditPage'>; readonly workspaceId: string; pause(): Promise<void> },
  names: AuditNames,
  conditions: AuditConditions,
  { after, limit }: PageRequest,
): Promise<{ readonly entries: readonly ReturnType<typeof auditJson>[]; readonly next: string | null }> {
  const entries: ReturnType<typeof auditJson>[] = [];
  let place = after;
  for (let looked = 0; looked < MOST_LOOKED; looked += READ) {
    if (looked > 0) await pause();
    const { items, next } = await store.auditPage(workspaceId, { after: place, limit: READ });
    for (const row of items) {
      if (conditions.since !== undefined && row.at < conditions.since) return { entries, next: null };
      const entry = auditJson(row, names);
      place = String(row.id);
      if (isWanted(row, entry.name, conditions)) entries.push(entry);
      if (entries.length === limit) return { entries, next: row === items.at(-1) ? next : place };
    }
    if (next === null) return { entries, next: null };
  }
  return { entries, next: place };
}
