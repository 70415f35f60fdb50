import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { errorBody, type Group, type HttpFault } from './errors.ts';

/** A whole answer: the body is complete before the first byte is sent. */
interface Answer {
  readonly status: number;
  /** name, value, name, value, … */
  readonly headers: readonly string[];
  readonly body: Uint8Array | string | undefined;
}

/** Writes exactly these headers; no body on HEAD and 304. */
export function write(response: ServerResponse, { status, headers, body }: Answer): void {
  if (!response.headersSent) response.writeHead(status, headers as string[]).end(body);
}

/** The same past Fastify's serialisation. */
export function send(reply: FastifyReply, answer: Answer): void {
  reply.hijack();
  write(reply.raw, answer);
}

/** An answer of JSON. */
export function jsonAnswer(status: number, json: string, headers: Readonly<Record<string, string | readonly string[]>> = {}): Answer {
  const given = Object.entries(headers).flatMap(([name, value]) => [value].flat().flatMap((each) => [name, each]));
  const length = String(Buffer.byteLength(json));
  return { status, headers: ['Content-Type', 'application/json; charset=utf-8', 'Content-Length', length, ...given], body: json };
}

/** An error in the shape of its group. None may be kept by a cache. */
export const errorAnswer = (group: Group, fault: HttpFault): Answer =>
  jsonAnswer(fault.status, errorBody(group, fault), { 'Cache-Control': 'no-store', ...fault.headers });
