/** Operations that change feeds otherwise than by messages (SPEC D67.6): they wait as a whole, and run as their requester. */
import { hash } from 'node:crypto';
import { v7 } from 'uuid';
import { approvalReason, isWayBack } from '../../account/large.ts';
import { WeirError } from '../../errors.ts';
import type { AccessRule } from '../../rule.ts';
import type { ApprovedRunner, ManageContext, Requester } from '../context.ts';
import type { Operation } from '../operation.ts';
import { closed, opened } from './content.ts';
import { APPROVAL_LIFETIME, waits } from './gate.ts';
import { type Excess, type MessageSize, NOTHING, sizeOfTarget, sum } from './size.ts';

type Given = Parameters<Operation['run']>[1];

/** Between two steps of counting, and at most. */
const STEP = 1000;
const MOST_COUNTED = 250_000;

/** `bytes` in base64; `of`: the objects that it names. */
interface Asked extends Pick<Given, 'params' | 'query' | 'body'>, Requester {
  readonly bytes: string;
  readonly of: string;
}

interface Waiting extends Excess {
  readonly of: string;
  readonly refusal?: string | undefined;
}

/** An upper bound: all rules of the lists, without those of the last day. undefined: it need not wait. */
async function excessOf({ touches }: Operation, context: ManageContext, given: Given): Promise<Waiting | undefined> {
  if (touches === undefined) return undefined;
  const { store, workspaceId, pause } = context;
  const workspace = await store.workspace(workspaceId);
  if (workspace === undefined || (workspace.approval ?? 'none') === 'none') return undefined;
  const touched = await touches(context, given);
  if (touched === null) return undefined;
  const [of, refusal] = [JSON.stringify(touched.of), touched.refusal];
  if ('why' in touched) return { ...NOTHING, why: touched.why, of, refusal };
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
      if (size.rules % STEP === 0) await pause();
      if (size.rules === MOST_COUNTED) break;
    }
  }
  const { addresses, places, rules } = size;
  const why = approvalReason(workspace, { isSignal: false, addresses, places, networks: rules, before: rules });
  return why === undefined ? undefined : { ...size, why, of, refusal };
}

/** Runs an operation, or rejects as `waitIfLarge`. */
export async function runOrWait(operation: Operation, context: ManageContext, given: Given): Promise<unknown> {
  await waitIfLarge(operation, context, given);
  return operation.run(context, given);
}

/** Stores an operation over the limit and rejects with REFUSED. */
export async function waitIfLarge(operation: Operation, context: ManageContext, given: Given): Promise<void> {
  const excess = await excessOf(operation, context, given);
  if (excess === undefined) return;
  if (excess.refusal !== undefined) throw new WeirError('REFUSED', `${excess.why}: it needs approval, but ${excess.refusal}`);
  const { caller, by, permissions, keyExpiresAt, keyNetworks, ifMatch } = context;
  const { params, query, body } = given;
  const bytes = Buffer.from(given.bytes).toString('base64');
  const asked: Asked = { params, query, body, bytes, of: excess.of, caller, by, permissions, keyExpiresAt, keyNetworks, ifMatch };
  const request = {
    ...{ id: v7(), operation: operation.name, why: excess.why, by },
    ...{ addresses: excess.addresses, blocked: excess.blocked, rules: excess.rules },
    hash: hash('sha256', JSON.stringify([operation.name, params, query, body, bytes, excess.of])),
    content: await closed(context, JSON.stringify(asked)),
  };
  const { id } = await context.store.requestApproval(context.workspaceId, request, APPROVAL_LIFETIME);
  throw new WeirError('REFUSED', `the change ${waits(excess.why, id)}`);
}

async function askedIn(context: Parameters<typeof opened>[0], content: Uint8Array) {
  const { params, query, body, bytes, of, ...requester } = JSON.parse(await opened(context, content)) as Asked;
  return { requester, of, given: { params, query, body, bytes: Buffer.from(bytes, 'base64') } };
}

/** Runs an approved operation as its requester. Its audit rows have the request as their act: evidence that it is done (SPEC D67.12). */
export async function runAsked(operation: Operation, ...[, context, id, content]: Parameters<ApprovedRunner['run']>): Promise<void> {
  const { requester, given } = await askedIn(context, content);
  await operation.run({ ...context, ...requester, by: { ...requester.by, act: id }, once: undefined }, given);
}

/** The effect now; undefined: it would not wait any more. Rejects with REFUSED if its names mean other objects (SPEC D67.11). */
export async function excessNow(operation: Operation, context: ManageContext, content: Uint8Array): Promise<Excess | undefined> {
  const { requester, of, given } = await askedIn(context, content);
  const about = { ...context, ...requester };
  const touched = await operation.touches?.(about, given);
  if (touched != null && JSON.stringify(touched.of) !== of)
    throw new WeirError('REFUSED', 'the objects that it names, or their settings, have changed since: reject it and request it again');
  return excessOf(operation, about, given);
}
