/** The page that Prometheus reads (SPEC D12.1, D12.2). */
import { hash, timingSafeEqual } from 'node:crypto';
import { type Answer, NO_SNIFFING } from './answer.ts';
import { readKey } from './auth/credentials.ts';
import type { Call } from './call.ts';
import type { HttpFault } from './errors.ts';
import { GROUPS } from './groups.ts';

/** The text format of Prometheus. */
const TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const NO_READER: HttpFault = {
  status: 401,
  message: 'Invalid or missing token',
  headers: { 'WWW-Authenticate': GROUPS.signal.challenges },
};

/** The metrics, and who may read them. */
export interface MetricsPage {
  /** The page as text. */
  readonly render: () => Promise<string>;
  /** The Bearer token that is asked for; undefined: none is. */
  readonly token: string | undefined;
  /** Counts a wrong token, and says how it is answered: 401, or 429 where an address has shown too many. */
  readonly refuse: (call: Call) => HttpFault;
}

/** Answers with the page. */
export const metricsAnswer = (render: () => Promise<string>) => async (): Promise<Answer> => {
  const body = Buffer.from(await render());
  const headers = ['Content-Type', TYPE, 'Content-Length', String(body.length), 'Cache-Control', 'no-store', ...NO_SNIFFING];
  return { status: 200, headers, body };
};

/** Lets in who shows the token; everyone where there is none. A request without credentials is a question, not a guess (SPEC D12.14). */
export function readers({ token, refuse }: MetricsPage): (call: Call) => null | HttpFault {
  if (token === undefined) return () => null;
  const digest = hash('sha256', token, 'buffer');
  return (call) => {
    const { authorization = '' } = call.request.headers;
    if (authorization === '') return NO_READER;
    const shown = readKey('signal', authorization);
    if (shown !== undefined && timingSafeEqual(hash('sha256', shown, 'buffer'), digest)) return null;
    const refusal = refuse(call);
    return refusal.status === 401 ? NO_READER : refusal;
  };
}
