/** By key; `http/console/sessions.ts` does so by cookie. */
import type { Caller } from '../../account/caller.ts';
import type { Gate } from '../auth/gate.ts';
import type { Call } from '../call.ts';
import { badRequest, type HttpFault } from '../errors.ts';

export interface Identity {
  readonly caller: Caller;
  /** null: no name given. A fault is returned only to a permitted caller. */
  readonly actor: string | null | HttpFault;
}

export type Identify = (call: Call) => Promise<Identity | HttpFault>;

export const identifyByKey =
  (gate: Gate): Identify =>
  async (call) => {
    const caller = await gate.admit(call);
    return 'status' in caller ? caller : { caller: { ...caller, isManaged: true }, actor: readActor(call.request.headers['x-actor']) };
  };

/** Of a name, characters. */
const LONGEST = 100;
/** Controls, line ends, bidirectional overrides. */
const REFUSED = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Decodes X-Actor: raw UTF-8, or percent-encoded for ASCII-only clients (SPEC D15.6). */
export function readActor(header: string | readonly string[] | undefined): string | null | HttpFault {
  if (header === undefined) return null;
  if (typeof header !== 'string') return fault('must be given once');
  let name: string;
  try {
    // Node decodes headers as Latin-1.
    name = decodeURIComponent(UTF8.decode(Buffer.from(header, 'latin1'))).trim();
  } catch {
    return fault('must be UTF-8, raw or percent-encoded');
  }
  if (name === '') return null;
  if ([...name].length > LONGEST) return fault(`must be at most ${LONGEST} characters`);
  return REFUSED.test(name) ? fault('must not contain control characters') : name;
}

const fault = (message: string): HttpFault => badRequest([{ field: 'X-Actor', message, value: null }]);
