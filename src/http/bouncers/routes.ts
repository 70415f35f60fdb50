/** The addresses of bouncers as routes. */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../account/caller.ts';
import { type Answer, errorAnswer, jsonAnswer, send } from '../answer.ts';
import type { Gate } from '../auth/gate.ts';
import type { HttpFault } from '../errors.ts';
import { targetOf } from '../routes.ts';
import type { BouncerAnswer, BouncerEndpoints, BouncerRequest } from './answer.ts';

const STREAM = '/v1/decisions/stream';
const HELD = '/v1/decisions';
const USAGE = '/v1/usage-metrics';

/** Bytes of usage metrics. */
const MOST_USAGE = 256 * 1024;
export const TOO_LARGE: HttpFault = {
  status: 413,
  message: `Usage metrics have at most ${MOST_USAGE / 1024} KiB`,
  headers: { Connection: 'close' },
};
const GOOD_KEY = jsonAnswer(200, '', { 'Cache-Control': 'no-store' });

/** Registers the addresses that bouncers pull, and where they report. */
export function registerBouncers(app: FastifyInstance, gate: Gate, endpoints: BouncerEndpoints): void {
  const answered =
    (answer: (request: BouncerRequest) => Promise<BouncerAnswer | HttpFault>) => async (request: FastifyRequest, reply: FastifyReply) => {
      const caller = await admit(gate, request);
      if ('status' in caller) return refuse(reply, caller);
      // Whether the key is good is all that HEAD asks for: the bouncer learns nothing.
      if (request.method === 'HEAD') return send(reply, GOOD_KEY);
      const found = await answer(requestOf(caller, request));
      if ('status' in found) return refuse(reply, found);
      reply.raw.once('close', () => {
        if (reply.raw.writableFinished) found.onSent();
      });
      send(reply, found.answer);
    };
  for (const [url, answer] of [
    [STREAM, endpoints.stream],
    [HELD, endpoints.held],
  ] as const) {
    app.route({ method: ['GET', 'HEAD'], url, handler: answered(answer) });
  }
  app.route({
    method: 'POST',
    url: USAGE,
    async handler(request, reply) {
      const caller = await admit(gate, request);
      if ('status' in caller) return refuse(reply, caller);
      const body = await readSmall(request.raw);
      const found = body === undefined ? TOO_LARGE : endpoints.usage(requestOf(caller, request), body);
      if ('body' in found) send(reply, found as Answer);
      else refuse(reply, found as HttpFault);
    },
  });
}

/** Bouncers send their key in a header of their own. */
function admit(gate: Gate, { ip, raw, headers }: FastifyRequest): ReturnType<Gate['admit']> {
  const key = headers['x-api-key'];
  return gate.admit({ ip, raw, headers: key === undefined ? headers : { authorization: `Bearer ${key}` } });
}

const refuse = (reply: FastifyReply, fault: HttpFault) => send(reply, errorAnswer('bouncer', fault));

function requestOf(caller: Caller, { ip, url, headers }: FastifyRequest): BouncerRequest {
  const target = targetOf(url);
  const mark = target.indexOf('?');
  const { 'user-agent': userAgent = '', 'accept-encoding': acceptEncoding } = headers;
  return { caller, userAgent, address: ip, query: mark < 0 ? '' : target.slice(mark + 1), acceptEncoding: acceptEncoding?.toString() };
}

/** A small body; undefined when it is larger. */
async function readSmall(request: IncomingMessage): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > MOST_USAGE) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
