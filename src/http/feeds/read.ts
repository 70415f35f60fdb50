import type { Caller } from '../../account/caller.ts';
import type { DocumentQuery } from '../../feed/serve/cache.ts';
import type { Call } from '../call.ts';
import type { HttpFault } from '../errors.ts';
import type { DocumentRequest } from './document.ts';
import { readFeedQuery } from './query.ts';
import { documentRefusalOf, MALFORMED_LIST, otherFeed, refusalOf } from './refusals.ts';

/** A bound key is refused another list before its options are checked. */
export function readFeed({ request: { headers }, params, isMalformed, query, at }: Call, caller: Caller): DocumentRequest | HttpFault {
  if (isMalformed) return MALFORMED_LIST;
  const { workspaceId, listId, feedId, keyId } = caller;
  const list = params.list ?? null;
  const boundTo = listId ?? feedId;
  if (boundTo !== null && list === null) return otherFeed(caller);
  const options = readFeedQuery(query);
  if (!('status' in options)) {
    const { variant, instead } = options;
    return { caller, query: { workspaceId, list, variant, boundTo, keyId }, headers, at, instead, fault: undefined, refusalOf };
  }
  if (boundTo === null) return options;
  return { caller, query: { workspaceId, list, variant: {}, boundTo }, headers, at, instead: undefined, fault: options, refusalOf };
}

/** A document other than a feed: of a list or feed by UUID or name, or of all (null). */
export const documentRequest = (
  { request: { headers }, at }: Call,
  caller: Caller,
  variant: DocumentQuery['variant'],
  list: string | null = null,
): DocumentRequest => {
  const { workspaceId, listId, feedId } = caller;
  const query = { workspaceId, list, variant, boundTo: listId ?? feedId };
  return { caller, query, headers, at, instead: undefined, fault: undefined, refusalOf: documentRefusalOf };
};
