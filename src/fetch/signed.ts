import { WeirError } from '../errors.ts';
import { readStatement, type Signed, statementUrl } from '../source/signed-feed.ts';
import { type FetchRequest, fetchInto } from './fetch.ts';

/** Bytes of a statement with its signature. */
const MOST = 16 * 1024;
/** Downloads while the feed changes between content and signature. */
const TRIES = 3;

type Downloaded = ({ readonly kind: 'fetched'; readonly digest: string } & AsyncDisposable) | { readonly kind: 'unchanged' | 'refused' };

/** The content that `download` fetches, if one of its signers has signed it. Rejects with FETCH and LIMITED. */
export async function signedContent<T extends Downloaded>(
  request: Omit<FetchRequest, 'known'>,
  signed: Signed,
  download: () => Promise<T>,
  now: () => number,
): Promise<T & { readonly signedAt?: number }> {
  const { url, limits } = request;
  for (let left = TRIES; left > 0; left -= 1) {
    const content = await download();
    if (content.kind !== 'fetched') return content;
    try {
      const pieces: Uint8Array[] = [];
      const of = { ...request, url: statementUrl(url), known: undefined, limits: { ...limits, bytes: MOST } };
      const answer = await fetchInto(of, async (piece) => pieces.push(piece), now);
      if (answer.kind !== 'fetched') {
        const status = answer.kind === 'refused' ? answer.status : 304;
        throw new WeirError('FETCH', `${url}: the server answers ${status} instead of its signature`, { cause: answer });
      }
      const { sha256, modified } = readStatement(Buffer.concat(pieces).toString(), url, signed, now());
      if (sha256 === content.digest) return { ...content, signedAt: modified };
    } catch (error) {
      await content[Symbol.asyncDispose]();
      throw error;
    }
    await content[Symbol.asyncDispose]();
  }
  throw new WeirError('FETCH', `${url}: its content is not the signed one`);
}
