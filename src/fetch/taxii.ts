/** Fetches TAXII collections and MISP feeds like other tenant-set addresses (SPEC D23.30 to D23.34). */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { WeirError } from '../errors.ts';
import { pullMisp } from '../source/misp/pull.ts';
import { isRefused, type Refused, type TaxiiServer } from '../source/taxii/ask.ts';
import { type KnownCollection, knownFrom, linesOf } from '../source/taxii/known.ts';
import { listLines } from '../source/taxii/list.ts';
import { isCompleteDue, pulledOf, pullTaxii } from '../source/taxii/pull.ts';
import { type FetchRequest, fetchInto } from './fetch.ts';

/** File name suffix of a collection's state. */
export const KNOWN_END = '.taxii.gz';

export type TaxiiRequest = Omit<FetchRequest, 'known' | 'accept'>;

/** `request`: settings of its requests; `now`: ms since 1970. */
export const taxiiServer = (request: TaxiiRequest, now: () => number): TaxiiServer => ({
  url: request.url,
  limits: request.limits,
  pause: () => new Promise((resolve) => setImmediate(resolve)),
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
    // Without a previous state, 304 is invalid.
    return fetched.kind === 'unchanged' ? { status: 304, retryAfter: undefined } : fetched;
  },
});

/** A list in several responses; for TAXII, its collection. */
export interface CollectionForm {
  readonly form: 'taxii' | 'misp-feed';
  readonly collection: string | undefined;
}

/** The file is deleted on disposal. */
interface TaxiiFile extends AsyncDisposable {
  readonly kind: 'fetched';
  readonly file: string;
  readonly digest: string;
  readonly bytes: number;
  readonly validators: Record<never, never>;
  readonly endsWithLineFeed: true;
}

/**
 * Writes a collection as a list to a file. Its state is stored next to it; without that, everything is fetched. `keeps`: whether state is
 * read and stored.
 */
export async function taxiiFile(
  request: TaxiiRequest,
  { form, collection }: CollectionForm,
  { folder, now, keeps = true }: { readonly folder: string; readonly now: () => number; readonly keeps?: boolean },
): Promise<TaxiiFile | ({ readonly kind: 'refused' } & Refused)> {
  const of = pulledOf(request.url, collection);
  const server = taxiiServer(request, now);
  const key = createHash('sha256')
    .update(JSON.stringify([of, request.credentials ?? {}]))
    .digest('hex');
  const statePath = join(folder, `${key}${KNOWN_END}`);
  const known = keeps ? await readKnown(statePath, of, (completeAt) => form === 'taxii' && isCompleteDue(completeAt, now())) : undefined;
  const pulled = await (form === 'taxii' ? pullTaxii({ server, collection, known, now }) : pullMisp({ server, known, now }));
  if (isRefused(pulled)) return { kind: 'refused', ...pulled };
  const [file, next] = [join(folder, `${randomUUID()}.part`), join(folder, `${randomUUID()}.part`)];
  const remove = () => rm(file, { force: true });
  try {
    const { rows, passed } = pulled.list;
    const list = { rows, passed: { ...passed, ...(pulled.note !== undefined && { [pulled.note]: 1 }) } };
    await pipeline(Readable.from(listLines(list)), createWriteStream(file, { mode: 0o600 }));
    if (keeps) {
      await pipeline(Readable.from(linesOf(pulled.known)), createGzip({ level: 1 }), createWriteStream(next, { mode: 0o600 }));
      await rename(next, statePath);
    }
  } catch (error) {
    await Promise.all([remove(), rm(next, { force: true })]);
    throw error;
  }
  if (pulled.partial !== undefined) {
    await remove();
    throw new WeirError('FETCH', pulled.partial, { cause: pulled.refused });
  }
  const { digest, bytes } = pulled;
  return { kind: 'fetched', file, digest, bytes, validators: {}, endsWithLineFeed: true, [Symbol.asyncDispose]: remove };
}

/** undefined for a missing or damaged file. */
async function readKnown(path: string, of: string, isDue: (completeAt: number) => boolean): Promise<KnownCollection | undefined> {
  const file = createReadStream(path);
  const unpacked = createGunzip();
  file.on('error', (error) => unpacked.destroy(error));
  try {
    return await knownFrom(createInterface({ input: file.pipe(unpacked), crlfDelay: Number.POSITIVE_INFINITY }), of, isDue);
  } catch {
    return undefined;
  } finally {
    file.destroy();
    unpacked.destroy();
  }
}
