/** SPEC D12.1, D12.2. */
import { hash, timingSafeEqual } from 'node:crypto';
import { type Answer, NO_SNIFFING } from './answer.ts';
import { readKey } from './auth/credentials.ts';
import type { Call } from './call.ts';
import type { HttpFault } from './errors.ts';
import { GROUPS } from './groups.ts';

const TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const NO_READER: HttpFault = {
  status: 401,
  message: 'Invalid or missing token',
  headers: { 'WWW-Authenticate': GROUPS.signal.challenges },
};

export interface MetricsPage {
  readonly render: () => Promise<string>;
  /** undefined: none. */
  readonly token: string | undefined;
  /** 401, or 429 after too many from its address. */
  readonly refuse: (call: Call) => HttpFault;
}

export const metricsAnswer = (render: () => Promise<string>) => async (): Promise<Answer> => {
  const body = Buffer.from(await render());
  const headers = ['Content-Type', TYPE, 'Content-Length', String(body.length), 'Cache-Control', 'no-store', ...NO_SNIFFING];
  return { status: 200, headers, body };
};

/** A request without credentials is no guess (SPEC D12.14). */
export function readers({ token, refuse }: MetricsPage): (call: Call) => null | HttpFault {
  if (token === undefined) return () => null;
  const digest = hash('sha256', token, 'buffer');
  return (call) => {
    const { authorization = '' } = call.request.headers;
    if (authorization === '') return NO_READER;
    const given = readKey('signal', authorization);
    if (given !== undefined && timingSafeEqual(hash('sha256', given, 'buffer'), digest)) return null;
    const refusal = refuse(call);
    return refusal.status === 401 ? NO_READER : refusal;
  };
}
