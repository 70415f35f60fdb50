/** SPEC D45.3. */
import { plural } from '../../text/count.ts';

const MEANINGS: Readonly<Record<number, string>> = {
  401: 'its key is not valid',
  402: 'the subscription is not active',
  403: 'its key may not read this feed',
  404: 'no feed has this name',
  413: 'not published, over its cap',
  429: 'it polls too often',
};

/** `413 (not published, over its cap) since 2026-11-22T09:59:31.000Z, 83 times`. */
export const refusalText = ({ status, since, count }: { readonly status: number; readonly since: string | null; readonly count: number }) =>
  `${status}${MEANINGS[status] === undefined ? '' : ` (${MEANINGS[status]})`} since ${since}, ${plural(count, 'time')}`;
