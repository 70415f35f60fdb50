/** What providers answer: within limits of time and size, and what is wrong with it in a word. */
import type { SignInFailure } from '../ports/identity-provider.ts';

/** How long one answer of a provider may take, ms, and how long it may be, bytes. */
export const ANSWER_TIME = 5000;
const ANSWER_BYTES = 1024 * 1024;

/**
 * `fetch` for providers: follows no redirect, and reads no more than an answer may have. The addresses are the operator's, or come from what
 * is at his: private networks are allowed.
 */
export async function fetchAnswer(url: string | URL, init: RequestInit = {}): Promise<Response> {
  const limit = AbortSignal.timeout(ANSWER_TIME);
  const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit;
  const response = await fetch(url, { ...init, signal, redirect: 'manual' });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    // Leaving the loop gives the connection up.
    if (bytes > ANSWER_BYTES) throw new Error(`${new URL(url).pathname} has answered more than ${ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  const { status, statusText, headers } = response;
  const isEmpty = [101, 204, 205, 304].includes(status);
  return new Response(isEmpty ? null : Buffer.concat(chunks), { status, statusText, headers });
}

/** What the server that authorizes says when it has trouble of its own. */
const TROUBLE = ['temporarily_unavailable', 'server_error'];

/** An error of the library, as far as it says more than its message. */
interface LibraryError extends Error {
  readonly code?: string;
  /** What the provider has called the error, at the token endpoint or in the browser's address. */
  readonly error?: string;
  readonly status?: number;
}

/** Why a provider's answer is none that signs anybody in. */
export function failureOf(thrown: unknown): SignInFailure {
  const { code, error, status, message, cause } = thrown as LibraryError;
  const answered = cause instanceof Response ? cause.status : status;
  const why = [message, error, cause instanceof Error ? cause.message : undefined]
    .filter(Boolean)
    .join(': ')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .slice(0, 300);
  if (code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR') return { failed: TROUBLE.includes(error ?? '') ? 'away' : 'denied', why };
  const isAway = answered === undefined ? isUnreached(thrown) : answered >= 500 || answered === 429;
  return { failed: isAway ? 'away' : 'refused', why };
}

/** Whether a request has failed before there was an answer. */
function isUnreached(thrown: unknown): boolean {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if (error.name === 'TimeoutError' || error.name === 'AbortError' || /fetch failed|has answered more than/.test(error.message))
      return true;
    if ((error as LibraryError).code?.startsWith('UND_ERR') || (error as LibraryError).code?.startsWith('ECONN')) return true;
  }
  return false;
}
