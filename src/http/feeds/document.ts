import type { Caller } from '../../account/caller.ts';
import type { Instant } from '../../clock.ts';
import { hasCode } from '../../errors.ts';
import type { DocumentCache, DocumentQuery, Found } from '../../feed/serve/cache.ts';
import { lastModifiedOf, type Representation } from '../../feed/serve/representation.ts';
import type { HttpFault } from '../errors.ts';
import { type Conditions, evaluate } from './conditional.ts';
import { negotiateCoding } from './encoding.ts';
import { type AnswerForm, type DocumentAnswer, okAnswer, preparedAnswers } from './headers.ts';
import type { Instead } from './query.ts';
import { otherFeed, PRECONDITION_FAILED, redacted } from './refusals.ts';
import type { Signer } from './signature.ts';

export type DocumentHeaders = Conditions & { readonly 'accept-encoding'?: string | undefined };

export interface DocumentRequest {
  readonly caller: Caller;
  readonly query: DocumentQuery;
  readonly headers: DocumentHeaders;
  /** Of a response from memory; default now. */
  readonly at?: Instant | undefined;
  readonly instead: Instead | undefined;
  /** Reported only after the caller's access to the list is checked. */
  readonly fault: HttpFault | undefined;
  refusalOf(found: Exclude<Found, Representation | { kind: 'forbidden' }>): HttpFault;
}

/** Synchronous from memory. */
export type Answered = DocumentAnswer | HttpFault | Promise<DocumentAnswer | HttpFault>;
export type AnswerDocument = (asked: DocumentRequest) => Answered;

/** `report` receives the errors behind a 500. */
export function documentEndpoint(
  cache: DocumentCache,
  sign: Signer['feed'],
  now: () => number,
  report: (error: Error) => void,
): AnswerDocument {
  return (asked) => {
    if (asked.instead === 'ssh') return signed(asked).catch(failed);
    const ready = cache.hit(asked.query, asked.at);
    return (ready && answerFound(ready, asked)) ?? findAndAnswer(asked).catch(failed);
  };

  /** Retries once with the body if it was evicted meanwhile. */
  async function findAndAnswer(asked: DocumentRequest): Promise<DocumentAnswer | HttpFault> {
    for (let withBody = false; ; withBody = true) {
      const answer = await answerFound(await cache.find(asked.query, withBody), asked);
      if (answer !== undefined) return answer;
    }
  }

  async function signed(asked: DocumentRequest): Promise<DocumentAnswer | HttpFault> {
    for (;;) {
      const { found, named } = await cache.findNamed(asked.query, true);
      if (!isPermitted(found, asked)) return refused(found, asked);
      const sha256 = await cache.digest(found, 'sha256');
      if (sha256 !== undefined) return sign(found, named!, { ...asked, sha256 });
    }
  }

  /** undefined: the body was evicted and must be rebuilt. */
  function answerFound(found: Found, asked: DocumentRequest): Answered | undefined {
    if (!isPermitted(found, asked)) return refused(found, asked);
    const form = asked.instead === 'md5' ? 'md5' : negotiateCoding(asked.headers['accept-encoding']);
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
    const body = form === 'md5' ? cache.digest(found, 'md5') : cache.body(found, form);
    return body instanceof Promise ? body.then((bytes) => okAnswer(prepared, bytes)).catch(failed) : body && okAnswer(prepared, body);
  }

  function failed(error: Error): HttpFault {
    // The cache has reported it.
    if (!hasCode(error, 'FEED_UNAVAILABLE')) report(error);
    return { status: 500 };
  }
}

const isPermitted = (found: Found, { fault }: DocumentRequest): found is Representation => found.kind === 'document' && fault === undefined;

function refused(found: Found, asked: DocumentRequest): HttpFault {
  if (found.kind === 'forbidden') return otherFeed(asked.caller);
  return asked.fault ?? asked.refusalOf(redacted(found as Exclude<Found, Representation | { kind: 'forbidden' }>, asked.caller));
}

/** An instant with several contents proves nothing: only tags count then. */
function conditionalStatus(found: Representation, form: AnswerForm, headers: Conditions, now: () => number): 200 | 304 | 412 {
  const conditions = found.sharesInstant ? { ...headers, 'if-modified-since': undefined } : headers;
  return evaluate(conditions, { etag: found.etags[form], lastModified: lastModifiedOf(found) }, now);
}
