/** Whether there is room for what a change leaves behind: a row of the audit log, and an answer that is kept (SPEC D22.2). */
import { WeirError } from '../errors.ts';
import type { ManageContext } from './context.ts';
import type { Operation } from './operation.ts';

const MEBIBYTE = 1024 * 1024;

/** Rejects with REFUSED, naming the limit, where there is none. What deletes and revokes always has room: whoever is out of it has to get back in. */
export async function requireQuota({ method, audit }: Operation, { store, workspaceId, room, once }: ManageContext): Promise<void> {
  if (audit === null || method === 'DELETE') return;
  const taken = await store.usedBytesOf(workspaceId);
  if (room.audit > 0 && taken.audit >= room.audit)
    throw full('the audit log of the workspace', room.audit, 'MAX_AUDIT_MB', 'rows of more than seven days go by themselves');
  if (once !== undefined && room.answers > 0 && taken.answers >= room.answers)
    throw full(
      'what is kept of the requests with an Idempotency-Key',
      room.answers,
      'MAX_ANSWERS_MB',
      'send it without one, or wait: they are kept for a day',
    );
}

const full = (what: string, most: number, setting: string, remedy: string) =>
  new WeirError(
    'REFUSED',
    `${what} takes ${most / MEBIBYTE} MiB, as much as it may: ${remedy}; the operator of the service can raise ${setting}`,
  );
