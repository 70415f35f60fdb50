/** The page that Prometheus reads (SPEC D12.1, D12.2). */
import { hash, timingSafeEqual } from 'node:crypto';
import { type Answer, NO_SNIFFING } from './answer.ts';
import { CHALLENGES, readKey } from './auth/credentials.ts';
import type { Call } from './call.ts';
import type { HttpFault } from './errors.ts';

/** The text format of Prometheus. */
const TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const NO_READER: HttpFault = { status: 401, message: 'Invalid or missing token', headers: { 'WWW-Authenticate': CHALLENGES.signal } };

/** The metrics, and who may read them. */
export interface MetricsPage {
  /** The page as text. */
  readonly render: () => Promise<string>;
  /** The Bearer token that is asked for; undefined: none is. */
  readonly token: string | undefined;
}

/** Answers with the page. */
export const metricsAnswer = (render: () => Promise<string>) => async (): Promise<Answer> => {
  const body = Buffer.from(await render());
  const headers = ['Content-Type', TYPE, 'Content-Length', String(body.length), 'Cache-Control', 'no-store', ...NO_SNIFFING];
  return { status: 200, headers, body };
};

/** Lets in who shows this token; everyone where there is none. */
export function readers(token: string | undefined): (call: Call) => null | HttpFault {
  if (token === undefined) return () => null;
  const digest = hash('sha256', token, 'buffer');
  return ({ request }) => {
    const shown = readKey('signal', request.headers.authorization);
    return shown !== undefined && timingSafeEqual(hash('sha256', shown, 'buffer'), digest) ? null : NO_READER;
  };
}
