/** One download of an address of the catalogue serves all who ask for it within the interval of its host, trials too (SPEC D43.8). */
import { existsSync } from 'node:fs';
import { hasCode } from '../../errors.ts';
import type { FetchedContent, SourceAnswer, SourceFetch, SourceRequest } from '../../fetch/content-file.ts';
import type { Validators } from '../../fetch/fetch.ts';
import { CATALOGUE } from '../../source/catalogue.ts';

export interface KeptDownloads {
  readonly fetch: SourceFetch;
  /** Whether an answer of an address is kept for others. */
  keeps(request: Pick<SourceRequest, 'url' | 'credentials' | 'taxii'>): boolean;
  /** Whether an address is answered without its server. */
  has(request: Pick<SourceRequest, 'url' | 'credentials' | 'taxii'>): boolean;
}

interface Kept {
  readonly content: FetchedContent;
  /** Until when it is as good as another one, of the monotonic clock, ms. */
  until: number;
  readers: number;
}

/** The addresses of the catalogue, of which so many files are kept at most. */
const ADDRESSES: ReadonlySet<string> = new Set(CATALOGUE.map(({ url }) => url));

const isSame = (a: Validators, b: Validators | undefined) => a.etag === b?.etag && a.lastModified === b?.lastModified;

/** `least`: the interval of a host, ms. */
export function keptDownloads(fetch: SourceFetch, least: (url: URL) => number, monotonic: () => number): KeptDownloads {
  const kept = new Map<string, Kept>();
  const isShared = ({ url, credentials, taxii }: Parameters<KeptDownloads['has']>[0]) =>
    ADDRESSES.has(url) && taxii === undefined && Object.keys(credentials).length === 0;
  /** What is as good as another download. */
  const good = (url: string): Kept | undefined => {
    const one = kept.get(url);
    return one !== undefined && one.until > monotonic() && existsSync(one.content.file) ? one : undefined;
  };
  /** What is old goes when its last reader does. */
  const drop = async (url: string, one: Kept) => {
    if (one.readers === 0 && kept.get(url) !== one) await one.content[Symbol.asyncDispose]();
  };
  const borrowed = (url: string, one: Kept): FetchedContent => {
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
    keeps: isShared,
    has: (request) => isShared(request) && good(request.url) !== undefined,
    async fetch(request) {
      if (!isShared(request)) return await fetch(request);
      const { url } = request;
      const there = good(url);
      if (there !== undefined) return borrowed(url, there);
      const before = kept.get(url);
      const at = monotonic();
      let answer: SourceAnswer;
      try {
        answer = await fetch(request);
      } catch (error) {
        // Somebody else may have fetched it while this one waited for its turn.
        const other = hasCode(error, 'LIMITED') ? good(url) : undefined;
        if (other === undefined) throw error;
        return borrowed(url, other);
      }
      const until = at + least(new URL(url));
      if (answer.kind === 'unchanged' && before !== undefined && isSame(before.content.validators, request.known)) before.until = until;
      if (answer.kind !== 'fetched') return answer;
      const one = { content: answer, until, readers: 0 };
      kept.set(url, one);
      if (before !== undefined) await drop(url, before);
      return borrowed(url, one);
    },
  };
}
