/** Applies approved changes (SPEC D67.4). */
import { WeirError } from '../../errors.ts';
import type { StoreReads, StoreWrites } from '../../ports/store.ts';
import type { Approval } from '../../ports/stored/approval-store.ts';
import type { Message } from '../../ports/stream.ts';
import { BATCH_SIGNALS, signalId } from '../../signal/message/signal-id.ts';
import { unpack } from '../imports/pack.ts';
import { allLanded } from '../operate.ts';
import type { RuleManagement } from '../rules/rule-ports.ts';

/** Before another process continues, ms. */
const LOCK = 10_000;

export interface ApprovePorts extends Pick<RuleManagement, 'publish' | 'untilLanded'> {
  readonly store: Pick<StoreReads, 'approval' | 'approvalContent' | 'unappliedApprovals' | 'batch'> &
    Pick<StoreWrites, 'touchApproval' | 'endApproval'>;
  readonly now: () => number;
}

/** Derived from the request: a repeated application is recognised. */
const batchIdOf = (id: string, n: number): string => `${id.slice(0, 24)}${n.toString(16).padStart(4, '0')}${id.slice(28, 33)}000`;

/** Publishes the stored messages; expiries count from now. Returns the batches. Only one process applies a change. */
export async function applyApproved(ports: ApprovePorts, workspaceId: string, id: string, isFirst: boolean): Promise<string[]> {
  const { store, now, publish } = ports;
  const at = now();
  // A decision touches it too.
  if (!(await store.touchApproval(workspaceId, id, isFirst ? Number.MAX_SAFE_INTEGER : at - LOCK))) return [];
  const content = await store.approvalContent(workspaceId, id);
  if (content === undefined) return [];
  if (!isFirst) await allLanded(ports);
  const messages = JSON.parse((await unpack(content)).toString()) as Message[];
  const batches: string[] = [];
  for (let from = 0; from < messages.length; from += BATCH_SIGNALS) {
    const batch = batchIdOf(id, batches.length);
    batches.push(batch);
    if (!isFirst && (await store.batch(workspaceId, batch)) !== undefined) continue;
    const piece = messages.slice(from, from + BATCH_SIGNALS);
    await publish(
      piece.map((message, i) => ({
        ...message,
        headers: { ...message.headers, received_at: new Date(at).toISOString(), signal_id: signalId(batch, i + 1) },
      })),
    );
  }
  await store.endApproval(workspaceId, id, 'applied', null);
  return batches;
}

/** Continues after a crash. */
export async function resumeApprovals(ports: ApprovePorts): Promise<void> {
  const { store, now } = ports;
  for (const { workspaceId, id } of await store.unappliedApprovals(now() - LOCK)) {
    if ((await store.approval(workspaceId, id))?.operation === 'messages') await applyApproved(ports, workspaceId, id, false);
    // Only its process knew how far it came.
    else await store.endApproval(workspaceId, id, 'failed', 'the service stopped while it was applied: see whether it was, or repeat it');
  }
}

/** Rejects with REFUSED for content other than the one that was read. */
export function requireSame({ hash }: Approval, given: string): void {
  if (hash !== given) throw new WeirError('REFUSED', 'the change is another one than you have read: read it again');
}
