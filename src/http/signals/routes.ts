import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Answer, errorAnswer, jsonAnswer, send } from '../answer.ts';
import type { Gate } from '../auth/gate.ts';
import type { HttpFault } from '../errors.ts';
import type { TraceOf } from '../traces.ts';
import { answerEarly, awaitsContinue, BUSY, freeBytes, readBody, refuseBody } from './body.ts';
import type { BodyBudget } from './body-budget.ts';
import type { SignalAnswer, SubmitSignals } from './submit.ts';

/** What the signal endpoints need. */
export interface SignalRouteParts {
  readonly gate: Gate;
  readonly budget: BodyBudget;
  readonly submit: SubmitSignals;
  /** Called for each request for whose body there is no room. */
  readonly onBusy: () => void;
  /** The step of a trace that a request belongs to. */
  readonly traceOf: TraceOf;
}

/** `POST /v1/signal` and `/v2/signal`: callers are admitted, and room is found, before their body is read (spec 5). */
export function registerSignals(app: FastifyInstance, { gate, budget, submit, onBusy, traceOf }: SignalRouteParts): void {
  for (const version of [1, 2] as const) {
    app.route({
      method: 'POST',
      url: `/v${version}/signal`,
      onRequest({ raw }, _reply, done) {
        // A body is judged by its bytes, and Fastify would refuse a malformed content type.
        delete raw.headers['content-type'];
        done();
      },
      async handler(request, reply) {
        const caller = await gate.admit(request);
        if ('status' in caller) return refuse(request, reply, caller);
        const holding = budget.open(caller.keyId);
        try {
          const refusal = refuseBody(request.raw, holding);
          if (refusal !== undefined) return turnAway(request, reply, refusal);
          if (awaitsContinue(request.raw)) reply.raw.writeContinue();
          const body = await readBody(request.raw, holding);
          if (body === undefined) return void reply.hijack();
          if ('status' in body) return turnAway(request, reply, body);
          const query = request.query as Record<string, unknown>;
          const answer = await submit({ version, caller, query, body, traceparent: traceOf(request.raw) }).finally(() => freeBytes(body));
          send(reply, 'body' in answer ? summaryAnswer(answer) : errorAnswer('signal', answer));
        } finally {
          holding.release();
        }
      },
    });
  }

  function turnAway(request: FastifyRequest, reply: FastifyReply, fault: HttpFault): void {
    if (fault === BUSY) onBusy();
    refuse(request, reply, fault);
  }
}

const summaryAnswer = ({ status, body, batchId }: SignalAnswer): Answer =>
  jsonAnswer(status, JSON.stringify(body), batchId === null ? {} : { 'X-Signal-Batch': batchId });

/** Answers a request whose body nobody will read. */
function refuse(request: FastifyRequest, reply: FastifyReply, fault: HttpFault): void {
  reply.hijack();
  answerEarly(request.raw, reply.raw, errorAnswer('signal', fault));
}
