/** SPEC D15.1 to D15.12. */
import { hash } from 'node:crypto';
import { parse } from 'node:querystring';
import { authorOf } from '../../account/caller.ts';
import { WeirError } from '../../errors.ts';
import { runOrWait } from '../../manage/approvals/settings.ts';
import type { ManageContext, ManagePorts } from '../../manage/context.ts';
import type { Method, Operation } from '../../manage/operation.ts';
import type { Outcome } from '../../manage/outcome.ts';
import { requireQuota } from '../../manage/quota.ts';
import { OPERATIONS } from '../../manage/table.ts';
import { ANSWER_RETENTION } from '../../ports/stored/account-store.ts';
import { fewAtOnce } from '../../serial.ts';
import type { Answer } from '../answer.ts';
import type { BodyLimit } from '../bodies/body.ts';
import type { Call } from '../call.ts';
import type { Origins } from '../enroll/origin.ts';
import { errorFields, type HttpFault } from '../errors.ts';
import { strongTags } from '../feeds/conditional.ts';
import { type Accepts, acceptsOf, outcomeAnswer } from './answered.ts';
import { faultOf, NO_TOKEN, OTHER_REQUEST, refusalOf, tooLarge, WHICH_STATE } from './faults.ts';
import type { Identity } from './identify.ts';
import { inputReader } from './input.ts';
import { storeInTurns } from './store-in-turns.ts';

export const MANAGE = '/v1/manage';
/** Bytes. */
export const USUAL_BODY = 64 * 1024;
const TOKEN = /^[\x21-\x7e]{1,200}$/;

export const mayNot =
  (operation: Operation) =>
  ({ caller, actor }: Identity): HttpFault | undefined =>
    refusalOf(caller, operation) ?? (typeof actor === 'object' && actor !== null ? actor : undefined);

export const bodyOf = ({ method, bodyBytes = USUAL_BODY }: Operation): BodyLimit | undefined =>
  method === 'GET' ? undefined : { bytes: bodyBytes, tooLarge: tooLarge(bodyBytes) };

interface Asked {
  readonly given: GivenInput;
  readonly about: About;
  readonly accepts: Accepts;
  readonly call: Call;
}
type About = Pick<
  ManageContext,
  'workspaceId' | 'caller' | 'by' | 'permissions' | 'keyExpiresAt' | 'keyNetworks' | 'ifMatch' | 'once' | 'isDisconnected'
>;

export function readOperation(operation: Operation): (call: Call, identity: Identity, bytes: Buffer) => Asked | HttpFault {
  const read = inputReader(operation);
  return (call, identity, bytes) => {
    const given = read({ params: call.params, query: parse(call.query, '&', '=', ALL), bytes });
    const about = aboutOf(operation, identity, call, bytes);
    if ('status' in given) return given as HttpFault;
    return 'status' in about ? about : { given, about, accepts: acceptsOf(operation.method, call.request.headers), call };
  };
}

/** Reads every parameter, without a limit. */
const ALL = { maxKeys: 0 };

/** Requests per kind and workspace: each holds its data and response in memory. */
const AT_ONCE = 2;

export function done(
  operation: Operation,
  ports: ManagePorts,
  origins?: Pick<Origins, 'of'>,
): (asked: Asked) => Promise<Answer | HttpFault> {
  const isRead = operation.method === 'GET';
  const isLong = ({ given: { query } }: Asked) =>
    operation.isLong === true || (query as Record<string, unknown>)[operation.isLong ?? ''] !== undefined;
  const few = fewAtOnce(AT_ONCE);
  const answered = async (asked: Asked, inTurn: ManagePorts['inTurn']): Promise<Answer | HttpFault> => {
    const { given, about, accepts, call } = asked;
    const { workspaceId, isDisconnected } = about;
    const origin = origins?.of(call.request);
    const stay = () => {
      // Stop work for a disconnected client.
      if (isDisconnected()) throw new WeirError('REFUSED', 'the client has disconnected');
    };
    // Requests that arrive together, or wait for the same, must let polls in between.
    const turn = async () => {
      await ports.turnOf(workspaceId);
      if (isRead) stay();
    };
    await ports.turnOf(workspaceId);
    const store = storeInTurns(ports.store, turn);
    const steps = ports.stepsOf(workspaceId);
    const step: ManageContext['step'] = async (work) => {
      stay();
      return steps(work);
    };
    const work = () =>
      perform(operation, { ...ports, ...about, origin, inTurn, store, step, pause: () => step(async () => undefined) }, given);
    const fairQueue = () =>
      few(async () => {
        stay();
        return work();
      }, workspaceId);
    const asOne = async () => asOutcome(await (isRead ? work() : fairQueue()));
    const outcome = isLong(asked) ? await ports.asyncOperations.inTime(about.caller, asOne) : await work();
    return 'body' in outcome ? outcomeAnswer(outcome, accepts, MANAGE) : outcome;
  };
  return (asked) => {
    if (isLong(asked)) return orFault(answered(asked, ports.inTurn));
    // One deadline for all waits of a request, well below the idle timeout of a connection.
    const until = performance.now() + ports.patience;
    const left = () => until - performance.now();
    const work = () => answered(asked, (each, name) => ports.inTurn(each, name, left()));
    return orFault(isRead ? few(work, asked.about.workspaceId, left()) : work());
  };
}

async function orFault(answer: Promise<Answer | HttpFault>): Promise<Answer | HttpFault> {
  try {
    return await answer;
  } catch (error) {
    const fault = faultOf(error);
    if (fault === undefined) throw error;
    return fault;
  }
}

const asOutcome = (done: Outcome | HttpFault): Outcome =>
  'body' in done ? done : { status: done.status, body: errorFields(done), headers: done.headers };

function aboutOf(operation: Operation, { caller, actor }: Identity, { request, response }: Call, bytes: Buffer): About | HttpFault {
  const { headers, method, url } = request;
  const ifMatch = headers['if-match'];
  if (operation.edits && ifMatch === undefined) return WHICH_STATE;
  const token = operation.creates === undefined ? undefined : headers['idempotency-key'];
  if (token !== undefined && (typeof token !== 'string' || !TOKEN.test(token))) return NO_TOKEN;
  return {
    workspaceId: caller.workspaceId,
    // Messages sent for the caller name the person.
    caller: actor === null ? caller : { ...caller, actor: actor as string },
    by: authorOf(caller, actor as string | null),
    permissions: caller.permissions,
    keyExpiresAt: caller.expiresAt,
    keyNetworks: caller.networks,
    isDisconnected: () => request.socket.destroyed && !response.headersSent,
    ifMatch: operation.edits && ifMatch !== undefined ? strongTags(ifMatch) : undefined,
    once:
      token === undefined
        ? undefined
        : { keyId: caller.keyId, token, fingerprint: hash('sha256', Buffer.concat([Buffer.from(`${method} ${url}\n`), bytes])) },
  };
}

type GivenInput = Parameters<Operation['run']>[1];

async function perform(operation: Operation, context: ManageContext, given: GivenInput): Promise<Outcome | HttpFault> {
  const { once, workspaceId } = context;
  const work = () => doOrRefuse(operation, context, given);
  // The store serializes them; each waiting there would hold a connection that other workspaces need.
  if (operation.creates === 'in_store' || operation.edits)
    return context.inTurn(() => context.pause().then(work), `changes ${workspaceId}`);
  // Only store transactions detect a concurrent request with the same key.
  return once !== undefined && operation.creates === 'elsewhere' ? context.inTurn(work, `${once.keyId} ${once.token}`) : work();
}

async function doOrRefuse(operation: Operation, context: ManageContext, given: GivenInput): Promise<Outcome | HttpFault> {
  try {
    return (await doneBefore(operation, context)) ?? (await doNow(operation, context, given));
  } catch (error) {
    const fault = faultOf(error);
    // A concurrent request with the same Idempotency-Key may have finished first.
    const earlier = fault === undefined ? undefined : await doneBefore(operation, context);
    if (earlier !== undefined) return earlier;
    if (fault === undefined) throw error;
    return fault.status === 412 ? { ...fault, ...(await currentState(operation, context, given)) } : fault;
  }
}

async function doNow(operation: Operation, context: ManageContext, given: GivenInput): Promise<Outcome> {
  const isPreview = (given.body as { preview?: unknown }).preview === true || (given.query as { preview?: unknown }).preview === true;
  if (!isPreview) await requireQuota(operation, context);
  const value = await runOrWait(operation, context, given);
  // A preview changes nothing and may be repeated.
  if (context.once !== undefined && operation.creates === 'elsewhere' && !isPreview) {
    await context.store.rememberAnswer(context.workspaceId, context.once, JSON.stringify(value));
  }
  return outcomeOf(operation, value, context);
}

const outcomeOf = ({ status, show }: Operation, value: unknown, context: ManageContext): Outcome => ({
  ...(status !== undefined && { status }),
  ...show(value, context),
});

async function doneBefore(operation: Operation, context: ManageContext): Promise<Outcome | HttpFault | undefined> {
  const { once, store, workspaceId, now } = context;
  if (once === undefined) return undefined;
  const earlier = await store.earlierAnswer(workspaceId, { keyId: once.keyId, token: once.token }, now() - ANSWER_RETENTION);
  if (earlier === undefined) return undefined;
  return earlier.fingerprint === once.fingerprint ? outcomeOf(operation, JSON.parse(earlier.answer), context) : OTHER_REQUEST;
}

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
