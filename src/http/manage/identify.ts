/** Who sends a request to the management API: by key here, by the console's cookie in `http/console/sessions.ts`. */
import type { Caller } from '../../account/caller.ts';
import type { Gate } from '../auth/gate.ts';
import type { Call } from '../call.ts';
import { badRequest, type HttpFault } from '../errors.ts';

/** Who asks: what he may do, and the name of the person. */
export interface Identity {
  readonly caller: Caller;
  /** null: the request names nobody. A fault is answered once the caller is known to be permitted. */
  readonly actor: string | null | HttpFault;
}

/** Authenticates a request, or says why it is refused (401, 402, 429). */
export type Identify = (call: Call) => Promise<Identity | HttpFault>;

/** By API key; the person is whom the header X-Actor names. */
export const identifyByKey =
  (gate: Gate): Identify =>
  async (call) => {
    const caller = await gate.admit(call);
    return 'status' in caller ? caller : { caller, actor: readActor(call.request.headers['x-actor']) };
  };

/** Characters that a name of a person has at most. */
const LONGEST = 100;
/** Control characters, line ends, and what turns the direction of the text around it. */
const REFUSED = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** The name in a header X-Actor: UTF-8 as it is or percent-encoded, for clients that can only send ASCII (SPEC D15.6). */
export function readActor(header: string | readonly string[] | undefined): string | null | HttpFault {
  if (header === undefined) return null;
  if (typeof header !== 'string') return fault('must be given once');
  let name: string;
  try {
    // Node gives the bytes of a header as Latin-1.
    name = decodeURIComponent(UTF8.decode(Buffer.from(header, 'latin1'))).trim();
  } catch {
    return fault('must be UTF-8, as it is or percent-encoded');
  }
  if (name === '') return null;
  if ([...name].length > LONGEST) return fault(`must be at most ${LONGEST} characters`);
  return REFUSED.test(name) ? fault('must not hold control characters') : name;
}

const fault = (message: string): HttpFault => badRequest([{ field: 'X-Actor', message, value: null }]);
