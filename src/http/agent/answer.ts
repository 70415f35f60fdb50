import type { Caller } from '../../account/caller.ts';
import type { Instant } from '../../clock.ts';
import { CONFIG } from '../../document/document.ts';
import { jsonAnswer } from '../answer.ts';
import type { Call } from '../call.ts';
import type { AnswerDocument, Answered, DocumentHeaders } from '../feeds/document.ts';
import { oneOf, readParameters } from '../feeds/parameters.ts';
import { documentRefusalOf } from '../feeds/refusals.ts';
import { belongsToWorkspace } from '../rules/answer.ts';

/** An authenticated GET or HEAD of an agent. */
export interface AgentRequest {
  readonly caller: Caller;
  readonly endpoint: AgentEndpoint;
  /** Without its question mark. */
  readonly query: string;
  readonly headers: DocumentHeaders;
  /** As of when; now when absent. */
  readonly at?: Instant | undefined;
}

export type AnswerAgent = (request: AgentRequest) => Answered;

/** What an agent asks for: its configuration, and whether its key is good. */
type AgentEndpoint = 'config' | 'authcheck';

export const AGENT_PARAMETERS = { expand: oneOf(['0', '1']) };
const AUTHENTICATED = { ...jsonAnswer(200, '{"success":true}', { 'Cache-Control': 'no-store' }), status: 200 as const };

/** The endpoints of agents (SPEC D13.7, D13.8), behind authentication. */
export function agentEndpoint(answer: AnswerDocument): AnswerAgent {
  return ({ caller, endpoint, query, headers, at }) => {
    const { workspaceId, listId, feedId } = caller;
    if ((listId ?? feedId) !== null) return belongsToWorkspace('the rules of an agent');
    if (endpoint === 'authcheck') return AUTHENTICATED;
    const options = readParameters(AGENT_PARAMETERS, query);
    if ('status' in options) return options as Extract<typeof options, { status: unknown }>;
    const variant = options.expand === '0' ? CONFIG.names : CONFIG.expanded;
    const asked = { workspaceId, list: null, variant, boundTo: null };
    return answer({ caller, query: asked, headers, at, checksum: false, fault: undefined, refusalOf: documentRefusalOf });
  };
}

/** Reads a request of an agent. */
export const readAgent =
  (endpoint: AgentEndpoint) =>
  ({ request: { headers }, query, at }: Call, caller: Caller): AgentRequest => ({ caller, endpoint, query, headers, at });
