/** Applies approved changes once, also after a crash (SPEC D67.4, D67.12). */
import { codeOf, WeirError } from '../../errors.ts';
import type { StoreReads, StoreWrites } from '../../ports/store.ts';
import type { Approval } from '../../ports/stored/approval-store.ts';
import type { Message } from '../../ports/stream.ts';
import { acceptedAgain } from '../../signal/message/encode.ts';
import { BATCH_SIGNALS, signalId } from '../../signal/message/signal-id.ts';
import { unpack } from '../imports/pack.ts';
import { allLanded } from '../operate.ts';
import type { RuleManagement } from '../rules/rule-ports.ts';

/** Before another process continues, ms. */
const LOCK = 10_000;

export interface ApprovePorts extends Pick<RuleManagement, 'publish' | 'untilLanded'> {
  readonly store: Pick<StoreReads, 'approval' | 'approvalContent' | 'unappliedApprovals' | 'isApplied' | 'batch'> &
    Pick<StoreWrites, 'touchApproval' | 'endApproval'>;
  readonly now: () => number;
}

/** Runs an operation in the name of a request. */
export type RunApproved = (workspaceId: string, approval: Approval, content: Uint8Array) => Promise<void>;

/** Derived from the request: a repeated application is recognised. */
const batchIdOf = (id: string, n: number): string => `${id.slice(0, 24)}${n.toString(16).padStart(4, '0')}${id.slice(28, 33)}000`;

export const messagesIn = async (content: Uint8Array) => JSON.parse((await unpack(content)).toString()) as Message[];

/** Returns the batches of messages. Only one process applies a change. `isFirst`: after its approval; else after a crash. */
export async function applyApproved(
  ports: ApprovePorts,
  run: RunApproved,
  workspaceId: string,
  approval: Approval,
  isFirst: boolean,
): Promise<string[]> {
  const { store, now } = ports;
  const { id, operation } = approval;
  // A decision touches it too.
  if (!(await store.touchApproval(workspaceId, id, isFirst ? Number.MAX_SAFE_INTEGER : now() - LOCK))) return [];
  const content = await store.approvalContent(workspaceId, id);
  if (content === undefined) return [];
  if (operation === 'messages') {
    const batches = await publishApproved(ports, workspaceId, id, await messagesIn(content), isFirst);
    await store.endApproval(workspaceId, id, 'applied', null);
    return batches;
  }
  const fault = isFirst || !(await store.isApplied(id)) ? await faultOf(run(workspaceId, approval, content)) : null;
  // A repetition may fail because the operation was done before.
  const isDone = fault === null || (await store.isApplied(id));
  await store.endApproval(workspaceId, id, isDone ? 'applied' : 'failed', isDone ? null : fault);
  return [];
}

const UNAVAILABLE = ['STORE_UNAVAILABLE', 'STREAM_UNAVAILABLE', 'TIMEOUT', 'LIMITED'];

/** null: done. Rejects for a fault that nobody has to fix: it is tried again. */
const faultOf = (work: Promise<void>): Promise<string | null> =>
  work.then(
    () => null,
    (error: Error) => {
      const code = codeOf(error);
      if (code === undefined || UNAVAILABLE.includes(code)) throw error;
      return error.message;
    },
  );

/** Expiries count from now. */
async function publishApproved(
  ports: ApprovePorts,
  workspaceId: string,
  id: string,
  messages: readonly Message[],
  isFirst: boolean,
): Promise<string[]> {
  const { store, now, publish } = ports;
  const receivedAt = now();
  if (!isFirst) await allLanded(ports);
  const batches: string[] = [];
  for (let from = 0; from < messages.length; from += BATCH_SIGNALS) {
    const batch = batchIdOf(id, batches.length);
    batches.push(batch);
    if (!isFirst && (await store.batch(workspaceId, batch)) !== undefined) continue;
    if (!(await store.touchApproval(workspaceId, id, Number.MAX_SAFE_INTEGER))) return [];
    const piece = messages.slice(from, from + BATCH_SIGNALS);
    await publish(piece.map((message, i) => acceptedAgain(message, receivedAt, signalId(batch, i + 1))));
  }
  return batches;
}

/** Continues after a crash. `run` undefined: this process runs no operations. */
export async function resumeApprovals(ports: ApprovePorts, run: RunApproved | undefined): Promise<void> {
  const { store, now } = ports;
  for (const { workspaceId, id } of await store.unappliedApprovals(now() - LOCK)) {
    const approval = await store.approval(workspaceId, id);
    if (approval === undefined || (run === undefined && approval.operation !== 'messages')) continue;
    await applyApproved(ports, run!, workspaceId, approval, false);
  }
}

/** Rejects with REFUSED for content other than the one that was read. */
export function requireSame({ hash }: Approval, given: string): void {
  if (hash !== given) throw new WeirError('REFUSED', 'the change is another one than you have read: read it again');
}
