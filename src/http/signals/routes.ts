import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LIMITS } from '../../signal/limits.ts';
import { type Answer, errorAnswer, jsonAnswer, send } from '../answer.ts';
import type { Gate } from '../auth/gate.ts';
import { anyType, type BodyLimit, BUSY, freeBytes, takeBody, turnAway } from '../bodies/body.ts';
import type { BodyBudget } from '../bodies/body-budget.ts';
import { badRequest, type HttpFault } from '../errors.ts';
import type { TraceOf } from '../traces.ts';
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

/** The body of a batch. */
export const BATCH: BodyLimit = {
  bytes: LIMITS.batchBytes,
  tooLarge: badRequest([{ field: 'body', message: `must be at most ${LIMITS.batchBytes} bytes`, value: null }]),
};

/** `POST /v1/signal` and `/v2/signal`: callers are admitted, and room is found, before their body is read (spec 5). */
export function registerSignals(app: FastifyInstance, { gate, budget, submit, onBusy, traceOf }: SignalRouteParts): void {
  for (const version of [1, 2] as const) {
    app.route({
      method: 'POST',
      url: `/v${version}/signal`,
      onRequest: anyType,
      async handler(request, reply) {
        const caller = await gate.admit(request);
        if ('status' in caller) return refuse(request, reply, caller);
        const holding = budget.open(caller.keyId);
        try {
          const body = await takeBody(request.raw, reply.raw, holding, BATCH);
          if (body === undefined) return void reply.hijack();
          if (body === BUSY) onBusy();
          if ('status' in body) return refuse(request, reply, body);
          const query = request.query as Record<string, unknown>;
          const answer = await submit({ version, caller, query, body, traceparent: traceOf(request.raw) }).finally(() => freeBytes(body));
          send(reply, 'body' in answer ? summaryAnswer(answer) : errorAnswer('signal', answer));
        } finally {
          holding.release();
        }
      },
    });
  }
}

const summaryAnswer = ({ status, body, batchId }: SignalAnswer): Answer =>
  jsonAnswer(status, JSON.stringify(body), batchId === null ? {} : { 'X-Signal-Batch': batchId });

const refuse = (request: FastifyRequest, reply: FastifyReply, fault: HttpFault) => turnAway(request, reply, errorAnswer('signal', fault));
