import type { Caller } from '../../account/caller.ts';
import { isExpressionKind, type Kind } from '../../rule.ts';
import type { Call } from '../call.ts';
import type { HttpFault } from '../errors.ts';
import type { DocumentRequest } from '../feeds/document.ts';
import { documentRequest } from '../feeds/read.ts';
import { calledRules, readRulesQuery } from './query.ts';

/** SPEC D13.1. */
export const readRules =
  (kind: Kind) =>
  (call: Call, caller: Caller): DocumentRequest | HttpFault => {
    const boundTo = caller.listId ?? caller.feedId;
    if (boundTo !== null && isExpressionKind(kind)) return belongsToWorkspace(calledRules(kind));
    const options = readRulesQuery(kind, call.query);
    return 'status' in options ? options : documentRequest(call, caller, options.variant, options.list ?? boundTo);
  };

/** For a key bound to a list or feed. */
export const belongsToWorkspace = (what: string): HttpFault => ({
  status: 403,
  message: `The API key is bound to one list or feed; ${what} belong to the workspace`,
});
