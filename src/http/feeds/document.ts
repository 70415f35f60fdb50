/** Answering a request for a document, whichever it is: 200 with its bytes, 304, 412, or the fault that says why there is none. */
import type { Caller } from '../../account/caller.ts';
import type { Instant } from '../../clock.ts';
import { hasCode } from '../../errors.ts';
import type { DocumentCache, DocumentQuery, Found } from '../../feed/serve/cache.ts';
import { type Representation, toldDate } from '../../feed/serve/representation.ts';
import type { HttpFault } from '../errors.ts';
import { type Conditions, evaluate } from './conditional.ts';
import { negotiateCoding } from './encoding.ts';
import { type AnswerForm, type DocumentAnswer, okAnswer, preparedAnswers } from './headers.ts';
import { otherFeed, PRECONDITION_FAILED, tellable } from './refusals.ts';

/** The headers of a request that choose the representation and its conditions. */
export type DocumentHeaders = Conditions & { readonly 'accept-encoding'?: string | undefined };

/** A request for a feed or another document, as it was understood. */
export interface DocumentRequest {
  readonly caller: Caller;
  readonly query: DocumentQuery;
  readonly headers: DocumentHeaders;
  /** As of when it may be answered from memory; now when absent. */
  readonly at?: Instant | undefined;
  /** The MD5 digest is asked for instead of the document. */
  readonly checksum: boolean;
  /** A fault in the request, which waits until the caller's right to the list is known. */
  readonly fault: HttpFault | undefined;
  /** The fault that says why there is none. */
  refusalOf(found: Exclude<Found, Representation | { kind: 'forbidden' }>): HttpFault;
}

/** The answer, or the fault to answer with; at once whenever the document stands ready in memory. */
export type Answered = DocumentAnswer | HttpFault | Promise<DocumentAnswer | HttpFault>;
export type AnswerDocument = (asked: DocumentRequest) => Answered;

/**
 * Answers requests for documents, behind authentication: find the document, evaluate the conditions, send it. `report` gets the errors
 * that clients see only as 500.
 */
export function documentEndpoint(cache: DocumentCache, now: () => number, report: (error: Error) => void): AnswerDocument {
  return (asked) => {
    const ready = cache.hit(asked.query, asked.at);
    return (ready && answerFound(ready, asked)) ?? findAndAnswer(asked).catch(failed);
  };

  /** Has the document built as far as needed, once more with its body when that was dropped meanwhile. */
  async function findAndAnswer(asked: DocumentRequest): Promise<DocumentAnswer | HttpFault> {
    for (let withBody = false; ; withBody = true) {
      const answer = await answerFound(await cache.find(asked.query, withBody), asked);
      if (answer !== undefined) return answer;
    }
  }

  /** undefined when the body was dropped and has to be built again. */
  function answerFound(found: Found, asked: DocumentRequest): Answered | undefined {
    if (found.kind === 'forbidden') return otherFeed(asked.caller);
    if (asked.fault !== undefined) return asked.fault;
    if (found.kind !== 'document') return asked.refusalOf(tellable(found, asked.caller));
    const form = asked.checksum ? 'md5' : negotiateCoding(asked.headers['accept-encoding']);
    switch (conditionalStatus(found, form, asked.headers, now)) {
      case 304:
        return preparedAnswers(found, form).notModified;
      case 412:
        return PRECONDITION_FAILED;
      case 200:
        return withBody(found, form);
    }
  }

  function withBody(found: Representation, form: AnswerForm): Answered | undefined {
    const prepared = preparedAnswers(found, form);
    const body = form === 'md5' ? cache.md5(found) : cache.body(found, form);
    return body instanceof Promise ? body.then((bytes) => okAnswer(prepared, bytes)).catch(failed) : body && okAnswer(prepared, body);
  }

  function failed(error: Error): HttpFault {
    // The cache has reported already why it has nothing to serve.
    if (!hasCode(error, 'FEED_UNAVAILABLE')) report(error);
    return { status: 500 };
  }
}

/** Decides between 200, 304 and 412. An instant that other content was shown with too proves nothing: then only the tags count. */
function conditionalStatus(found: Representation, form: AnswerForm, headers: Conditions, now: () => number): 200 | 304 | 412 {
  const conditions = found.sharesInstant ? { ...headers, 'if-modified-since': undefined } : headers;
  return evaluate(conditions, { etag: found.etags[form], lastModified: toldDate(found) }, now);
}
