import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Caller } from '../../account/caller.ts';
import { errorAnswer, jsonAnswer, send } from '../answer.ts';
import type { Gate } from '../auth/gate.ts';
import type { SubmitSignals } from './submit.ts';

/** What the signal endpoints need. */
export interface SignalRouteParts {
  readonly gate: Gate;
  readonly submit: SubmitSignals;
}

/** `POST /v1/signal` and `/v2/signal`: callers are admitted before their body is read (spec 5). */
export function registerSignals(app: FastifyInstance, { gate, submit }: SignalRouteParts): void {
  const callers = new WeakMap<FastifyRequest, Caller>();
  for (const version of [1, 2] as const) {
    app.route({
      method: 'POST',
      url: `/v${version}/signal`,
      async onRequest(request, reply) {
        // A body is judged by its bytes, and Fastify would refuse a malformed content type.
        delete request.raw.headers['content-type'];
        const verdict = await gate.admit(request);
        if (!('status' in verdict)) callers.set(request, verdict);
        else send(reply, errorAnswer('signal', verdict));
      },
      async handler(request, reply) {
        const caller = callers.get(request)!;
        const body = (request.body as Buffer | undefined) ?? Buffer.alloc(0);
        const answer = await submit({ version, caller, query: request.query as Record<string, unknown>, body });
        send(reply, 'body' in answer ? jsonAnswer(answer.status, JSON.stringify(answer.body)) : errorAnswer('signal', answer));
      },
    });
  }
}
