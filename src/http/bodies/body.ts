/** The bytes of a request: read within the budget, or let go of when the request is refused. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Answer, write } from '../answer.ts';
import type { HttpFault } from '../errors.ts';
import type { BodyHolding } from './body-budget.ts';
import { countDropped, countRead } from './pace.ts';

/** Room for a body of unknown length at first, bytes; it doubles. No socket gives more than that in one piece. */
const FIRST_ROOM = 64 * 1024;
/** How long a client that has been refused may go on sending, ms: most read the answer only afterwards. */
const LINGER = 2000;
/** A rest of a body up to here is read and dropped, so that the connection can be used again, bytes. */
const SMALL = 64 * 1024;

/** How large a body may be. */
export interface BodyLimit {
  readonly bytes: number;
  /** The fault of a larger one, which is not read to its end. */
  readonly tooLarge: HttpFault;
}

/** The fault of a body for which there is no room. */
export const BUSY: HttpFault = {
  status: 429,
  message: 'Too many bytes of request bodies are being received: send fewer or smaller batches at a time',
  headers: { 'Retry-After': '1' },
};
/** The fault of a compressed body. */
export const ENCODED: HttpFault = {
  status: 415,
  message: 'A request body must not have a Content-Encoding: send plain JSON',
  headers: { 'Accept-Encoding': 'identity' },
};

/** Bytes of the body by its header; undefined when only its end will tell. */
function lengthOf({ headers }: IncomingMessage): number | undefined {
  if (headers['transfer-encoding'] !== undefined) return undefined;
  return Number(headers['content-length'] ?? 0);
}

/** Whether the client waits for leave to send its body (RFC 9110, 10.1.1). */
const awaitsContinue = ({ headers }: IncomingMessage): boolean => headers.expect?.toLowerCase() === '100-continue';

/** The body of a request: its bytes, the fault of one that is not read to its end, or undefined when the client has gone away. */
export function takeBody(
  request: IncomingMessage,
  response: ServerResponse,
  holding: BodyHolding,
  limit: BodyLimit,
): Promise<Buffer | undefined | HttpFault> {
  const refusal = refuseBody(request, holding, limit);
  if (refusal !== undefined) return Promise.resolve(refusal);
  if (awaitsContinue(request)) response.writeContinue();
  return readBody(request, holding, limit);
}

/** Why a body is not read at all, by its headers; undefined when it is. What it will need is held from then on. */
function refuseBody(request: IncomingMessage, holding: BodyHolding, { bytes, tooLarge }: BodyLimit): HttpFault | undefined {
  if (!/^(identity)?$/i.test(request.headers['content-encoding']?.trim() ?? '')) return ENCODED;
  const length = lengthOf(request);
  if (length !== undefined && length > bytes) return tooLarge;
  return holding.hold(length ?? Math.min(FIRST_ROOM, bytes)) ? undefined : BUSY;
}

/** Reads a body that `refuseBody` has let pass. */
function readBody(
  request: IncomingMessage,
  holding: BodyHolding,
  { bytes: most, tooLarge }: BodyLimit,
): Promise<Buffer | HttpFault | undefined> {
  const length = lengthOf(request);
  if (length === 0) return Promise.resolve(Buffer.alloc(0));
  if (request.destroyed) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    let room: Buffer = Buffer.allocUnsafe(length ?? Math.min(FIRST_ROOM, most));
    let used = 0;

    function take(piece: Buffer): void {
      countRead(request, piece.length);
      // Most bodies come in one piece, which needs no copy.
      if (piece.length === length) room = piece;
      else if (used + piece.length > room.length) {
        const more = Math.min(Math.max(room.length * 2, used + piece.length), most);
        const fault = used + piece.length > more ? tooLarge : holding.hold(more) ? undefined : BUSY;
        if (fault !== undefined) {
          settle(fault);
          return;
        }
        const wider = Buffer.allocUnsafe(more);
        room.copy(wider, 0, 0, used);
        freeBytes(room);
        room = wider;
      }
      if (room === piece) used = piece.length;
      else {
        used += piece.copy(room, used);
        freeBytes(piece);
      }
    }
    const end = () => settle(room.subarray(0, used));
    const gone = () => settle(undefined);
    function settle(outcome: Buffer | HttpFault | undefined): void {
      request.off('data', take).off('end', end).off('close', gone).off('error', gone).pause();
      if (!Buffer.isBuffer(outcome)) freeBytes(room);
      resolve(outcome);
    }
    request.on('data', take).on('end', end).on('close', gone).on('error', gone);
  });
}

/**
 * Gives the memory of bytes back at once, which nobody may read any more: the collector hardly counts what lies outside of its heap, and
 * would let hundreds of megabytes wait. Bytes that are a part of something else are left.
 */
export function freeBytes(bytes: Buffer): void {
  const memory = bytes.buffer as ArrayBuffer;
  // What was handed over to another thread is that one's.
  if (memory.detached) return;
  if (bytes.length === memory.byteLength || bytes.length > FIRST_ROOM) memory.transfer(0);
}

/**
 * Answers, also before the body is read to its end. A long rest is not waited for: the answer says that the connection ends, and what comes
 * for a short while is dropped piece by piece, so that a client that sends first and reads later is not reset before it has read.
 */
export function answerEarly(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  const length = lengthOf(request) ?? Number.POSITIVE_INFINITY;
  // A client that has sent something waits no more.
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
  // One that was refused while it was read is paused.
  request.resume();
}
