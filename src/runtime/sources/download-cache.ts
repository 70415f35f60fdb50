/** Within the interval of their host (SPEC D43.8). */
import { existsSync } from 'node:fs';
import { hasCode } from '../../errors.ts';
import type { FetchedContent, SourceAnswer, SourceFetch, SourceRequest } from '../../fetch/content-file.ts';
import type { Validators } from '../../fetch/fetch.ts';
import { CATALOGUE } from '../../source/catalogue.ts';

type Address = Pick<SourceRequest, 'url' | 'credentials' | 'taxii'>;

export interface DownloadCache {
  readonly fetch: SourceFetch;
  caches(address: Address): boolean;
  has(address: Address): boolean;
}

interface Cached {
  readonly content: FetchedContent;
  /** Expiry, monotonic ms. */
  until: number;
  readers: number;
}

/** One file each. */
const ADDRESSES: ReadonlySet<string> = new Set(CATALOGUE.map(({ url }) => url));

const isSame = (a: Validators, b: Validators | undefined) => a.etag === b?.etag && a.lastModified === b?.lastModified;

/** `least`: interval of a host, ms. */
export function downloadCache(fetch: SourceFetch, least: (url: URL) => number, monotonic: () => number): DownloadCache {
  const cached = new Map<string, Cached>();
  const caches = ({ url, credentials, taxii }: Address) =>
    ADDRESSES.has(url) && taxii === undefined && Object.keys(credentials).length === 0;
  const fresh = (url: string): Cached | undefined => {
    const one = cached.get(url);
    return one !== undefined && one.until > monotonic() && existsSync(one.content.file) ? one : undefined;
  };
  /** After its last reader. */
  const drop = async (url: string, one: Cached) => {
    if (one.readers === 0 && cached.get(url) !== one) await one.content[Symbol.asyncDispose]();
  };
  const shared = (url: string, one: Cached): FetchedContent => {
    one.readers += 1;
    return {
      ...one.content,
      async [Symbol.asyncDispose]() {
        one.readers -= 1;
        await drop(url, one);
      },
    };
  };
  return {
    caches,
    has: (address) => caches(address) && fresh(address.url) !== undefined,
    async fetch(request) {
      if (!caches(request)) return await fetch(request);
      const { url } = request;
      const found = fresh(url);
      if (found !== undefined) return shared(url, found);
      const before = cached.get(url);
      const at = monotonic();
      let answer: SourceAnswer;
      try {
        answer = await fetch(request);
      } catch (error) {
        // Another download may have ended during the wait.
        const other = hasCode(error, 'LIMITED') ? fresh(url) : undefined;
        if (other === undefined) throw error;
        return shared(url, other);
      }
      const until = at + least(new URL(url));
      if (answer.kind === 'unchanged' && before !== undefined && isSame(before.content.validators, request.known)) before.until = until;
      if (answer.kind !== 'fetched') return answer;
      const one = { content: answer, until, readers: 0 };
      cached.set(url, one);
      if (before !== undefined) await drop(url, before);
      return shared(url, one);
    },
  };
}
