import type { ServerResponse } from 'node:http';
import { coalesced } from '../schedule/coalesced.ts';
import { errorBody, type HttpFault, statusIn } from './errors.ts';
import type { Group } from './groups.ts';

/** A whole answer. Its body is complete before the first byte is sent. */
export interface Answer {
  readonly status: number;
  /** name, value, name, value, … */
  readonly headers: readonly string[];
  readonly body: Uint8Array | string | undefined;
  /** Is called once all of it was sent. */
  readonly onSent?: () => void;
  /** Until when the body of the request is needed, where that is longer than until its answer. */
  readonly until?: Promise<unknown>;
  /** Is called once its body is not needed any longer, sent or not. */
  readonly onClosed?: () => void;
}

/** Bytes from which on a body is long; of a longer one a socket takes no more at once. */
const LONG = 64 * 1024;
const AT_ONCE = 1024 * 1024;
/** Bytes of long bodies that sockets take in one turn of the event loop. */
const OF_TURN = 2 * 1024 * 1024;

/** Hands long bodies to their sockets, some a turn: hundreds that wait for the same are answered at the same moment. */
function inTurns(): (bytes: number, send: () => void) => void {
  const waiting: { readonly bytes: number; readonly send: () => void }[] = [];
  let left = OF_TURN;
  const plan = coalesced(() => {
    left = OF_TURN;
    while (left > 0) {
      const next = waiting.shift();
      if (next === undefined) return false;
      left -= next.bytes;
      next.send();
    }
    return true;
  });
  return (bytes, send) => {
    if (left > 0) {
      left -= bytes;
      send();
    } else waiting.push({ bytes, send });
    plan();
  };
}

const longInTurns = inTurns();

/** Sends the answer with exactly these headers; Node leaves out the body on HEAD and 304. Does nothing when an answer was sent already. */
export function write(response: ServerResponse, { status, headers, body }: Answer): void {
  const send = () => {
    if (!response.headersSent) response.writeHead(status, headers as string[]).end(body);
  };
  if (body === undefined || body.length < LONG) send();
  else longInTurns(Math.min(body.length, AT_ONCE), send);
}

/** A header of every answer: browsers take a body as what its type says, and as nothing else. */
export const NO_SNIFFING = ['X-Content-Type-Options', 'nosniff'] as const;

/** Headers of every page (SPEC D47.11): no site frames it or has a hold of its window, and none learns where one of its links was followed. */
export const PAGE_HEADERS = [
  'X-Frame-Options',
  'DENY',
  'Cross-Origin-Opener-Policy',
  'same-origin',
  'Referrer-Policy',
  'no-referrer',
] as const;

/** An answer whose body is this JSON text. */
export function jsonAnswer(status: number, json: string, headers: Readonly<Record<string, string | readonly string[]>> = {}): Answer {
  const given = Object.entries(headers).flatMap(([name, value]) => [value].flat().flatMap((each) => [name, each]));
  const length = String(Buffer.byteLength(json));
  const own = ['Content-Type', 'application/json; charset=utf-8', 'Content-Length', length, ...NO_SNIFFING];
  return { status, headers: [...own, ...given], body: json };
}

/** Leads to another address of this service. */
export const movedTo = (address: string): Answer => ({
  status: 302,
  headers: ['Location', address, 'Content-Length', '0', 'Cache-Control', 'no-store', 'Vary', 'Accept', ...NO_SNIFFING],
  body: undefined,
});

/** An error in the shape of its group. Caches must not keep it. */
export const errorAnswer = (group: Group, fault: HttpFault): Answer =>
  jsonAnswer(statusIn(group, fault.status), errorBody(group, fault), { 'Cache-Control': 'no-store', ...fault.headers });
