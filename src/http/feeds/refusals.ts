/** spec 7.3. */
import type { Caller } from '../../account/caller.ts';
import type { Found } from '../../feed/serve/cache.ts';
import type { Representation } from '../../feed/serve/representation.ts';
import { sharesText } from '../../feed/shares.ts';
import { MOST_DETAILS } from '../../signal/faults.ts';
import type { HttpFault } from '../errors.ts';
import { GROUPS } from '../groups.ts';
import { entryHeaders } from './headers.ts';

export const otherFeed = ({ listId }: Pick<Caller, 'listId'>): HttpFault => ({
  status: 403,
  message: listId === null ? 'The API key is bound to one feed' : 'The API key is bound to one access-rules list',
});
export const MALFORMED_LIST: HttpFault = { status: 400, message: 'The list is not valid percent-encoding' };
const TOO_LARGE = 'The feed exceeds the maximum number of entries';
export const PRECONDITION_FAILED: HttpFault = { status: 412, message: 'A precondition of the request is not met' };

type NoFeed = Exclude<Found, Representation | { kind: 'forbidden' }>;

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

/** How to reduce a feed over its cap, and which lists its entries come from (SPEC D10.21). */
export const hintOf = ({ hint, shares }: Extract<NoFeed, { kind: 'too_large' }>): string =>
  shares === undefined ? hint : `${hint} ${sharesText(shares)}`;

export const refusalOf = (found: NoFeed): HttpFault => REFUSALS[found.kind](found as never);

/** A bound key must not learn the names of other lists and keys. */
export const redacted = <F extends Exclude<Found, Representation>>(found: F, { listId, feedId }: Pick<Caller, 'listId' | 'feedId'>): F =>
  found.kind === 'too_large' && (listId ?? feedId) !== null ? { ...found, shares: undefined } : found;

export function documentRefusalOf(found: NoFeed): HttpFault {
  const fault = refusalOf(found);
  if (found.kind === 'too_large') return { ...fault, message: 'The document exceeds the maximum number of entries' };
  return found.kind === 'no_workspace' ? { ...fault, headers: { 'www-authenticate': GROUPS.rules.challenges } } : fault;
}
