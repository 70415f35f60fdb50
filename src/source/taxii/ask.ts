import { WeirError } from '../../errors.ts';

/** Parsing blocks the thread, hence a maximum of bytes. */
export interface Answers {
  readonly accept: string;
  readonly most: number;
  readonly name: string;
}
const TAXII_ANSWERS: Answers = { accept: 'application/taxii+json;version=2.1', most: 2 * 1024 * 1024, name: 'TAXII 2.1' };
export const MISP_ANSWERS: Answers = { accept: 'application/json', most: 8 * 1024 * 1024, name: 'a feed of MISP' };

export interface AskLimits {
  readonly totalMs: number;
  readonly bytes: number;
}

/** HTTP access to a server (`fetch/taxii.ts`); limits apply to all responses together. */
export interface TaxiiServer {
  readonly url: string;
  readonly limits: AskLimits;
  pause(): Promise<void>;
  /** Like `fetchInto`; sends credentials only if `isOwn`. */
  fetch(
    url: URL,
    asked: { readonly accept: string; readonly isOwn: boolean; readonly limits: AskLimits },
    write: (piece: Uint8Array) => Promise<unknown>,
  ): Promise<{ readonly headers: Readonly<Record<string, string | readonly string[] | undefined>> } | Refused>;
}

export interface TaxiiAnswer {
  readonly json: unknown;
  /** When the last object was added, in the server's text: a Date would lose microseconds. */
  readonly addedLast: string | undefined;
}

export interface Refused {
  readonly status: number;
  readonly retryAfter: number | undefined;
}

export const isRefused = (answer: object): answer is Refused => 'status' in answer;

export type Ask = (url: URL) => Promise<TaxiiAnswer | Refused>;

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;

/** Within the remaining limits. Rejects with FETCH for invalid JSON. Credentials go only to the configured origin. `now`: ms since 1970. */
export function asker(
  { url: named, limits, fetch }: TaxiiServer,
  now: () => number,
  { accept, most, name }: Answers = TAXII_ANSWERS,
): { readonly ask: Ask; bytes(): number } {
  const { origin } = new URL(named);
  const ends = now() + limits.totalMs;
  let bytes = 0;
  return {
    bytes: () => bytes,
    async ask(url) {
      const pieces: Uint8Array[] = [];
      const left = { totalMs: Math.max(1, ends - now()), bytes: Math.min(most, limits.bytes - bytes) };
      const asked = { accept, isOwn: url.origin === origin, limits: left };
      const answer = await fetch(url, asked, async (piece) => void pieces.push(piece));
      if (isRefused(answer)) return { status: answer.status, retryAfter: answer.retryAfter };
      const body = Buffer.concat(pieces);
      bytes += body.length;
      const added = answer.headers['x-taxii-date-added-last'];
      return { json: parsed(body, url, name), addedLast: typeof added === 'string' && INSTANT.test(added) ? added : undefined };
    },
  };
}

function parsed(bytes: Buffer, url: URL, name: string): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new WeirError('FETCH', `${url.origin}${url.pathname}: the answer is no JSON, as ${name} is`);
  }
}
