/** What is answered when there is no feed to send (spec 7.3). */
import type { Caller } from '../../account/caller.ts';
import type { Found } from '../../feed/serve/cache.ts';
import type { Representation } from '../../feed/serve/representation.ts';
import { sharesText } from '../../feed/shares.ts';
import { MOST_DETAILS } from '../../signal/faults.ts';
import type { HttpFault } from '../errors.ts';
import { GROUPS } from '../groups.ts';
import { entryHeaders } from './headers.ts';

/** The fault of a key that is bound to another list or feed. */
export const otherFeed = ({ listId }: Pick<Caller, 'listId'>): HttpFault => ({
  status: 403,
  message: listId === null ? 'The API key is bound to one feed' : 'The API key is bound to one access-rules list',
});
export const MALFORMED_LIST: HttpFault = { status: 400, message: 'The list is not valid percent-encoding' };
const TOO_LARGE = 'The feed exceeds the maximum number of entries';
export const PRECONDITION_FAILED: HttpFault = { status: 412, message: 'A precondition of the request is not met' };

type NoFeed = Exclude<Found, Representation | { kind: 'forbidden' }>;

/** One row for each reason. */
const REFUSALS: { readonly [K in NoFeed['kind']]: (found: Extract<NoFeed, { kind: K }>) => HttpFault } = {
  unknown_list: () => ({ status: 404, message: 'No such access-rules list' }),
  ambiguous: ({ lists }) => ({
    status: 409,
    message: 'The name matches more than one access-rules list; use the UUID of one of them',
    details: { lists: lists.slice(0, MOST_DETAILS) },
  }),
  no_workspace: () => ({ status: 401, headers: { 'www-authenticate': GROUPS.feed.challenges } }),
  too_large: (found) => ({
    status: 413,
    message: TOO_LARGE,
    of: found.of,
    details: { entries: found.facts.entryCount, limit: found.facts.entryLimit, hint: hintOf(found) },
    headers: Object.fromEntries(entryHeaders(found.facts, found.staleSince)),
  }),
};

/** What to do about a feed that is over its cap, and where its entries come from (SPEC D10.21). */
export const hintOf = ({ hint, shares }: Extract<NoFeed, { kind: 'too_large' }>): string =>
  shares === undefined ? hint : `${hint} ${sharesText(shares)}`;

/** The fault that says why there is no feed. */
export const refusalOf = (found: NoFeed): HttpFault => REFUSALS[found.kind](found as never);

/** What a caller may be told: a key that is bound to a list or feed does not learn what other lists and keys are called. */
export const tellable = <F extends Exclude<Found, Representation>>(found: F, { listId, feedId }: Pick<Caller, 'listId' | 'feedId'>): F =>
  found.kind === 'too_large' && (listId ?? feedId) !== null ? { ...found, shares: undefined } : found;

/** The same of a document that is no feed. */
export function documentRefusalOf(found: NoFeed): HttpFault {
  const fault = refusalOf(found);
  if (found.kind === 'too_large') return { ...fault, message: 'The document exceeds the maximum number of entries' };
  return found.kind === 'no_workspace' ? { ...fault, headers: { 'www-authenticate': GROUPS.rules.challenges } } : fault;
}
