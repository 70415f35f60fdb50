import type { Caller } from '../../account/caller.ts';
import type { Instant } from '../../clock.ts';
import type { Call } from '../call.ts';
import type { HttpFault } from '../errors.ts';
import type { AnswerDocument, Answered, DocumentHeaders, DocumentRequest } from './document.ts';
import { readFeedQuery } from './query.ts';
import { MALFORMED_LIST, otherFeed, refusalOf } from './refusals.ts';

/** An authenticated GET or HEAD of a feed. `HEAD` is answered as `GET` is; whoever sends the answer leaves out its body. */
export interface FeedRequest {
  readonly caller: Caller;
  /** The UUID or name of a list or feed; null: the workspace's feed. */
  readonly list: string | null;
  /** Without its question mark. */
  readonly query: string;
  readonly headers: DocumentHeaders;
  /** As of when; now when absent. */
  readonly at?: Instant | undefined;
}

/** Answers at once whenever the feed stands ready in memory. */
export type AnswerFeed = (request: FeedRequest) => Answered;

/** The feed endpoints (spec 4.3, 4.4), behind authentication. */
export function feedEndpoint(answer: AnswerDocument): AnswerFeed {
  return (request) => {
    const asked = readRequest(request);
    return 'status' in asked ? asked : answer(asked);
  };
}

/** Reads a request for a feed. */
export const readFeed = ({ request: { headers }, params, isMalformed, query, at }: Call, caller: Caller): FeedRequest | HttpFault =>
  isMalformed ? MALFORMED_LIST : { caller, list: params.list ?? null, query, headers, at };

/** Reads what is asked for; a fault when the list cannot be meant or the options are wrong. A bound key learns of its list first. */
function readRequest({ caller, headers, at, list, query }: FeedRequest): DocumentRequest | HttpFault {
  const { workspaceId, listId, feedId } = caller;
  const boundTo = listId ?? feedId;
  if (boundTo !== null && list === null) return otherFeed(caller);
  const options = readFeedQuery(query);
  if (!('status' in options)) {
    const { variant, checksum } = options;
    return { caller, query: { workspaceId, list, variant, boundTo }, headers, at, checksum, fault: undefined, refusalOf };
  }
  if (boundTo === null) return options;
  return { caller, query: { workspaceId, list, variant: {}, boundTo }, headers, at, checksum: false, fault: options, refusalOf };
}
