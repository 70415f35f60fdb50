/** SPEC D15.53. */
import type { StoreReads } from '../ports/store.ts';
import type { AuditRow, PageRequest } from '../ports/stored/account-store.ts';
import { type AuditNames, auditJson } from './audit-json.ts';

/** Absent conditions match every row. */
export interface AuditConditions {
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

/** Newest first. A page may be short although more rows follow; only `next` shows the end. */
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
