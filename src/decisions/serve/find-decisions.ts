/** The document cache provides the current content, the feed thread renders the body. */
import { DECISIONS } from '../../feed/document.ts';
import type { DocumentCache, Found } from '../../feed/serve/cache.ts';
import type { Representation } from '../../feed/serve/representation.ts';
import { type DecisionAnswer, type DecisionRequest, markOf } from '../decisions.ts';
import { type BUSY, DecisionAnswers, type SharedAnswer } from './shared-answers.ts';

/** Why a feed has no decisions. */
export type NoDecisions = Exclude<Found, Representation>;

/** A response body, or why there is none. Rejects like the document cache's `find`. */
export type FindDecisions = (request: DecisionRequest, keyId?: string) => Promise<SharedAnswer | typeof BUSY | NoDecisions>;

/** `make` renders a body on the feed thread from the last build; undefined: none. `monotonic` in ms. */
export function findDecisions(
  documents: Pick<DocumentCache, 'hit' | 'find' | 'forget'>,
  make: (request: DecisionRequest) => Promise<DecisionAnswer | undefined>,
  monotonic: () => number,
): FindDecisions {
  const answers = new DecisionAnswers(make, monotonic);
  return async (request, keyId) => {
    const { workspaceId, feedId } = request;
    const query = { workspaceId, list: feedId, variant: DECISIONS, boundTo: feedId, keyId };
    for (;;) {
      const found = documents.hit(query) ?? (await documents.find(query));
      if (found.kind !== 'document') return found;
      const answer = await answers.find(normalized({ ...request, feedId: found.contentId }, found.hash), found.hash);
      if (answer !== undefined) return answer;
      // The feed thread was restarted and has lost its builds.
      documents.forget(workspaceId, DECISIONS.document, found.contentId);
    }
  };
}

/** Clients with versions of other logs share one answer: everything. */
const normalized = (request: DecisionRequest, hash: string): DecisionRequest =>
  'since' in request.ask && request.ask.since !== null && request.ask.since.builder !== markOf(hash).builder
    ? { ...request, ask: { since: null } }
    : request;
