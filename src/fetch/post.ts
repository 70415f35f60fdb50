/** POSTs a text to an address set by a tenant, over a checked connection, and reads the beginning of the response. */
import { isUtf8 } from 'node:buffer';
import about from '../../package.json' with { type: 'json' };
import { WeirError } from '../errors.ts';
import { exchange } from './exchange.ts';
import { reasonOf, retryAfterOf, startDeadlines } from './fetch.ts';
import type { Reach } from './reach.ts';
import type { Via } from './via.ts';

export interface Post {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly reach: Reach;
  readonly via: Via;
  readonly ca?: readonly string[] | undefined;
  /** In total, ms. */
  readonly limit: number;
  readonly signal: AbortSignal;
  /** ms since 1970. */
  readonly now: () => number;
}

export interface Posted {
  readonly status: number;
  /** In ms. */
  readonly retryAfter: number | undefined;
  /** Beginning of a response other than 2xx, in one line. */
  readonly text: string;
}

/** Maximum bytes read of a response, and characters reported. */
const MAX_BYTES = 65_536;
const MAX_TEXT = 200;

/** Rejects with FETCH and a sentence on timeout or if the address is not allowed. Redirects are returned, not followed. */
export async function post({ url, body, headers, reach, via, ca, limit, signal, now }: Post): Promise<Posted> {
  using deadlines = startDeadlines({ idleMs: limit, totalMs: limit }, signal);
  try {
    const response = await exchange({
      url: new URL(url),
      headers: {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
        'user-agent': `weir/${about.version}`,
        ...headers,
      },
      credentials: {},
      reach,
      ca,
      via,
      signal: deadlines.signal,
      body,
    });
    const status = response.statusCode!;
    const text = status >= 200 && status < 300 ? '' : await beginningOf(response);
    response.destroy();
    return { status, retryAfter: retryAfterOf(response.headers, now()), text };
  } catch (error) {
    const reason = deadlines.signal.aborted ? deadlines.signal.reason : error;
    throw new WeirError('FETCH', reasonOf(reason), { cause: reason });
  }
}

/** Ignores errors: the status has arrived before. */
async function beginningOf(response: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of response) {
      pieces.push(piece.subarray(0, MAX_BYTES - bytes));
      bytes += piece.length;
      if (bytes >= MAX_BYTES) break;
    }
  } catch {
    // Incomplete, or timed out.
  }
  return lineOf(Buffer.concat(pieces));
}

const lineOf = (bytes: Buffer): string =>
  isUtf8(bytes)
    ? bytes
        .toString('utf8')
        .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
        .trim()
        .slice(0, MAX_TEXT)
    : '';
