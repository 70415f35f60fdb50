/** Reads within the budget; drains those of refused requests. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Answer, write } from '../answer.ts';
import type { HttpFault } from '../errors.ts';
import type { BodyReservation } from './body-budget.ts';
import { countDropped, countRead } from './pace.ts';

/** Buffer for unknown lengths; it doubles. The largest piece that a socket delivers. */
const FIRST_CAPACITY = 64 * 1024;
/** Time to drain a refused request, ms: most clients read the response only after sending. */
const LINGER = 2000;
/** Bytes drained to reuse the connection. */
const SMALL = 64 * 1024;

export interface BodyLimit {
  readonly bytes: number;
  /** A larger body is not read to its end. */
  readonly tooLarge: HttpFault;
}

export const BUSY: HttpFault = {
  status: 429,
  message: 'Too many bytes of request bodies are in progress: send fewer or smaller batches at a time',
  headers: { 'Retry-After': '1' },
};
export const ENCODED: HttpFault = {
  status: 415,
  message: 'A request body must not have a Content-Encoding: send plain JSON',
  headers: { 'Accept-Encoding': 'identity' },
};

/** undefined: unknown before the end. */
function lengthOf({ headers }: IncomingMessage): number | undefined {
  if (headers['transfer-encoding'] !== undefined) return undefined;
  return Number(headers['content-length'] ?? 0);
}

/** RFC 9110, 10.1.1. */
const awaitsContinue = ({ headers }: IncomingMessage): boolean => headers.expect?.toLowerCase() === '100-continue';

/** The bytes, a fault, or undefined if the client disconnected. */
export function takeBody(
  request: IncomingMessage,
  response: ServerResponse,
  reservation: BodyReservation,
  limit: BodyLimit,
): Promise<Buffer | undefined | HttpFault> {
  const refusal = refuseBody(request, reservation, limit);
  if (refusal !== undefined) return Promise.resolve(refusal);
  if (awaitsContinue(request)) response.writeContinue();
  return readBody(request, reservation, limit);
}

/** Checks the headers, reserves memory; undefined: read the body. */
function refuseBody(request: IncomingMessage, reservation: BodyReservation, { bytes, tooLarge }: BodyLimit): HttpFault | undefined {
  if (!/^(identity)?$/i.test(request.headers['content-encoding']?.trim() ?? '')) return ENCODED;
  const length = lengthOf(request);
  if (length !== undefined && length > bytes) return tooLarge;
  return reservation.reserve(length ?? Math.min(FIRST_CAPACITY, bytes)) ? undefined : BUSY;
}

function readBody(
  request: IncomingMessage,
  reservation: BodyReservation,
  { bytes: most, tooLarge }: BodyLimit,
): Promise<Buffer | HttpFault | undefined> {
  const length = lengthOf(request);
  if (length === 0) return Promise.resolve(Buffer.alloc(0));
  if (request.destroyed) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    let buffer: Buffer = Buffer.allocUnsafe(length ?? Math.min(FIRST_CAPACITY, most));
    let used = 0;

    function take(piece: Buffer): void {
      countRead(request, piece.length);
      // Most bodies are one piece: no copy.
      if (piece.length === length) buffer = piece;
      else if (used + piece.length > buffer.length) {
        const more = Math.min(Math.max(buffer.length * 2, used + piece.length), most);
        const fault = used + piece.length > more ? tooLarge : reservation.reserve(more) ? undefined : BUSY;
        if (fault !== undefined) {
          settle(fault);
          return;
        }
        const wider = Buffer.allocUnsafe(more);
        buffer.copy(wider, 0, 0, used);
        freeBytes(buffer);
        buffer = wider;
      }
      if (buffer === piece) used = piece.length;
      else {
        used += piece.copy(buffer, used);
        freeBytes(piece);
      }
    }
    const end = () => settle(buffer.subarray(0, used));
    const disconnected = () => settle(undefined);
    function settle(outcome: Buffer | HttpFault | undefined): void {
      request.off('data', take).off('end', end).off('close', disconnected).off('error', disconnected).pause();
      if (!Buffer.isBuffer(outcome)) freeBytes(buffer);
      resolve(outcome);
    }
    request.on('data', take).on('end', end).on('close', disconnected).on('error', disconnected);
  });
}

/**
 * Frees memory that is no longer read. The garbage collector hardly counts external memory and would retain hundreds of megabytes. Ignores
 * views of a larger buffer.
 */
export function freeBytes(bytes: Buffer): void {
  const memory = bytes.buffer as ArrayBuffer;
  // Transferred to another thread.
  if (memory.detached) return;
  if (bytes.length === memory.byteLength || bytes.length > FIRST_CAPACITY) memory.transfer(0);
}

/**
 * Before the body is complete. Closes the connection after a long body, but drains it briefly: a client that sends before it reads must not
 * be reset.
 */
export function answerEarly(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  const length = lengthOf(request) ?? Number.POSITIVE_INFINITY;
  // A client that has sent bytes no longer waits for 100.
  const waits = awaitsContinue(request) && !request.readableDidRead;
  if (response.headersSent) return;
  if (request.complete || (length <= SMALL && !waits)) {
    write(response, answer);
    return;
  }
  response.shouldKeepAlive = false;
  response.writeHead(answer.status, answer.headers as string[]);
  if (waits) {
    response.end(answer.body);
    return;
  }
  response.write(answer.body);
  const timer = setTimeout(done, LINGER);
  function done(): void {
    clearTimeout(timer);
    request.off('end', done).off('close', done).off('error', done);
    response.end();
  }
  request.on('end', done).on('close', done).on('error', done);
  request.on('data', (piece: Buffer) => {
    countDropped(request, piece.length);
    freeBytes(piece);
  });
  // A request refused in the middle is paused.
  request.resume();
}
