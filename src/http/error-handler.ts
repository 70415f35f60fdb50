import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { errorAnswer, send } from './answer.ts';
import { type Group, type HttpFault, isSignalShape } from './errors.ts';
import { groupOf } from './routes.ts';
import { MALFORMED } from './signals/submit.ts';

/**
 * Answers an error of Fastify or of a handler, in the shape of the address's group. An error that is not the client's is logged and
 * answered 500.
 */
export function handleError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const group = groupOf(request.url);
  send(reply, errorAnswer(group, clientFault(error, group) ?? serverFault(error, request)));
}

/** What the client did wrong; undefined when the error is ours. */
function clientFault({ code, statusCode = 500 }: FastifyError, group: Group): HttpFault | undefined {
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') return { status: 404 };
  if (statusCode < 400 || statusCode > 499) return undefined;
  return malformedIn(group);
}

/** The fault of a malformed request, in the shape of a group. */
export const malformedIn = (group: Group): HttpFault => (isSignalShape(group) ? MALFORMED : { status: 400, message: 'Malformed request' });

function serverFault(err: Error, { method, routeOptions, log }: FastifyRequest): HttpFault {
  log.error({ err, method, route: routeOptions.url }, 'a request failed');
  return { status: 500 };
}
