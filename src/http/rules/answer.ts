import type { Caller } from '../../account/caller.ts';
import type { Instant } from '../../clock.ts';
import { isExpressionKind, type Kind } from '../../rule.ts';
import type { Call } from '../call.ts';
import type { HttpFault } from '../errors.ts';
import type { AnswerDocument, Answered, DocumentHeaders } from '../feeds/document.ts';
import { documentRefusalOf } from '../feeds/refusals.ts';
import { calledRules, readRulesQuery } from './query.ts';

/** An authenticated GET or HEAD of the rules of a kind. */
export interface RulesRequest {
  readonly caller: Caller;
  readonly kind: Kind;
  /** Without its question mark. */
  readonly query: string;
  readonly headers: DocumentHeaders;
  /** As of when; now when absent. */
  readonly at?: Instant | undefined;
}

export type AnswerRules = (request: RulesRequest) => Answered;

/** The endpoints of rules (SPEC D13.1), behind authentication. */
export function rulesEndpoint(answer: AnswerDocument): AnswerRules {
  return ({ caller, kind, query, headers, at }) => {
    const { workspaceId, listId, feedId } = caller;
    const boundTo = listId ?? feedId;
    if (boundTo !== null && isExpressionKind(kind)) return belongsToWorkspace(calledRules(kind));
    const options = readRulesQuery(kind, query);
    if ('status' in options) return options;
    const { variant, list } = options;
    const asked = { workspaceId, list: list ?? boundTo, variant, boundTo };
    return answer({ caller, query: asked, headers, at, checksum: false, fault: undefined, refusalOf: documentRefusalOf });
  };
}

/** The fault of a key that is bound to a list or a feed, where something of the whole workspace is asked for. */
export const belongsToWorkspace = (what: string): HttpFault => ({
  status: 403,
  message: `The API key is bound to one list or feed; ${what} belong to the workspace`,
});

/** Reads a request for the rules of a kind. */
export const readRules =
  (kind: Kind) =>
  ({ request: { headers }, query, at }: Call, caller: Caller): RulesRequest => ({ caller, kind, query, headers, at });
