/** SPEC D15.53. */
import { isoTime } from '../clock.ts';
import type { StoreReads } from '../ports/store.ts';
import type { AuditRow } from '../ports/stored/account-store.ts';
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
