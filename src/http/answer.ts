import type { ServerResponse } from 'node:http';
import { coalesced } from '../schedule/debounce.ts';
import { errorBody, type HttpFault, statusIn } from './errors.ts';
import type { Group } from './groups.ts';

export interface Answer {
  readonly status: number;
  /** name, value, name, value, … */
  readonly headers: readonly string[];
  readonly body: Uint8Array | string | undefined;
  /** Runs after the last byte is sent. */
  readonly onSent?: () => void;
  /** Keeps the request body allocated beyond the response. */
  readonly until?: Promise<unknown>;
  /** Runs when the request body can be freed, whether the response was sent or not. */
  readonly onClosed?: () => void;
}

/** Bytes. Longer bodies are written in turns; a socket accepts little more at once. */
const LONG = 64 * 1024;
const AT_ONCE = 1024 * 1024;
const SHORT = 4096;
/** Bytes per turn of the event loop. */
const OF_TURN = 2 * 1024 * 1024;

/** Hundreds of clients may wait for the same document. */
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

/** Sends exactly these headers. Node omits the body for HEAD and 304. Does nothing after a first response. */
export function write(response: ServerResponse, { status, headers, body }: Answer): void {
  const send = () => {
    if (response.headersSent) return;
    response.writeHead(status, headers as string[]);
    // Node sends short text together with the headers, but bytes separately.
    if (body instanceof Uint8Array && body.length < SHORT) {
      response.end(Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1'), 'latin1');
    } else response.end(body);
  };
  if (body === undefined || body.length < LONG) send();
  else longInTurns(Math.min(body.length, AT_ONCE), send);
}

/** Browsers must not guess the type of a body. */
export const NO_SNIFFING = ['X-Content-Type-Options', 'nosniff'] as const;

/** No other site may frame a page, keep a handle of its window or see the address of a link's origin (SPEC D47.11). */
export const PAGE_HEADERS = [
  'X-Frame-Options',
  'DENY',
  'Cross-Origin-Opener-Policy',
  'same-origin',
  'Referrer-Policy',
  'no-referrer',
] as const;

export function jsonAnswer(status: number, json: string, headers: Readonly<Record<string, string | readonly string[]>> = {}): Answer {
  const given = Object.entries(headers).flatMap(([name, value]) => [value].flat().flatMap((each) => [name, each]));
  const length = String(Buffer.byteLength(json));
  const own = ['Content-Type', 'application/json; charset=utf-8', 'Content-Length', length, ...NO_SNIFFING];
  return { status, headers: [...own, ...given], body: json };
}

export const movedTo = (address: string): Answer => ({
  status: 302,
  headers: ['Location', address, 'Content-Length', '0', 'Cache-Control', 'no-store', 'Vary', 'Accept', ...NO_SNIFFING],
  body: undefined,
});

/** Not cacheable. */
export const errorAnswer = (group: Group, fault: HttpFault): Answer =>
  jsonAnswer(statusIn(group, fault.status), errorBody(group, fault), { 'Cache-Control': 'no-store', ...fault.headers });
