/** Operations that change feeds otherwise than by messages (SPEC D67.6): they wait as a whole, and run as their requester. */
import { hash } from 'node:crypto';
import { v7 } from 'uuid';
import { approvalReason, isWayBack } from '../../account/large.ts';
import { WeirError } from '../../errors.ts';
import type { ApprovalSize } from '../../ports/stored/approval-store.ts';
import type { AccessRule } from '../../rule.ts';
import type { ManageContext } from '../context.ts';
import type { Operation } from '../operation.ts';
import { closed, opened } from './content.ts';
import { APPROVAL_LIFETIME, waits } from './gate.ts';
import { type MessageSize, NOTHING, sizeOfTarget, sum } from './size.ts';

type Given = Parameters<Operation['run']>[1];

/** Between two steps of counting. */
const STEP = 1000;

/** `bytes` in base64. */
interface Asked
  extends Pick<Given, 'params' | 'query' | 'body'>,
    Pick<ManageContext, 'caller' | 'by' | 'permissions' | 'keyExpiresAt' | 'keyNetworks' | 'ifMatch'> {
  readonly bytes: string;
}

interface Excess extends ApprovalSize {
  readonly why: string;
}

/** An upper bound: all rules of the lists, without those of the last day. Stops above the limit. undefined: it need not wait. */
async function excessOf({ touches }: Operation, context: ManageContext, given: Given): Promise<Excess | undefined> {
  if (touches === undefined) return undefined;
  const { store, workspaceId, pause } = context;
  const workspace = await store.workspace(workspaceId);
  if (workspace === undefined || (workspace.approval ?? 'none') === 'none') return undefined;
  const touched = await touches(context, given);
  if (touched === null) return undefined;
  if ('why' in touched) return { ...NOTHING, why: touched.why };
  const now = await store.ping();
  let size: MessageSize = NOTHING;
  for (const listId of touched.lists ?? [undefined]) {
    for await (const { rule, createdAt } of store.rules(workspaceId, {
      kind: 'access_rule',
      now,
      ...(listId !== undefined && { listId }),
    })) {
      if (isWayBack(createdAt, now)) continue;
      size = sum(size, sizeOfTarget((rule as AccessRule).target, false));
      const { addresses, places, rules } = size;
      const why = approvalReason(workspace, { isSignal: false, addresses, places, networks: rules });
      if (why !== undefined) return { ...size, why };
      if (rules % STEP === 0) await pause();
    }
  }
  return undefined;
}

/** Runs an operation, or stores it and rejects with REFUSED. */
export async function runOrWait(operation: Operation, context: ManageContext, given: Given): Promise<unknown> {
  const excess = await excessOf(operation, context, given);
  if (excess === undefined) return operation.run(context, given);
  const { caller, by, permissions, keyExpiresAt, keyNetworks, ifMatch } = context;
  const { params, query, body } = given;
  const bytes = Buffer.from(given.bytes).toString('base64');
  const asked: Asked = { params, query, body, bytes, caller, by, permissions, keyExpiresAt, keyNetworks, ifMatch };
  const request = {
    ...{ id: v7(), operation: operation.name, why: excess.why, by },
    ...{ addresses: excess.addresses, blocked: excess.blocked, rules: excess.rules },
    hash: hash('sha256', JSON.stringify([operation.name, params, query, body, bytes])),
    content: await closed(context, JSON.stringify(asked)),
  };
  const { id } = await context.store.requestApproval(context.workspaceId, request, APPROVAL_LIFETIME);
  throw new WeirError('REFUSED', `the change ${waits(excess.why, id)}`);
}

async function askedIn(context: ManageContext, content: Uint8Array) {
  const { params, query, body, bytes, ...requester } = JSON.parse(await opened(context, content)) as Asked;
  return { requester, given: { params, query, body, bytes: Buffer.from(bytes, 'base64') } };
}

/** Runs an approved operation as its requester. */
export async function runAsked(operation: Operation, context: ManageContext, content: Uint8Array): Promise<void> {
  const { requester, given } = await askedIn(context, content);
  await operation.run({ ...context, ...requester, once: undefined }, given);
}

/** The effect now; undefined: it would not wait any more. */
export async function excessNow(operation: Operation, context: ManageContext, content: Uint8Array): Promise<Excess | undefined> {
  const { requester, given } = await askedIn(context, content);
  return excessOf(operation, { ...context, ...requester }, given);
}
