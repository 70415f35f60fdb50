/** Downloads a source into a file (SPEC D23.10): complete, not a web page, from permitted addresses only. */

import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import about from '../../package.json' with { type: 'json' };
import { WeirError } from '../errors.ts';
import type { Signed } from '../source/signed-feed.ts';
import type { Before } from './exchange.ts';
import { type FetchLimits, fetchInto, type Validators } from './fetch.ts';
import type { Reach } from './reach.ts';
import { signedContent } from './signed.ts';
import { type CollectionForm, KNOWN_END, taxiiFile } from './taxii.ts';
import type { Via } from './via.ts';

/** Operator settings of downloads with addresses set by tenants. */
export interface SourceFetching {
  readonly folder: string;
  /** Addresses currently allowed: this machine's own addresses can change. */
  readonly reach: () => Reach;
  readonly via: Via;
  /** CA certificates, PEM, instead of the system's. */
  readonly ca?: readonly string[] | undefined;
  /** Contact for server operators, in the User-Agent. */
  readonly contact?: string | undefined;
  readonly limits: FetchLimits;
  readonly now: () => number;
}

export interface SourceRequest {
  readonly url: string;
  /** Authentication headers. */
  readonly credentials: Readonly<Record<string, string>>;
  readonly known: Validators | undefined;
  /** A list fetched in several responses. */
  readonly taxii?: CollectionForm | undefined;
  /** Only a feed that one of these has signed. */
  readonly signed?: Signed | undefined;
  readonly before?: Before | undefined;
  readonly signal: AbortSignal;
}

/** The file is deleted on disposal. */
export interface FetchedContent extends AsyncDisposable {
  readonly kind: 'fetched';
  readonly file: string;
  /** SHA-256, hexadecimal. */
  readonly digest: string;
  /** Decompressed. */
  readonly bytes: number;
  readonly validators: Validators;
  readonly endsWithLineFeed: boolean;
  /** Date of a signed content, s since 1970. */
  readonly signedAt?: number | undefined;
}

export type SourceAnswer =
  | FetchedContent
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly status: number; readonly retryAfter: number | undefined };

/** Rejects with FETCH and a sentence after an incomplete download, and with LIMITED like `before`. */
export type SourceFetch = (request: SourceRequest) => Promise<SourceAnswer>;

/** Lifetime of a collection's state after its last fetch, ms. */
const KNOWN_FOR = 30 * 86_400_000;

/** Deletes files left by a previous process, except the state of collections. */
export function emptyFolder(folder: string, now: number): void {
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const path = join(folder, name);
    if (!name.endsWith(KNOWN_END) || statSync(path).mtimeMs < now - KNOWN_FOR) rmSync(path, { recursive: true, force: true });
  }
}

const LF = 0x0a;
/** Prefix searched for signs of a web page, bytes. */
const HEAD = 1024;

export function sourceFetch({ folder, reach, via, ca, contact, limits, now }: SourceFetching): SourceFetch {
  const userAgent = `weir/${about.version}${contact === undefined ? '' : ` (+${contact})`}`;
  return async (asked) => {
    const { signed, url, credentials, before, signal } = asked;
    if (signed === undefined) return await download(asked);
    const request = { url, credentials, before, signal, userAgent, reach: reach(), via, ca, limits };
    return await signedContent(request, signed, () => download({ ...asked, known: undefined }), now);
  };

  async function download({ url, credentials, known, taxii, before, signal }: SourceRequest): Promise<SourceAnswer> {
    const path = join(folder, `${randomUUID()}.part`);
    const request = { url, credentials, before, signal, userAgent, reach: reach(), via, ca, limits };
    const hash = createHash('sha256');
    let [bytes, last, head] = [0, LF, Buffer.alloc(0)];
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if (taxii !== undefined) return await taxiiFile(request, taxii, { folder, now });
    const file = await open(path, 'wx', 0o600);
    const remove = () => rm(path, { force: true });
    try {
      const answer = await fetchInto({ ...request, known }, write, now);
      if (answer.kind !== 'fetched') {
        await remove();
        return answer;
      }
      if (
        head
          .toString('latin1')
          .replace(/^\xEF\xBB\xBF/, '')
          .trimStart()
          .startsWith('<')
      )
        throw new WeirError('FETCH', `${url}: it is a web page or XML, not a list`);
      const { validators } = answer;
      return {
        kind: 'fetched',
        file: path,
        digest: hash.digest('hex'),
        bytes,
        validators,
        endsWithLineFeed: last === LF,
        [Symbol.asyncDispose]: remove,
      };
    } catch (error) {
      await remove();
      throw error;
    } finally {
      await file.close();
    }

    async function write(piece: Uint8Array): Promise<void> {
      hash.update(piece);
      bytes += piece.length;
      last = piece.at(-1) ?? last;
      if (head.length < HEAD) head = Buffer.concat([head, piece.subarray(0, HEAD - head.length)]);
      await file.writeFile(piece);
    }
  }
}

/** Addresses of this machine; they may change at runtime. */
export const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((each = []) => each.map(({ address }) => address.replace(/%.*$/, '')));

const PIECE = 16 * 1024;

/** In small chunks; other work runs in between. */
export const readPieces = (file: string): AsyncIterable<Buffer> => createReadStream(file, { highWaterMark: PIECE });
