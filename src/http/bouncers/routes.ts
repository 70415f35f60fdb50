/** The addresses of bouncers as routes. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Caller } from '../../account/caller.ts';
import { errorAnswer, jsonAnswer, send, write } from '../answer.ts';
import type { Gate } from '../auth/gate.ts';
import { type BodyLimit, BUSY, takeBody, turnAway } from '../bodies/body.ts';
import type { BodyBudget } from '../bodies/body-budget.ts';
import type { HttpFault } from '../errors.ts';
import { splitTarget, targetOf } from '../routes.ts';
import type { Shortcut } from '../server.ts';
import type { BouncerAnswer, BouncerEndpoints, BouncerRequest } from './answer.ts';

const METHODS = ['GET', 'HEAD'];
const STREAM = '/v1/decisions/stream';
const HELD = '/v1/decisions';
const USAGE = '/v1/usage-metrics';

const MOST_USAGE = 256 * 1024;
/** The body of usage metrics. */
export const USAGE_BODY: BodyLimit = {
  bytes: MOST_USAGE,
  tooLarge: { status: 413, message: `Usage metrics have at most ${MOST_USAGE / 1024} KiB` },
};
const GOOD_KEY = jsonAnswer(200, '', { 'Cache-Control': 'no-store' });

/** What bouncers pull: what has changed, and what holds now. */
type Pull = (request: BouncerRequest) => Promise<BouncerAnswer | HttpFault>;

/** What a pull is answered with, and what is to be done once all of it was sent. */
type PullAnswer = Pick<BouncerAnswer, 'answer'> & Partial<BouncerAnswer>;

/** Tells the address of the client behind a request. */
type AddressOf = (request: IncomingMessage) => string;

/** What the addresses of bouncers need. */
interface BouncerRouteParts {
  readonly gate: Gate;
  readonly budget: BodyBudget;
  readonly endpoints: BouncerEndpoints;
  readonly addressOf: AddressOf;
  /** Called for each request for whose body there is no room. */
  readonly onBusy: () => void;
}

/** Registers the addresses that bouncers pull, and where they report. */
export function registerBouncers(app: FastifyInstance, { gate, budget, endpoints, addressOf, onBusy }: BouncerRouteParts): void {
  for (const [url, pull] of [
    [STREAM, endpoints.stream],
    [HELD, endpoints.held],
  ] as const) {
    app.route({
      method: METHODS,
      url,
      async handler(request, reply) {
        const found = await answerPull(pull, await admit(gate, request), request.raw, addressOf);
        reply.hijack();
        finish(reply.raw, found);
      },
    });
  }
  app.route({
    method: 'POST',
    url: USAGE,
    async handler(request, reply) {
      const caller = await admit(gate, request);
      if ('status' in caller) return turnAway(request, reply, errorAnswer('bouncer', caller));
      const holding = budget.open(caller.keyId);
      try {
        const body = await takeBody(request.raw, reply.raw, holding, USAGE_BODY);
        if (body === undefined) return void reply.hijack();
        if (body === BUSY) onBusy();
        if ('status' in body) return turnAway(request, reply, errorAnswer('bouncer', body));
        const found = endpoints.usage(requestOf(caller, request.raw, addressOf), body);
        send(reply, 'body' in found ? found : errorAnswer('bouncer', found));
      } finally {
        holding.release();
      }
    },
  });
}

/**
 * Answers the pulls of recognised bouncers before the router sees them: a thousand bouncers pull all the time. `report` gets the errors
 * that clients see only as 500, `onKey` is told whose request it is.
 */
export function bouncerShortcut(
  gate: Gate,
  endpoints: BouncerEndpoints,
  addressOf: AddressOf,
  report: (error: unknown) => void,
  onKey: (request: IncomingMessage, keyId: string) => void,
): Shortcut {
  return (request, response, at) => {
    if (!METHODS.includes(request.method!) || splitTarget(request.url!)[0] !== STREAM) return false;
    const caller = gate.admitRecognised(authorizationOf(request.headers), request.socket, at);
    if (caller === undefined) return false;
    const key = 'status' in caller ? caller.by : caller;
    if (key !== undefined) onKey(request, key.keyId);
    answerPull(endpoints.stream, caller, request, addressOf)
      .then((found) => finish(response, found))
      .catch((error) => {
        report(error);
        write(response, errorAnswer('bouncer', { status: 500 }));
      });
    return true;
  };
}

/** The answer to a pull of a bouncer, or to one who may not. */
async function answerPull(pull: Pull, caller: Caller | HttpFault, request: IncomingMessage, addressOf: AddressOf): Promise<PullAnswer> {
  if ('status' in caller) return { answer: errorAnswer('bouncer', caller) };
  // Whether the key is good is all that HEAD asks for: the bouncer learns nothing.
  if (request.method === 'HEAD') return { answer: GOOD_KEY };
  const found = await pull(requestOf(caller, request, addressOf));
  return 'status' in found ? { answer: errorAnswer('bouncer', found) } : found;
}

function finish(response: ServerResponse, { answer, onSent }: PullAnswer): void {
  if (onSent !== undefined) {
    response.once('close', () => {
      if (response.writableFinished) onSent();
    });
  }
  write(response, answer);
}

/** Bouncers send their key in a header of their own. */
function authorizationOf({ 'x-api-key': key, authorization }: IncomingHttpHeaders): string | undefined {
  return key === undefined ? authorization : `Bearer ${key}`;
}

function admit(gate: Gate, { ip, raw, headers }: FastifyRequest): ReturnType<Gate['admit']> {
  const authorization = authorizationOf(headers);
  return gate.admit({ ip, raw, headers: authorization === undefined ? {} : { authorization } });
}

function requestOf(caller: Caller, request: IncomingMessage, addressOf: AddressOf): BouncerRequest {
  const [, query = ''] = splitTarget(targetOf(request.url!));
  const { 'user-agent': userAgent = '', 'accept-encoding': acceptEncoding } = request.headers;
  return { caller, userAgent, address: addressOf(request), query, acceptEncoding: acceptEncoding?.toString() };
}
