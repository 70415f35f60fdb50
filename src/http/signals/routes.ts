/** What `POST /v1/signal` and `/v2/signal` read and answer. */
import { parse } from 'node:querystring';
import type { Caller } from '../../account/caller.ts';
import { LIMITS } from '../../signal/limits.ts';
import { type Answer, jsonAnswer } from '../answer.ts';
import type { BodyLimit } from '../bodies/body.ts';
import type { Call } from '../call.ts';
import { badRequest, type HttpFault } from '../errors.ts';
import { namedTrace, type TraceOf } from '../monitor/traces.ts';
import type { SignalAnswer, SignalRequest, SubmitSignals } from './submit.ts';

/** The body of a batch. */
export const BATCH: BodyLimit = {
  bytes: LIMITS.batchBytes,
  tooLarge: badRequest([{ field: 'body', message: `must be at most ${LIMITS.batchBytes} bytes`, value: null }]),
};

/** Every parameter is read, however many there are. */
const ALL = { maxKeys: 0 };

/** A batch, and the request that it came with. */
interface Sent extends SignalRequest {
  readonly request: Call['request'];
}

/** Reads a batch of one version. */
export const readSignals =
  (version: 1 | 2) =>
  ({ request, query }: Call, caller: Caller, body: Buffer): Sent => ({
    version,
    caller,
    query: parse(query, '&', '=', ALL),
    body,
    request,
  });

/** Submits batches. `traceOf`: the step of a trace that a request belongs to. */
export const submitted =
  (submit: SubmitSignals, traceOf: TraceOf = namedTrace) =>
  async ({ request, ...batch }: Sent): Promise<Answer | HttpFault> => {
    const answer = await submit({ ...batch, traceparent: traceOf(request) });
    return 'body' in answer ? summaryAnswer(answer) : answer;
  };

const summaryAnswer = ({ status, body, batchId }: SignalAnswer): Answer =>
  jsonAnswer(status, JSON.stringify(body), batchId === null ? {} : { 'X-Signal-Batch': batchId });
