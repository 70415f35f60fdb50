/** Posts batches with retries. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { ForecastFields } from '../../feed/monitor/forecast-fields.ts';
import { parsedJson } from '../../json/json.ts';

/** Attempts on 429, 5xx and connection errors; pauses double, ms. */
const TRIES = 8;
const FIRST_PAUSE = 250;
const MOST_PAUSE = 15_000;
/** Longest accepted `Retry-After`, ms. */
const PATIENCE = 600_000;

export interface Target {
  readonly url: URL;
  readonly key: string;
  /** User-Agent. */
  readonly agent?: string;
  /** X-Actor. */
  readonly actor?: string | undefined;
  /** Retries without a limit (SPEC D11.12). */
  readonly keepTrying: boolean;
  /** Gets the reason of each retry. */
  readonly onRetry: (text: string) => void;
}

/** The service is unavailable or refused a batch. */
export class SendFailure extends Error {
  override readonly name = 'SendFailure';
}

/** The answer to an accepted or tried batch (spec 2.5). */
export interface BatchAnswer extends ForecastFields {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  /** null: nothing was accepted, or it was a dry run. */
  readonly batch: string | null;
}

/** Rejects with SendFailure. */
export const postBatch = async (target: Target, body: Uint8Array<ArrayBuffer>): Promise<BatchAnswer> =>
  readAnswer(await untilAnswered(target, 'POST', body));

/** GET without a body. Rejects with SendFailure. */
export const ask = async (target: Target, body?: Uint8Array<ArrayBuffer>): Promise<object> =>
  read((await untilAnswered(target, body === undefined ? 'GET' : 'POST', body)).text);

async function untilAnswered(
  { url, key, agent, actor, keepTrying, onRetry }: Target,
  method: 'GET' | 'POST',
  body: Uint8Array<ArrayBuffer> | undefined,
): Promise<Answer> {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    ...(agent !== undefined && { 'user-agent': agent }),
    ...(actor !== undefined && { 'x-actor': encodeURIComponent(actor) }),
  };
  for (let attempt = 1, pause = FIRST_PAUSE; ; attempt += 1, pause = Math.min(pause * 2, MOST_PAUSE)) {
    const answer = await request(url, { method, headers, redirect: 'manual', ...(body !== undefined && { body }) });
    if (answer.status !== undefined && answer.status >= 200 && answer.status < 300) return answer;
    if (!answer.again) throw new SendFailure(answer.reason);
    if (attempt === TRIES && !keepTrying) throw new SendFailure(`${answer.reason} (given up after ${TRIES} tries)`);
    if (answer.retryAfter > PATIENCE) {
      throw new SendFailure(`${answer.reason}; it asks for ${answer.retryAfter / 1000} s of patience, more than ${PATIENCE / 1000} s`);
    }
    const wait = Math.max(pause, answer.retryAfter);
    onRetry(`${answer.reason}; next try in ${wait / 1000} s`);
    await sleep(wait);
  }
}

interface Answer {
  /** undefined: no answer. */
  readonly status: number | undefined;
  readonly text: string;
  readonly reason: string;
  /** A retry may succeed. */
  readonly again: boolean;
  /** ms; 0: none. */
  readonly retryAfter: number;
  readonly batch: string | null;
}

/** Temporary errors. Certificate errors, blocked ports and unknown names are permanent. */
const PASSING = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'EAI_AGAIN',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

async function request(url: URL, options: RequestInit): Promise<Answer> {
  try {
    const response = await fetch(url, options);
    const text = await response.text();
    const { message } = read(text) as { message?: string };
    return {
      status: response.status,
      text,
      reason: `${url} answered ${response.status}: ${message ?? response.headers.get('location') ?? text.slice(0, 200)}`,
      again: response.status === 429 || response.status >= 500,
      retryAfter: readRetryAfter(response.headers.get('retry-after')),
      batch: response.headers.get('x-signal-batch'),
    };
  } catch (error) {
    const { message, cause } = error as Error & { cause?: NodeJS.ErrnoException };
    const why = cause?.code === 'ERR_SSL_WRONG_VERSION_NUMBER' ? 'it speaks no TLS; try http://' : cause?.message || cause?.code || message;
    const reason = `${url} cannot be reached: ${why}`;
    return { status: undefined, text: '', reason, again: PASSING.has(cause?.code ?? ''), retryAfter: 0, batch: null };
  }
}

function readAnswer({ text, reason, batch }: Answer): BatchAnswer {
  const { success, errors = [], warnings = [], ...rest } = read(text) as Partial<BatchAnswer> & { success?: boolean };
  if (success === undefined) throw new SendFailure(`${reason} - that is not weir's answer`);
  return { ...rest, errors, warnings, batch };
}

const read = (text: string): object => Object(parsedJson(text));

/** RFC 9110, 10.2.3: seconds or a date; ms. */
function readRetryAfter(value: string | null): number {
  if (value === null) return 0;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? 0 : Math.max(0, ms);
}
