/** Which rows of the audit log are wanted (SPEC D15.53). */
import type { StoreReads } from '../ports/store.ts';
import type { AuditRow, PageRequest } from '../ports/stored/account-store.ts';
import { type AuditNames, auditJson } from './audit-json.ts';

/** What wanted rows have; a condition that is not given holds for every row. */
export interface AuditConditions {
  /** Words that the event has. */
  readonly event?: string | undefined;
  /** A person by his name or by who a provider says that he is, or a system user. */
  readonly by?: string | undefined;
  readonly keyId?: string | undefined;
  /** What was changed, by its id or name, or an act. */
  readonly object?: string | undefined;
  /** ms */
  readonly since?: number | undefined;
}

/** Whether a row is wanted; `name` is what its object is called. */
export const isWanted = (row: AuditRow, name: string | null, { event, by, keyId, object }: AuditConditions): boolean =>
  (event === undefined || row.event.includes(event)) &&
  (by === undefined || row.by.actor === by || row.by.personId === by) &&
  (keyId === undefined || row.by.keyId === keyId) &&
  (object === undefined || row.object === object || name === object || row.by.act === object);

/** Rows that are read at a time, and that one page looks at. */
const READ = 500;
const MOST_LOOKED = 10_000;

/** A page of wanted rows, newest first. Its work is bounded: there may be fewer than were asked for although others follow; only `next` tells. */
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
      const shown = auditJson(row, names);
      place = String(row.id);
      if (isWanted(row, shown.name, conditions)) entries.push(shown);
      if (entries.length === limit) return { entries, next: row === items.at(-1) ? next : place };
    }
    if (next === null) return { entries, next: null };
  }
  return { entries, next: place };
}
