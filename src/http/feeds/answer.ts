import type { Caller } from '../../account/caller.ts';
import { hasCode } from '../../errors.ts';
import type { FeedCache, FeedQuery, Found } from '../../feed/serve/cache.ts';
import type { Representation } from '../../feed/serve/representation.ts';
import type { HttpFault } from '../errors.ts';
import { type Conditions, evaluate } from './conditional.ts';
import { negotiateCoding } from './encoding.ts';
import { type AnswerForm, type FeedAnswer, okAnswer, preparedAnswers } from './headers.ts';
import { type FeedOptions, readFeedQuery } from './query.ts';
import { MALFORMED_LIST, otherFeed, PRECONDITION_FAILED, refusalOf } from './refusals.ts';
import { decodeSegment, type FeedTarget } from './target.ts';

/** An authenticated GET or HEAD of a feed. `HEAD` is answered as `GET` is; whoever sends the answer leaves out its body. */
export interface FeedRequest extends FeedTarget {
  readonly caller: Caller;
  readonly headers: Conditions & { readonly 'accept-encoding'?: string | undefined };
}

/** Answers at once whenever the feed stands ready in memory. */
export type AnswerFeed = (request: FeedRequest) => FeedAnswer | HttpFault | Promise<FeedAnswer | HttpFault>;

/** What a request asks for. The fault in its options waits until the caller's right to the list is known. */
interface Asked {
  readonly request: FeedRequest;
  readonly query: FeedQuery;
  readonly options: FeedOptions | HttpFault;
}

/**
 * The feed endpoints (spec 4.3, 4.4), behind authentication: read the request, find the feed, evaluate its conditions, send it.
 * `report` gets the errors that clients see only as 500.
 */
export function feedEndpoint(cache: FeedCache, now: () => number, report: (error: Error) => void): AnswerFeed {
  return (request) => {
    const asked = readRequest(request);
    if ('status' in asked) return asked;
    const ready = cache.hit(asked.query);
    return (ready && answerFound(ready, asked)) ?? findAndAnswer(asked).catch(failed);
  };

  /** Has the feed built as far as needed, once more with its body when that was dropped meanwhile. */
  async function findAndAnswer(asked: Asked): Promise<FeedAnswer | HttpFault> {
    for (let withBody = false; ; withBody = true) {
      const answer = await answerFound(await cache.find(asked.query, withBody), asked);
      if (answer !== undefined) return answer;
    }
  }

  /** undefined when the body was dropped and has to be built again. */
  function answerFound(found: Found, { request, options }: Asked): ReturnType<AnswerFeed> | undefined {
    if (found.kind === 'forbidden') return otherFeed(request.caller);
    if ('status' in options) return options;
    if (found.kind !== 'feed') return refusalOf(found);
    const form = options.checksum ? 'md5' : negotiateCoding(request.headers['accept-encoding']);
    switch (statusOf(found, form, request.headers, now)) {
      case 304:
        return preparedAnswers(found, form).notModified;
      case 412:
        return PRECONDITION_FAILED;
      case 200:
        return withBody(found, form);
    }
  }

  function withBody(found: Representation, form: AnswerForm): FeedAnswer | Promise<FeedAnswer | HttpFault> | undefined {
    const prepared = preparedAnswers(found, form);
    if (form === 'md5') return okAnswer(prepared, found.md5);
    const body = cache.body(found, form);
    return body instanceof Promise ? body.then((bytes) => okAnswer(prepared, bytes)).catch(failed) : body && okAnswer(prepared, body);
  }

  function failed(error: Error): HttpFault {
    // The cache has reported already why it has nothing to serve.
    if (!hasCode(error, 'FEED_UNAVAILABLE')) report(error);
    return { status: 500 };
  }
}

/** Decides between 200, 304 and 412. An instant that other content was shown with too proves nothing: then only the tags count. */
function statusOf(found: Representation, form: AnswerForm, headers: Conditions, now: () => number): 200 | 304 | 412 {
  const conditions = found.sharesInstant ? { ...headers, 'if-modified-since': undefined } : headers;
  return evaluate(conditions, { etag: found.etags[form], lastModified: found.lastModified }, now);
}

/** Reads what is asked for; a fault when the list cannot be meant or the options are wrong. A bound key learns of its list first. */
function readRequest(request: FeedRequest): Asked | HttpFault {
  const { workspaceId, listId, feedId } = request.caller;
  const boundTo = listId ?? feedId;
  if (boundTo !== null && request.list === null) return otherFeed(request.caller);
  const list = decodeSegment(request.list);
  if (list === undefined) return MALFORMED_LIST;
  const options = readFeedQuery(request.query);
  if ('status' in options && boundTo === null) return options;
  return { request, query: { workspaceId, list, variant: 'status' in options ? {} : options.variant, boundTo }, options };
}
