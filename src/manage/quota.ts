/** SPEC D22.2. */
import { WeirError } from '../errors.ts';
import type { ManageContext } from './context.ts';
import type { Operation } from './operation.ts';

const MEBIBYTE = 1024 * 1024;

/** Rejects with REFUSED. Deletes and revokes always pass, to get below the quota. */
export async function requireQuota({ method, audit }: Operation, { store, workspaceId, room, once }: ManageContext): Promise<void> {
  if (audit === null || method === 'DELETE') return;
  const used = await store.usedBytesOf(workspaceId);
  if (room.audit > 0 && used.audit >= room.audit)
    throw full('the audit log of the workspace', room.audit, 'MAX_AUDIT_MB', 'rows older than seven days are deleted automatically');
  if (once !== undefined && room.answers > 0 && used.answers >= room.answers)
    throw full(
      'the stored responses to requests with an Idempotency-Key',
      room.answers,
      'MAX_ANSWERS_MB',
      'send the request without one, or wait: they are stored for a day',
    );
}

const full = (what: string, most: number, setting: string, remedy: string) =>
  new WeirError(
    'REFUSED',
    `${what} reached the limit of ${most / MEBIBYTE} MiB: ${remedy}; the operator of the service can raise ${setting}`,
  );
