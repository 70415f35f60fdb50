/** SPEC D22.2. */
import { WeirError } from '../errors.ts';
import type { ManageContext } from './context.ts';
import type { Operation } from './operation.ts';

const MEBIBYTE = 1024 * 1024;

/** Rejects with REFUSED. Deletes and revokes always pass, to get below the quota. */
export async function requireQuota({ method, audit }: Operation, { store, workspaceId, quota, once }: ManageContext): Promise<void> {
  if (audit === null || method === 'DELETE') return;
  const used = await store.usedBytesOf(workspaceId);
  if (quota.audit > 0 && used.audit >= quota.audit)
    throw full('the audit log of the workspace', quota.audit, 'MAX_AUDIT_MB', 'rows older than seven days are deleted automatically');
  if (once !== undefined && quota.answers > 0 && used.answers >= quota.answers)
    throw full(
      'the stored responses to requests with an Idempotency-Key',
      quota.answers,
      'MAX_ANSWERS_MB',
      'send the request without one, or wait: they are stored for a day',
    );
}

const full = (what: string, most: number, setting: string, remedy: string) =>
  new WeirError(
    'REFUSED',
    `${what} reached the limit of ${most / MEBIBYTE} MiB: ${remedy}; the operator of the service can raise ${setting}`,
  );
