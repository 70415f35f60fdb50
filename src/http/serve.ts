/** Route, authenticate, authorize, read the body, respond. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { allows } from '../account/permission.ts';
import { type Clocks, instantOf } from '../clock.ts';
import { type Address, type GateName, type GateResults, pathsOf } from './address.ts';
import { type Answer, errorAnswer } from './answer.ts';
import { missing } from './auth/gate.ts';
import { answerEarly, BUSY, freeBytes, takeBody } from './bodies/body.ts';
import type { BodyBudget } from './bodies/body-budget.ts';
import type { Answered, Call } from './call.ts';
import { type HttpFault, isSignalShape, malformedIn } from './errors.ts';
import type { RequestWatch } from './monitor/request-watch.ts';
import type { Endpoint, Found } from './router.ts';
import { sourceOf } from './source.ts';

export type Gates = {
  readonly [G in GateName]: (call: Call, row: Address) => GateResults[G] | HttpFault | Promise<GateResults[G] | HttpFault>;
};
type GateResult = GateResults[GateName];

export type By = NonNullable<HttpFault['by']>;

export interface ServeParts {
  readonly find: (method: string, target: string) => Found;
  readonly gates: Gates;
  /** For requests with a key, and for all others by address. */
  readonly budget: BodyBudget;
  readonly guests?: BodyBudget;
  readonly clocks: Clocks;
  readonly addressOf: (request: IncomingMessage) => string;
  /** Without, requests are not timed. */
  readonly watches?: readonly RequestWatch[];
  readonly onBusy?: () => void;
  /** After each answered poll with a valid key. */
  readonly onPoll?: ((row: Address, call: Call, by: By, answered: Answer | HttpFault) => void) | undefined;
  readonly report: (error: unknown, request: { readonly method: string; readonly route: string }) => void;
}

/** `fault`: invalid HTTP, sent in the shape of the address; the connection closes. */
export type Serve = (request: IncomingMessage, response: ServerResponse, fault?: HttpFault) => void;

export function requestServer({
  find,
  gates,
  budget,
  guests = budget,
  clocks,
  addressOf,
  watches = [],
  onBusy,
  onPoll,
  report,
}: ServeParts): Serve {
  const beginners = watches.filter(({ begin }) => begin !== undefined);

  return (request, response, fault) => {
    const at = instantOf(clocks);
    const found = find(request.method!, request.url!);
    const { name } = found;
    for (const { begin } of beginners) begin!(request, response, name);
    if (fault !== undefined) refuse(request, response, found, fault);
    else {
      const { params, isMalformed, query } = found;
      serve(found, { request, response, at, ip: addressOf(request), params, isMalformed, query });
    }
    if (watches.length > 0) watchEnd(request, response, name, at.monotonic);
  };

  /** A response complete at once ends when the socket accepts it, any other with its last byte. */
  function watchEnd(request: IncomingMessage, response: ServerResponse, name: string, begun: number): void {
    const end = () => {
      const ms = clocks.monotonic() - begun;
      for (const watch of watches) watch.end(request, response, ms, name);
    };
    if (response.writableEnded) end();
    else response.once('close', end);
  }

  function serve(found: Found, call: Call): void {
    const { endpoint } = found;
    const fault = faultOf(found);
    if (fault !== undefined || 'status' in endpoint) finish(found, call, fault ?? (endpoint as HttpFault));
    else answerAt(endpoint, found, call);
  }

  /** Synchronous if nothing has to be awaited. */
  function answerAt(endpoint: Endpoint, found: Found, call: Call): void {
    const { row } = endpoint;
    try {
      const admitted = gates[row.gate](call, row);
      const answered = admitted instanceof Promise ? undefined : answerTo(endpoint, call, admitted);
      if (answered === undefined || answered instanceof Promise) void answerLater(endpoint, found, call, admitted, answered);
      else end(row, found, call, admitted as GateResult | HttpFault, answered);
    } catch (error) {
      fail(row, found, call, error);
    }
  }

  async function answerLater(
    endpoint: Endpoint,
    found: Found,
    call: Call,
    admission: GateResult | HttpFault | Promise<GateResult | HttpFault>,
    answering: Promise<Answer | HttpFault | undefined> | undefined,
  ): Promise<void> {
    try {
      const admitted = await admission;
      const answered = await (answering ?? answerTo(endpoint, call, admitted));
      if (answered !== undefined) end(endpoint.row, found, call, admitted, answered);
    } catch (error) {
      fail(endpoint.row, found, call, error);
    }
  }

  function end(row: Address, found: Found, call: Call, admitted: GateResult | HttpFault, answered: Answer | HttpFault): void {
    finish(found, call, answered);
    if (onPoll === undefined || row.isPolled === undefined) return;
    const by = isFault(admitted) ? admitted.by : (admitted as GateResults['key']);
    if (by !== undefined) onPoll(row, call, by, answered);
  }

  function fail(row: Address, found: Found, call: Call, error: unknown): void {
    report(error, { method: call.request.method!, route: pathsOf(row)[0]! });
    finish(found, call, { status: 500 });
  }

  /** undefined: the client disconnected. */
  function answerTo(endpoint: Endpoint, call: Call, admitted: GateResult | HttpFault): Answered | Promise<Answer | HttpFault | undefined> {
    if (isFault(admitted)) return admitted;
    const { row } = endpoint;
    const refusal = refusalOf(row, admitted);
    if (refusal !== undefined) return refusal;
    return row.body === undefined ? ask(endpoint, call, admitted, NO_BODY) : receive(endpoint, call, admitted, row.body);
  }

  async function receive(endpoint: Endpoint, call: Call, admitted: GateResult, limit: NonNullable<Address['body']>) {
    const caller = callerOf(admitted);
    const reservation = caller === null ? guests.open(sourceOf(call.ip)) : budget.open(caller.keyId, caller.workspaceId);
    let until: Promise<unknown> | undefined;
    let bytes: Buffer | undefined;
    const letGo = () => {
      reservation.release();
      if (bytes !== undefined) freeBytes(bytes);
    };
    try {
      const body = await takeBody(call.request, call.response, reservation, limit);
      if (body === BUSY) onBusy?.();
      if (body === undefined || 'status' in body) return body;
      bytes = body;
      const answered = await ask(endpoint, call, admitted, body);
      if ('body' in answered) ({ until } = answered);
      return answered;
    } finally {
      if (until === undefined) letGo();
      else void until.finally(letGo);
    }
  }
}

const NO_BODY = Buffer.alloc(0);

/** For a malformed path. Feeds check the key first (spec 5.1). */
function faultOf({ endpoint, group, isMalformed }: Found): HttpFault | undefined {
  if (!isMalformed) return undefined;
  const isNowhere = 'status' in endpoint && endpoint.status === 404;
  return isNowhere || group !== 'feed' ? malformedIn(group) : undefined;
}

const isFault = (admitted: GateResult | HttpFault): admitted is HttpFault => admitted !== null && 'status' in admitted;

function refusalOf(row: Address, admitted: GateResult): HttpFault | undefined {
  const refusal = row.may?.(admitted);
  if (refusal !== undefined) return refusal;
  const caller = callerOf(admitted);
  return row.needs == null || caller === null || allows(caller.permissions, row.needs) ? undefined : missing(row.needs);
}

const callerOf = (admitted: GateResult) => (admitted !== null && 'caller' in admitted ? admitted.caller : admitted);

function ask({ row, answer }: Endpoint, call: Call, admitted: GateResult, body: Buffer): Answered {
  const asked = row.read(call, admitted, body);
  return asked !== null && typeof asked === 'object' && 'status' in asked ? (asked as HttpFault) : answer(asked);
}

function finish({ group }: Found, { request, response }: Call, answered: Answer | HttpFault): void {
  const answer = 'body' in answered ? answered : errorAnswer(group, answered);
  const { onSent, onClosed } = answer;
  // `close` does not fire again for a client that disconnected earlier.
  if (response.closed) onClosed?.();
  else if (onSent !== undefined || onClosed !== undefined) {
    response.once('close', () => {
      if (response.writableFinished) onSent?.();
      onClosed?.();
    });
  }
  answerEarly(request, response, answer);
}

function refuse(request: IncomingMessage, response: ServerResponse, { group }: Found, { status, message, details }: HttpFault): void {
  response.shouldKeepAlive = false;
  answerEarly(request, response, errorAnswer(group, { status, message, details: isSignalShape(group) ? details : undefined }));
}
