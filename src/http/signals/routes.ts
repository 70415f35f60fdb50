import { parse } from 'node:querystring';
import type { Caller } from '../../account/caller.ts';
import { LIMITS } from '../../signal/limits.ts';
import { type Answer, jsonAnswer } from '../answer.ts';
import type { BodyLimit } from '../bodies/body.ts';
import type { Call } from '../call.ts';
import { badRequest, type HttpFault } from '../errors.ts';
import { readActor } from '../manage/identify.ts';
import { namedTrace, type TraceOf } from '../monitor/traces.ts';
import type { SignalAnswer, SignalRequest, SubmitSignals } from './submit.ts';

export const BATCH: BodyLimit = {
  bytes: LIMITS.batchBytes,
  tooLarge: badRequest([{ field: 'body', message: `must be at most ${LIMITS.batchBytes} bytes`, value: null }]),
};

/** Reads every parameter, without a limit. */
const ALL = { maxKeys: 0 };

interface Sent extends SignalRequest {
  readonly request: Call['request'];
}

/** An invalid X-Actor refuses no signal (SPEC D45.2). */
export const readSignals =
  (version: 1 | 2) =>
  ({ request, query }: Call, caller: Caller, body: Buffer): Sent => {
    const actor = readActor(request.headers['x-actor']);
    return {
      version,
      caller: typeof actor === 'string' ? { ...caller, actor } : caller,
      query: parse(query, '&', '=', ALL),
      body,
      request,
    };
  };

export const submitted =
  (submit: SubmitSignals, traceOf: TraceOf = namedTrace) =>
  async ({ request, ...batch }: Sent): Promise<Answer | HttpFault> => {
    const answer = await submit({ ...batch, traceparent: traceOf(request) });
    return 'body' in answer ? summaryAnswer(answer) : answer;
  };

const summaryAnswer = ({ status, body, batchId }: SignalAnswer): Answer =>
  jsonAnswer(status, JSON.stringify(body), batchId === null ? {} : { 'X-Signal-Batch': batchId });
