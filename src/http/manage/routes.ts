/** The operations of management as routes: who asks, may he, what does he ask for, in this order (SPEC D15.1 to D15.12). */
import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ManageContext, ManagePorts } from '../../manage/context.ts';
import type { Method, Operation, Outcome } from '../../manage/operation.ts';
import { requireRoom } from '../../manage/room.ts';
import { OPERATIONS } from '../../manage/table.ts';
import { inTurn } from '../../manage/turns.ts';
import { ANSWER_KEPT } from '../../ports/account-store.ts';
import { type Answer, errorAnswer, jsonAnswer, send } from '../answer.ts';
import { anyType, BUSY, takeBody, turnAway } from '../bodies/body.ts';
import type { BodyBudget, BodyHolding } from '../bodies/body-budget.ts';
import type { HttpFault } from '../errors.ts';
import { strongTags } from '../feeds/conditional.ts';
import { MANAGE } from '../routes.ts';
import { faultOf, NO_TOKEN, OTHER_REQUEST, refusalOf, tooLarge, WHICH_STATE } from './faults.ts';
import type { Identify, Identity } from './identify.ts';
import { inputReader, type ReadInput } from './input.ts';

/** What the management API needs. */
export interface ManageRouteParts {
  readonly identify: Identify;
  readonly budget: BodyBudget;
  readonly ports: ManagePorts;
  /** Called for each request for whose body there is no room. */
  readonly onBusy: () => void;
}

/** Bytes of a body, where an operation says nothing. */
export const USUAL_BODY = 64 * 1024;
const TOKEN = /^[\x21-\x7e]{1,200}$/;

/** Registers every operation at its path below /v1/manage. */
export function registerManage(app: FastifyInstance, parts: ManageRouteParts): void {
  for (const operation of OPERATIONS) {
    const read = inputReader(operation);
    app.route({
      method: operation.method === 'GET' ? ['GET', 'HEAD'] : operation.method,
      url: MANAGE + operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      onRequest: anyType,
      handler: (request, reply) => answer(operation, read, parts, request, reply),
    });
  }
}

async function answer(
  operation: Operation,
  read: ReadInput,
  parts: ManageRouteParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const identity = await parts.identify(request);
  if ('status' in identity) return refuse(request, reply, identity);
  const refusal = refusalOf(identity.caller, operation) ?? actorFault(identity);
  if (refusal !== undefined) return refuse(request, reply, refusal);
  const holding = parts.budget.open(identity.caller.keyId);
  try {
    const bytes = await bodyOf(operation, holding, parts.onBusy, request, reply);
    if (bytes === undefined) return;
    const given = read({ params: request.params as Record<string, string>, query: request.query as Record<string, unknown>, bytes });
    const context = contextOf(operation, parts.ports, identity, request, bytes);
    const done = 'status' in given ? (given as HttpFault) : await perform(operation, context, given);
    send(reply, 'body' in done ? outcomeAnswer(done) : errorAnswer('manage', done));
  } finally {
    holding.release();
  }
}

const actorFault = ({ actor }: Identity): HttpFault | undefined => (typeof actor === 'object' && actor !== null ? actor : undefined);

/** The bytes of the body, none for an operation that takes none; undefined when the request is answered already, or its client gone. */
async function bodyOf(
  { method, bodyBytes = USUAL_BODY }: Operation,
  holding: BodyHolding,
  onBusy: () => void,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Buffer | undefined> {
  if (method === 'GET') return Buffer.alloc(0);
  const body = await takeBody(request.raw, reply.raw, holding, { bytes: bodyBytes, tooLarge: tooLarge(bodyBytes) });
  if (body === undefined) reply.hijack();
  if (body === undefined || Buffer.isBuffer(body)) return body;
  if (body === BUSY) onBusy();
  refuse(request, reply, body);
  return undefined;
}

/** What the operation is told of the request, or the fault of a header. */
function contextOf(
  operation: Operation,
  ports: ManagePorts,
  { caller, actor }: Identity,
  { headers, method, url }: FastifyRequest,
  bytes: Buffer,
): ManageContext | HttpFault {
  const ifMatch = headers['if-match'];
  if (operation.edits && ifMatch === undefined) return WHICH_STATE;
  const token = operation.creates === undefined ? undefined : headers['idempotency-key'];
  if (token !== undefined && (typeof token !== 'string' || !TOKEN.test(token))) return NO_TOKEN;
  return {
    ...ports,
    workspaceId: caller.workspaceId,
    caller,
    by: { keyId: caller.keyId, actor: actor as string | null },
    permissions: caller.permissions,
    keyExpiresAt: caller.expiresAt,
    ifMatch: operation.edits && ifMatch !== undefined ? strongTags(ifMatch) : undefined,
    once:
      token === undefined
        ? undefined
        : { keyId: caller.keyId, token, fingerprint: hash('sha256', Buffer.concat([Buffer.from(`${method} ${url}\n`), bytes])) },
  };
}

type GivenInput = Parameters<Operation['run']>[1];

async function perform(operation: Operation, context: ManageContext | HttpFault, given: GivenInput): Promise<Outcome | HttpFault> {
  if ('status' in context) return context;
  const { once } = context;
  const work = () => doOrRefuse(operation, context, given);
  // Only the store's own transactions find out that another request is doing the same.
  return once !== undefined && operation.creates === 'elsewhere' ? inTurn(`${once.keyId} ${once.token}`, work) : work();
}

async function doOrRefuse(operation: Operation, context: ManageContext, given: GivenInput): Promise<Outcome | HttpFault> {
  try {
    return (await doneBefore(operation, context)) ?? (await doNow(operation, context, given));
  } catch (error) {
    const fault = faultOf(error);
    // Another request with the same Idempotency-Key may have been quicker.
    const earlier = fault === undefined ? undefined : await doneBefore(operation, context);
    if (earlier !== undefined) return earlier;
    if (fault === undefined) throw error;
    return fault.status === 412 ? { ...fault, ...(await currentState(operation, context, given)) } : fault;
  }
}

async function doNow(operation: Operation, context: ManageContext, given: GivenInput): Promise<Outcome> {
  const isPreview = (given.body as { preview?: unknown }).preview === true || (given.query as { preview?: unknown }).preview === true;
  if (!isPreview) await requireRoom(operation, context);
  const value = await operation.run(context, given);
  // A preview changes nothing: it may be done again.
  if (context.once !== undefined && operation.creates === 'elsewhere' && !isPreview) {
    await context.store.rememberAnswer(context.workspaceId, context.once, JSON.stringify(value));
  }
  return operation.show(value, context);
}

/** The answer to the request with this Idempotency-Key, where there was one. */
async function doneBefore(operation: Operation, context: ManageContext): Promise<Outcome | HttpFault | undefined> {
  const { once, store, workspaceId, now } = context;
  if (once === undefined) return undefined;
  const earlier = await store.earlierAnswer(workspaceId, { keyId: once.keyId, token: once.token }, now() - ANSWER_KEPT);
  if (earlier === undefined) return undefined;
  return earlier.fingerprint === once.fingerprint ? operation.show(JSON.parse(earlier.answer), context) : OTHER_REQUEST;
}

/** What is now at the path of an operation that has found another state than was expected. */
async function currentState(
  { path }: Operation,
  context: ManageContext,
  given: GivenInput,
): Promise<Pick<HttpFault, 'current' | 'headers'>> {
  const reads = OPERATIONS.find((each) => each.path === path && each.method === ('GET' satisfies Method));
  if (reads === undefined) return {};
  const { body, tag } = reads.show(await reads.run(context, given), context);
  return { current: body, ...(tag !== undefined && { headers: { ETag: tag } }) };
}

const outcomeAnswer = ({ status = 200, body, tag, location }: Outcome): Answer =>
  jsonAnswer(status, JSON.stringify(body), {
    'Cache-Control': 'no-store',
    ...(tag !== undefined && { ETag: tag }),
    ...(location !== undefined && { Location: MANAGE + location }),
  });

const refuse = (request: FastifyRequest, reply: FastifyReply, fault: HttpFault) => turnAway(request, reply, errorAnswer('manage', fault));
