import type { Caller } from '../../account/caller.ts';
import { jsonAnswer } from '../answer.ts';
import type { Call } from '../call.ts';
import type { HttpFault } from '../errors.ts';
import type { DocumentRequest } from '../feeds/document.ts';
import { oneOf, readParameters } from '../feeds/parameters.ts';
import { documentRequest } from '../feeds/read.ts';
import { belongsToWorkspace } from '../rules/read.ts';

export const AGENT_PARAMETERS = { expand: oneOf(['0', '1']) };

/** Response to an agent's key check (SPEC D13.8). */
export const AUTHENTICATED = jsonAnswer(200, '{"success":true}', { 'Cache-Control': 'no-store' });

export const readAuthcheck = (_: Call, { listId, feedId }: Caller): HttpFault | null =>
  (listId ?? feedId) === null ? null : belongsToWorkspace('the rules of an agent');

/** SPEC D13.7. */
export function readConfig(call: Call, caller: Caller): DocumentRequest | HttpFault {
  const fault = readAuthcheck(call, caller);
  if (fault !== null) return fault;
  const options = readParameters(AGENT_PARAMETERS, call.query);
  if ('status' in options) return options as HttpFault;
  return documentRequest(call, caller, { document: 'config', name: options.expand === '0' ? 'names' : 'expanded' });
}
