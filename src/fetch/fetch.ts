/** Streams a download: only if changed, within limits, from permitted addresses only. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { hasCode, WeirError } from '../errors.ts';
import { type Before, exchange } from './exchange.ts';
import type { Reach } from './reach.ts';
import type { Via } from './via.ts';

export interface FetchLimits {
  /** Maximum time without a byte, ms. */
  readonly idleMs: number;
  /** In total, ms. */
  readonly totalMs: number;
  /** Limit of both compressed and decompressed bytes. */
  readonly bytes: number;
}

/** For conditional requests. */
export interface Validators {
  readonly etag?: string;
  readonly lastModified?: string;
}

export interface FetchRequest {
  readonly url: string;
  /** `weir/VERSION (+URL)`: maintainers of lists ask for it. */
  readonly userAgent: string;
  /** Media type; default: any. */
  readonly accept?: string;
  /** Authentication headers: not sent to other origins. */
  readonly credentials?: Readonly<Record<string, string>>;
  /** Previous state; undefined = fetch in any case. */
  readonly known: Validators | undefined;
  readonly limits: FetchLimits;
  readonly reach: Reach;
  readonly ca?: string | readonly string[] | undefined;
  /** Undefined: Node's default, with environment proxies. */
  readonly via?: Via | undefined;
  readonly before?: Before | undefined;
  /** Ends the download. */
  readonly signal: AbortSignal;
}

export type Fetched =
  | {
      readonly kind: 'fetched';
      readonly validators: Validators;
      readonly contentType: string | undefined;
      readonly headers: IncomingHttpHeaders;
    }
  /** 304. */
  | { readonly kind: 'unchanged' }
  /** Any other status; `retryAfter` in ms. */
  | { readonly kind: 'refused'; readonly status: number; readonly retryAfter: number | undefined };

/** Receives decompressed bytes. Its rejection aborts the download. */
export type Write = (piece: Uint8Array) => Promise<unknown>;

/**
 * Passes the body to `write`. Rejects with FETCH and a sentence if the server does not answer, the body is truncated or above a limit, or
 * the address is not allowed; the written part is then useless. Rejects with LIMITED like `before`. `now`: ms since 1970.
 */
export async function fetchInto(request: FetchRequest, write: Write, now: () => number): Promise<Fetched> {
  const { url, limits, known, before } = request;
  using deadlines = startDeadlines(limits, request.signal);
  try {
    const response = await exchange({
      url: new URL(url),
      headers: {
        'user-agent': request.userAgent,
        'accept-encoding': 'gzip',
        accept: request.accept ?? '*/*',
        ...(known?.etag && { 'if-none-match': known.etag }),
        ...(known?.lastModified && { 'if-modified-since': known.lastModified }),
      },
      credentials: request.credentials ?? {},
      reach: request.reach,
      ca: request.ca,
      via: request.via,
      signal: deadlines.signal,
      before: before && ((...place) => deadlines.resting(before(...place))),
    });
    const status = response.statusCode!;
    if (status !== 200) {
      response.destroy();
      if (status === 304 && known !== undefined) return { kind: 'unchanged' };
      return { kind: 'refused', status, retryAfter: retryAfterOf(response.headers, now()) };
    }
    await readBody(response, limits.bytes, deadlines.heard, write);
    const { headers } = response;
    const { etag, 'last-modified': lastModified, 'content-type': contentType } = headers;
    const validators = { ...(etag && { etag }), ...(lastModified && { lastModified }) };
    return { kind: 'fetched', validators, contentType, headers };
  } catch (error) {
    if (hasCode(error, 'LIMITED')) throw error;
    const reason = deadlines.signal.aborted ? deadlines.signal.reason : error;
    throw new WeirError('FETCH', `${url}: ${reasonOf(reason)}`, { cause: reason });
  }
}

/** Decompresses if needed. */
async function readBody(response: IncomingMessage, most: number, heard: () => void, write: Write): Promise<void> {
  let wire = 0;
  let unpacked = 0;
  const tooLong = () => new WeirError('FETCH', `it is longer than ${most} bytes`);
  async function* received(): AsyncGenerator<Uint8Array> {
    for await (const piece of response as AsyncIterable<Uint8Array>) {
      heard();
      wire += piece.length;
      if (wire > most) throw tooLong();
      yield piece;
    }
  }
  for await (const piece of isPacked(response.headers) ? unpack(received()) : received()) {
    unpacked += piece.length;
    if (unpacked > most) throw tooLong();
    await write(piece);
  }
}

function isPacked({ 'content-encoding': written = 'identity' }: IncomingHttpHeaders): boolean {
  const coding = written.trim().toLowerCase();
  if (coding === 'identity') return false;
  if (coding === 'gzip' || coding === 'x-gzip') return true;
  throw new WeirError('FETCH', `its content has a coding that was not asked for: ${coding}`);
}

/** The reader gets the error; without a callback it would count as unhandled. */
const unpack = (packed: AsyncGenerator<Uint8Array>): Readable => pipeline(packed, createGunzip(), () => undefined);

/** `Retry-After` in ms: seconds, or the time until a date (RFC 9110 10.2.3); undefined if absent or invalid. */
export function retryAfterOf({ 'retry-after': text }: IncomingHttpHeaders, now: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** The `retryAfter` of a download after a timeout in the queue, s. */
const LATER = 10;

/** Aborts a download at its deadline, or when `stop` aborts. */
export function startDeadlines({ idleMs, totalMs }: Pick<FetchLimits, 'idleMs' | 'totalMs'>, stop: AbortSignal) {
  const controller = new AbortController();
  const end = (text: string) => controller.abort(new WeirError('FETCH', text));
  const total = setTimeout(end, totalMs, `it takes longer than ${totalMs / 1000} s`);
  const waitForByte = () => setTimeout(end, idleMs, `no data for ${idleMs / 1000} s`);
  let idle = waitForByte();
  const signal = AbortSignal.any([controller.signal, stop]);
  return {
    signal,
    /** Waits in the queue without counting idle time. Rejects with LIMITED at the total deadline. */
    async resting(wait: Promise<void>): Promise<void> {
      clearTimeout(idle);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const end = () => reject(new WeirError('LIMITED', 'its turn has not come', { cause: { retryAfter: LATER } }));
      signal.addEventListener('abort', end, { once: true });
      wait.then(resolve, reject);
      try {
        await promise;
      } finally {
        signal.removeEventListener('abort', end);
        idle = waitForByte();
      }
    },
    heard: () => void idle.refresh(),
    [Symbol.dispose]() {
      clearTimeout(total);
      clearTimeout(idle);
    },
  };
}

export function reasonOf(error: unknown): string {
  const { cause, message, code } = error as Error & { readonly code?: string };
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  if (code === 'ECONNRESET' && message === 'aborted') return 'it was cut short';
  return cause === undefined || error instanceof WeirError ? message || code || String(error) : reasonOf(cause);
}
