import type { ServerResponse } from 'node:http';
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

/** Sends the answer with exactly these headers; Node leaves out the body on HEAD and 304. Does nothing when an answer was sent already. */
export function write(response: ServerResponse, { status, headers, body }: Answer): void {
  if (!response.headersSent) response.writeHead(status, headers as string[]).end(body);
}

/** A header of every answer: browsers take a body as what its type says, and as nothing else. */
export const NO_SNIFFING = ['X-Content-Type-Options', 'nosniff'] as const;

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
