/** Hands a text to an address that others name: one POST over a judged connection, its answer read as far as anybody needs it. */
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
  /** In all, ms. */
  readonly limit: number;
  readonly signal: AbortSignal;
  /** ms since 1970. */
  readonly now: () => number;
}

/** What the server said. */
export interface Posted {
  readonly status: number;
  /** How long it wants to be left alone, ms. */
  readonly retryAfter: number | undefined;
  /** The beginning of an answer that is not 2xx, in one line. */
  readonly text: string;
}

/** Bytes of an answer that are read at most, and characters of it that are told. */
const MOST = 65_536;
const TOLD = 200;

/** Rejects with FETCH and a sentence where the server does not answer in time, or may not be reached. What it sends us elsewhere with is its answer. */
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

/** The beginning of an answer, as far as it comes: its status was said before it. */
async function beginningOf(response: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of response) {
      pieces.push(piece.subarray(0, MOST - bytes));
      bytes += piece.length;
      if (bytes >= MOST) break;
    }
  } catch {
    // It was cut, or its time is over.
  }
  return lineOf(Buffer.concat(pieces));
}

const lineOf = (bytes: Buffer): string =>
  isUtf8(bytes)
    ? bytes
        .toString('utf8')
        .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
        .trim()
        .slice(0, TOLD)
    : '';
