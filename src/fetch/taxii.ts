/** Answers of a TAXII server, fetched as everything is that others name. */
import type { TaxiiServer } from '../source/taxii/ask.ts';
import { type FetchRequest, fetchInto } from './fetch.ts';

/** The server behind an address. `request` is how its answers are fetched; `now`: ms since 1970. */
export const taxiiServer = (request: Omit<FetchRequest, 'known' | 'accept'>, now: () => number): TaxiiServer => ({
  url: request.url,
  limits: request.limits,
  async fetch(url, { accept, isOwn, limits }, write) {
    const { credentials, ...rest } = request;
    const fetched = await fetchInto(
      {
        ...rest,
        ...(isOwn && credentials !== undefined && { credentials }),
        url: url.href,
        accept,
        known: undefined,
        limits: { ...request.limits, ...limits },
      },
      write,
      now,
    );
    // Nothing was known, so that `unchanged` is no answer.
    return fetched.kind === 'unchanged' ? { status: 304, retryAfter: undefined } : fetched;
  },
});
