/** Finds the bodies for bouncers: which content their feed has now is the documents' matter, what a body is made from the feed thread's. */
import { DECISIONS } from '../../feed/document.ts';
import type { DocumentCache, Found } from '../../feed/serve/cache.ts';
import type { Representation } from '../../feed/serve/representation.ts';
import type { DecisionAnswer, DecisionRequest } from '../decisions.ts';
import { type BUSY, DecisionAnswers, type SharedAnswer } from './shared-answers.ts';

/** Why there are no decisions of a feed. */
export type NoDecisions = Exclude<Found, Representation>;

/** A body for a bouncer, or why there is none. Rejects as the documents' `find` does. */
export type FindDecisions = (request: DecisionRequest) => Promise<SharedAnswer | typeof BUSY | NoDecisions>;

/** `make` makes a body on the feed thread, of what was built last of the feed; undefined where nothing was. `monotonic` in ms. */
export function findDecisions(
  documents: Pick<DocumentCache, 'hit' | 'find' | 'forget'>,
  make: (request: DecisionRequest) => Promise<DecisionAnswer | undefined>,
  monotonic: () => number,
): FindDecisions {
  const answers = new DecisionAnswers(make, monotonic);
  return async (request) => {
    const { workspaceId, feedId } = request;
    const query = { workspaceId, list: feedId, variant: DECISIONS, boundTo: feedId };
    for (;;) {
      const found = documents.hit(query) ?? (await documents.find(query));
      if (found.kind !== 'document') return found;
      const answer = await answers.find(request, found.hash);
      if (answer !== undefined) return answer;
      // The feed thread was started anew: what was built before is gone.
      documents.forget(workspaceId, DECISIONS.document, feedId);
    }
  };
}
